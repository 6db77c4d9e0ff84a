package dataset

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var siaReader = Reader{
	Name:    "sia-gpu-profiles",
	Summary: "step time of elastic training jobs by number of GPUs, four on a node",
	Source:  "siasosp23/artifacts (Jayaram 2023)",
	Read:    readSia,
}

var (
	siaPlacements  = tables.Spec{Name: "placements", Columns: []string{"model", "cluster", "placement", "local_bsz", "step_time"}}
	siaScalability = tables.Spec{Name: "scalability", Columns: []string{"model", "cluster", "num_nodes", "num_replicas", "local_bsz", "step_time"}}
)

// siaCounts are the numbers of GPUs, whole nodes of four from there on.
var siaCounts = []int{1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64}

// readSia makes one matrix, twice: once with both shown counts on one node, and
// once with the second on two, since what the network costs shows on no single
// node. A workload is a model with a batch size per GPU, its
// speed is samples per second, its columns are numbers of GPUs packed on as few
// nodes as hold them. Small counts are in the placements, large ones in the
// scalability runs.
//
// Only the cluster aws is used. In the rows of the others the values are
// under each other's headings (a step time under num_replicas), so they are
// skipped and counted.
func readSia(folder fs.FS) ([]Set, error) {
	var columns []string
	for _, n := range siaCounts {
		columns = append(columns, strconv.Itoa(n))
	}
	// One GPU and two to four, as the second run of Delimitrou 2015, §4.3.
	t := newTable(Set{Name: "sia aws, 1 and 2 to 4 GPUs shown", Kind: ScaleOut, Ratio: true, Columns: columns, Probes: [][]int{{0}, {1, 2, 3}}})
	var skipped skips
	err := each(folder, siaPlacements, &skipped, func(row tables.Row) {
		gpus, packed := packedPlacement(row.Text("placement"))
		siaRow(row, t, &skipped, gpus, packed)
	})
	if err != nil {
		return nil, err
	}
	err = each(folder, siaScalability, &skipped, func(row tables.Row) {
		nodes, _ := strconv.Atoi(row.Field("num_nodes"))
		replicas, err := strconv.Atoi(row.Field("num_replicas"))
		siaRow(row, t, &skipped, replicas, err == nil && replicas > 0 && replicas == 4*nodes)
	})
	if err != nil {
		return nil, err
	}
	within := t.finish(leastKnown, &skipped)
	beyond := within
	beyond.Name, beyond.Probes = "sia aws, 1 and 8 GPUs shown", [][]int{{0}, {4}}
	return []Set{within, beyond}, nil
}

func siaRow(row tables.Row, t *table, skipped *skips, gpus int, packed bool) {
	if row.Text("cluster") != "aws" {
		skipped.add("not of cluster aws: values under each other's headings", row.Where())
		return
	}
	if !packed {
		skipped.add("GPUs spread over more nodes than needed", row.Where())
		return
	}
	batch, seconds := row.Count("local_bsz", 1, maxBatch), row.Positive("step_time")
	t.add(fmt.Sprintf("%s batch %d", row.Text("model"), batch), row.Text("model"), strconv.Itoa(gpus), float64(gpus*batch)/seconds)
}

// maxBatch bounds the batch sizes that are believed.
const maxBatch = 1 << 30

// packedPlacement reads workers per node as digits; all nodes but one are full.
func packedPlacement(digits string) (gpus int, packed bool) {
	if len(digits) == 1 {
		gpus, err := strconv.Atoi(digits)
		return gpus, err == nil
	}
	return 4 * len(digits), digits == strings.Repeat("4", len(digits))
}
