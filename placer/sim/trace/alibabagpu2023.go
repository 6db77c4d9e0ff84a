package trace

import (
	"io/fs"
	"math"
	"strings"
	"time"
)

var alibabaGPU2023 = Descriptor{
	Name:    "alibaba-gpu-2023",
	Summary: "Alibaba GPU cluster 2023 (openb): pods with QoS classes and shared devices; nodes",
	Source:  "Alibaba clusterdata, cluster-trace-gpu-v2023: openb_pod_list_*.csv, openb_node_list_*.csv (Weng and others 2023)",
	Order:   "sorted in memory by creation time: about 250 bytes per pod, 8,152 pods in the whole list",
	Detect:  func(first string) Role { return role(first, alibabaGPU2023Roles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibabaGPU2023Roles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Jobs, "alibaba-gpu-2023", openbPods.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, openbPods, o, false, func(Options) parseJob { return parseOpenbPod })
	},
	OpenNodes: func(folder fs.FS, o Options) (NodeReader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibabaGPU2023Roles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Machines, "alibaba-gpu-2023", openbNodes.expected())
		if err != nil {
			return nil, err
		}
		return openNodes(folder, []string{file}, openbNodes, o, func(Options) parseNode { return parseOpenbNode })
	},
}

var alibabaGPU2023Roles = []tableRole{{openbPods, Jobs}, {openbNodes, Machines}}

// Columns of openbPods.
const (
	openbName = iota
	openbCPU
	openbMemory
	openbGPUs
	openbGPUShare
	openbGPUModels
	openbQoS
	openbCreated
	openbDeleted
	openbScheduled
)

var openbPods = &layout{
	separator: ',',
	columns: []column{
		{[]string{"name"}, true},
		{[]string{"cpu_milli"}, true},
		{[]string{"memory_mib"}, true},
		{[]string{"num_gpu"}, true},
		{[]string{"gpu_milli"}, true},
		{[]string{"gpu_spec"}, false},
		{[]string{"qos"}, true},
		{[]string{"creation_time"}, true},
		{[]string{"deletion_time"}, true},
		{[]string{"scheduled_time"}, false},
	},
}

// openbEnd is the last instant of the trace: what is deleted then is still
// running.
const openbEnd = 12902960 * time.Second

// parseOpenbPod reads a pod. It runs from its scheduling to its deletion; one
// that was never scheduled has no duration.
func parseOpenbPod(r *rows, j *Job) (string, error) {
	created, err := r.moment(openbCreated, time.Second)
	if err != nil {
		return "", err
	}
	deleted, gone, err := r.optionalSpan(openbDeleted, time.Second)
	if err != nil {
		return "", err
	}
	scheduled, ran, err := r.optionalSpan(openbScheduled, time.Second)
	if err != nil {
		return "", err
	}
	j.ID, j.Kind, j.Submit, j.Tasks = r.text(openbName), r.text(openbQoS), created, 1
	switch j.Kind {
	case "LS", "Guaranteed":
		j.Class = Service
	case "Burstable":
		j.Class = Batch
	case "BE":
		j.Class = BestEffort
	}
	if err := openbSize(r, j); err != nil {
		return "", err
	}
	if gone && deleted < created {
		return skipNegative, nil
	}
	running := deleted >= openbEnd
	if running && ran {
		j.AtLeast = max(0, deleted-scheduled)
	}
	return j.interval(scheduled, deleted, gone && ran && !running), nil
}

func openbSize(r *rows, j *Job) error {
	milli, err := r.size(openbCPU)
	if err != nil {
		return err
	}
	mebibytes, err := r.size(openbMemory)
	if err != nil {
		return err
	}
	gpus, err := r.size(openbGPUs)
	if err != nil {
		return err
	}
	share, err := r.size(openbGPUShare)
	if err != nil {
		return err
	}
	j.Cores, j.MemoryBytes, j.GPUs = milli/1000, mebibytes*(1<<20), gpus
	if gpus == 1 && !math.IsNaN(share) { // only a single device can be shared
		j.GPUs = share / 1000
	}
	if models := r.cell(openbGPUModels); len(models) > 0 {
		j.GPUTypes = strings.Split(string(models), "|")
	}
	return nil
}

// Columns of openbNodes.
const (
	openbNode = iota
	openbNodeCPU
	openbNodeMemory
	openbNodeGPUs
	openbNodeModel
)

var openbNodes = &layout{
	separator: ',',
	columns: []column{
		{[]string{"sn"}, true},
		{[]string{"cpu_milli"}, true},
		{[]string{"memory_mib"}, true},
		{[]string{"gpu"}, true},
		{[]string{"model"}, true},
	},
}

// parseOpenbNode reads a node; all are there from the start.
func parseOpenbNode(r *rows, e *NodeEvent) (string, error) {
	milli, err := r.size(openbNodeCPU)
	if err != nil {
		return "", err
	}
	mebibytes, err := r.size(openbNodeMemory)
	if err != nil {
		return "", err
	}
	gpus, _, err := r.integer(openbNodeGPUs)
	if err != nil {
		return "", err
	}
	e.Node, e.Cores, e.MemoryBytes = r.text(openbNode), milli/1000, mebibytes*(1<<20)
	e.GPUs, e.GPUType = int(gpus), r.text(openbNodeModel)
	e.Configuration = e.GPUType
	return "", nil
}
