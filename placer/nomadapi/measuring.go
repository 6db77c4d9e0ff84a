package nomadapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
)

// What a measuring campaign asks of the driver, by the names of the driver's option allow.
const (
	DriverCalibrate = "calibrate"
	DriverPairs     = "pairs"
)

// DriverBuild is the node attribute with the checksum of the driver's program.
const DriverBuild = "driver." + KernelDriver + ".build"

// DriverCalibration is the node attribute with the ID of the calibration; a node without one has none.
const DriverCalibration = "driver." + KernelDriver + ".calibration.id"

// DriverCPUs is the node attribute with the CPUs of the driver.
const DriverCPUs = "driver." + KernelDriver + ".cpus"

// ErrNoFit: a node has not the room for what is to be measured on it.
var ErrNoFit = errors.New("it does not fit")

// Measuring is a job that measures on a node which it has to itself: what it asks for is all that
// the node has left, so that Nomad places nothing beside it. At Nomad's lowest priority it takes
// nobody's place.
type Measuring struct {
	ID, Namespace string
	Node          cluster.Node
	Free          cluster.Resources // what the node has left
	Deadline      time.Time         // by which it has begun
}

// campaignOwner is who jobs of a campaign say that they are of: no agent sweeps them.
const campaignOwner = "nomad-placer-fleet"

// MeasuringRefused says why a node does no such work of the driver; empty where it does.
func (w *World) MeasuringRefused(n *cluster.Node, work string) string {
	switch {
	case n.Attributes.Text("driver."+KernelDriver+".version") == "":
		return "it has no driver " + KernelDriver
	case n.Attributes.Text(DriverBuild) == "":
		return "its driver " + KernelDriver + " is of an earlier release, which leaves no receipts"
	case !DriverAllows(n.Attributes, work):
		return fmt.Sprintf("its operator does not allow it: add %q to allow in the plugin block of the client's agent file", work)
	case work == DriverProfile:
		return w.refusesKey(n)
	}
	return ""
}

// CalibrationJob has the driver of a node calibrate its kernels.
func (w *World) CalibrationJob(m Measuring, seconds int) (map[string]any, error) {
	leader := profilerTaskOf("")
	leader["Config"] = map[string]any{"calibrate": []any{map[string]any{"seconds": seconds}}}
	return w.measuringJob(m, object{}, measuringGroup(), leader)
}

// ProfilingJob is a profiling run of a job that is given as text and not registered.
func (w *World) ProfilingJob(m Measuring, user map[string]any, r cluster.ProfileRequest) (map[string]any, error) {
	group, err := labGroup(user, r)
	if err != nil {
		return nil, err
	}
	leader, err := profilerTask(group.objects("Tasks"), r)
	if err != nil {
		return nil, err
	}
	return w.measuringJob(m, user, group, leader)
}

// PairSide is a workload of a pair, and the job that it is of.
type PairSide struct {
	Job      map[string]any
	Workload cluster.Workload
}

// PairJob has the driver measure two workloads together. Both are copied as for a profiling run, into
// one group.
func (w *World) PairJob(m Measuring, sides [2]PairSide, request pairs.Request) (map[string]any, error) {
	group := measuringGroup()
	var constraints []object
	for _, side := range sides {
		copied, err := labGroup(side.Job, cluster.ProfileRequest{Workload: side.Workload})
		if err != nil {
			return nil, err
		}
		running := runningTasks(copied.objects("Tasks"))
		if len(running) == 0 || side.Workload.Spec.Probe == nil {
			return nil, fmt.Errorf("group %s has no task that can be measured, or no probe", side.Workload.ID)
		}
		request.Applications = append(request.Applications, pairs.Application{
			Key: side.Workload.ProfileKey, Application: side.Workload.ID.String(), Task: running[0],
			Target: side.Workload.Spec.Target, Probe: *side.Workload.Spec.Probe,
		})
		if err := join(group, copied); err != nil {
			return nil, err
		}
		constraints = append(constraints, withoutOurs(object(side.Job).objects("Constraints"))...)
	}
	for i := range request.Pairs {
		request.Pairs[i].A, request.Pairs[i].B = request.Applications[0].Application, request.Applications[1].Application
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("request for pairs: %w", err)
	}
	leader := profilerTaskOf("")
	leader["Config"] = map[string]any{"pairs": []any{map[string]any{"request": escaped(text)}}}
	first := pick(object(sides[0].Job), []string{"Region", "ConsulNamespace", "VaultNamespace"})
	first.setList("Constraints", constraints)
	return w.measuringJob(m, first, group, leader)
}

// join puts all that a copied group has into another. What both call the same cannot be told apart.
func join(group, from object) error {
	names := map[string]bool{}
	for _, task := range group.objects("Tasks") {
		names[task.text("Name")] = true
	}
	for _, task := range from.objects("Tasks") {
		if names[task.text("Name")] {
			return fmt.Errorf("both have a task %q: give it another name in one of the files", task.text("Name"))
		}
	}
	group.setList("Tasks", append(group.objects("Tasks"), from.objects("Tasks")...))
	group.setList("Constraints", append(group.objects("Constraints"), from.objects("Constraints")...))
	for _, key := range []string{"Volumes", "Meta"} {
		all := object{}
		maps.Copy(all, group.object(key))
		for name, value := range from.object(key) {
			if _, twice := all[name]; twice && key == "Volumes" {
				return fmt.Errorf("both have a volume %q: give it another name in one of the files", name)
			}
			all[name] = value
		}
		group[key] = map[string]any(all)
	}
	disk := group.object("EphemeralDisk")
	disk["SizeMB"] = disk.number("SizeMB") + from.object("EphemeralDisk").number("SizeMB")
	return joinNetworks(group, from)
}

// joinNetworks: a group has one network.
func joinNetworks(group, from object) error {
	theirs := from.objects("Networks")
	ours := group.objects("Networks")
	if len(theirs) == 0 || len(ours) == 0 {
		group.setList("Networks", append(ours, theirs...))
		return nil
	}
	mode := func(network object) string { return cmp.Or(network.text("Mode"), "host") }
	if len(ours) > 1 || len(theirs) > 1 || mode(ours[0]) != mode(theirs[0]) {
		return errors.New("their groups have different networks: a pair is measured in one group, which has one network")
	}
	labels := map[string]bool{}
	for _, port := range ours[0].objects("DynamicPorts") {
		labels[port.text("Label")] = true
	}
	for _, port := range theirs[0].objects("DynamicPorts") {
		if labels[port.text("Label")] {
			return fmt.Errorf("both have a port %q: give it another name in one of the files", port.text("Label"))
		}
	}
	ours[0].setList("DynamicPorts", append(ours[0].objects("DynamicPorts"), theirs[0].objects("DynamicPorts")...))
	group.setList("Networks", ours)
	return nil
}

// measuringGroup has no tasks yet.
func measuringGroup() object {
	return object{
		"Name": "measure", "Count": 1, "RestartPolicy": never(), "ReschedulePolicy": map[string]any{"Attempts": 0, "Unlimited": false},
		"EphemeralDisk": map[string]any{"SizeMB": labExtraDiskMB, "Sticky": false, "Migrate": false},
	}
}

// measuringJob is the job of a group that a task of the driver leads, which takes what is left of the
// node.
func (w *World) measuringJob(m Measuring, user, group, leader object) (map[string]any, error) {
	ask, beside := askOf(group), besideOf(group) // all of it, and what runs while the leader does
	coresMHz := ask.Cores * m.Node.CoreMHz
	cpuMHz, memoryMB := m.Free.CPUMHz-beside.CPUMHz-coresMHz, m.Free.MemoryMB-beside.MemoryMB
	if cpuMHz < cluster.ProfilerCPUMHz || memoryMB < cluster.ProfilerMemoryMB || ask.CPUMHz+coresMHz > m.Free.CPUMHz || ask.MemoryMB > m.Free.MemoryMB {
		return nil, fmt.Errorf("%w: node %s has %d MHz and %d MB left, and it takes %d MHz, %d cores and %d MB besides the %d MHz and %d MB of the measuring task",
			ErrNoFit, m.Node.Name, m.Free.CPUMHz, m.Free.MemoryMB, ask.CPUMHz, ask.Cores, ask.MemoryMB, cluster.ProfilerCPUMHz, cluster.ProfilerMemoryMB)
	}
	leader["Resources"] = map[string]any{"CPU": cpuMHz, "MemoryMB": memoryMB}
	group.setList("Tasks", append(group.objects("Tasks"), leader))
	job := labJobWith(user, group, cluster.ProfileRequest{ID: m.ID, Node: m.Node, Deadline: m.Deadline}, campaignOwner)
	job["ID"], job["Name"], job["Namespace"] = m.ID, m.ID, m.Namespace
	w.sign(job, m.Node.ID, m.Deadline, func(task string) bool { return task == labTask })
	return job, nil
}
