package dataset

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

var siaReader = Reader{
	Name:    "sia-gpu-profiles",
	Summary: "step time of elastic training jobs by number of GPUs, four on a node",
	Source:  "siasosp23/artifacts (Jayaram 2023)",
	Read:    readSia,
}

// siaCounts are the numbers of GPUs, whole nodes of four from there on.
var siaCounts = []int{1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64}

// readSia makes one matrix, twice: once with both shown counts on one node, and
// once with the second on two, since what the network costs shows on no single
// node. A workload is a model with a batch size per GPU, its
// speed is samples per second, its columns are numbers of GPUs packed on as few
// nodes as hold them. Small counts are in the placements, large ones in the
// scalability runs.
//
// Only the cluster aws is used. In the rows of the others the values stand
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
	err := each(folder, "placements.csv.gz", []string{"model", "cluster", "placement", "local_bsz", "step_time"}, func(f *file) error {
		return siaRow(f, t, &skipped, func() (int, bool) { return packedPlacement(f.text("placement")) })
	})
	if err != nil {
		return nil, err
	}
	err = each(folder, "scalability.csv.gz", []string{"model", "cluster", "num_nodes", "num_replicas", "local_bsz", "step_time"}, func(f *file) error {
		return siaRow(f, t, &skipped, func() (int, bool) {
			nodes, ok := f.whole("num_nodes")
			replicas, good := f.whole("num_replicas")
			return replicas, ok && good && replicas == 4*nodes
		})
	})
	if err != nil {
		return nil, err
	}
	within := t.finish(leastKnown, &skipped)
	beyond := within
	beyond.Name, beyond.Probes = "sia aws, 1 and 8 GPUs shown", [][]int{{0}, {4}}
	return []Set{within, beyond}, nil
}

func siaRow(f *file, t *table, skipped *skips, packed func() (int, bool)) error {
	if f.text("cluster") != "aws" {
		skipped.add("not of cluster aws: values under each other's headings", f.where())
		return nil
	}
	gpus, ok := packed()
	if !ok {
		skipped.add("GPUs spread over more nodes than needed", f.where())
		return nil
	}
	batch, ok := f.whole("local_bsz")
	if !ok {
		return fmt.Errorf("%s: %w: local_bsz is %q", f.where(), ErrFormat, f.text("local_bsz"))
	}
	seconds, err := f.positive("step_time")
	if err != nil {
		return err
	}
	t.add(fmt.Sprintf("%s batch %d", f.text("model"), batch), f.text("model"), strconv.Itoa(gpus), float64(gpus*batch)/seconds)
	return nil
}

// packedPlacement reads workers per node as digits; all nodes but one are full.
func packedPlacement(digits string) (gpus int, packed bool) {
	if len(digits) == 1 {
		gpus, err := strconv.Atoi(digits)
		return gpus, err == nil
	}
	return 4 * len(digits), digits == strings.Repeat("4", len(digits))
}
