package shape

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// FromAlibabaNodes reads the machine mix of one of Alibaba's GPU clusters, by the
// names of its columns: that of the GPU trace of 2020 (gpu_type, cap_cpu, cap_mem in
// GB, cap_gpu) or of the spot trace of 2026 (gpu_model, gpu_capacity_num, cpu_num,
// without memory). Gzip is transparent.
func FromAlibabaNodes(folder fs.FS, file string) (Cluster, error) {
	c := Cluster{Name: strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".csv"), Source: "Alibaba clusterdata"}
	c.Summary = "the machines of " + c.Name
	f, err := folder.Open(file)
	if err != nil {
		return c, fmt.Errorf("cluster shape: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read: nothing can be lost
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return c, fmt.Errorf("%s: %w: %w", file, ErrShape, err)
		}
	}
	var groups grouping
	if err := eachAlibabaNode(file, csv.NewReader(in), func(n Node) { groups.add(n) }); err != nil {
		return c, err
	}
	c.Nodes = groups.present()
	return c, c.Check()
}

func eachAlibabaNode(file string, table *csv.Reader, do func(Node)) error {
	header, err := table.Read()
	if err != nil {
		return fmt.Errorf("%s:1: %w: no header: %w", file, ErrShape, err)
	}
	at := func(names ...string) int {
		for i, column := range header {
			for _, name := range names {
				if column == name {
					return i
				}
			}
		}
		return -1
	}
	model, cpus, gpus, memory := at("gpu_type", "gpu_model"), at("cap_cpu", "cpu_num"), at("cap_gpu", "gpu_capacity_num"), at("cap_mem")
	if model < 0 || cpus < 0 || gpus < 0 {
		return fmt.Errorf("%s:1: %w: missing columns (needed: gpu_type, cap_cpu, cap_gpu; or gpu_model, cpu_num, gpu_capacity_num)", file, ErrShape)
	}
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", file, ErrShape, err)
		}
		number := func(column int) (Number, error) {
			if column < 0 || record[column] == "" {
				return Number{}, nil
			}
			v, err := strconv.ParseFloat(record[column], 64)
			if err != nil || !(v >= 0 && v < 1e9) {
				line, place := table.FieldPos(column)
				return Number{}, fmt.Errorf("%s:%d:%d: %w: %s is %q, not a size", file, line, place, ErrShape, header[column], record[column])
			}
			return traced(v), nil
		}
		n := Node{Configuration: record[model]}
		if n.Cores, err = number(cpus); err != nil {
			return err
		}
		if n.GPUs, err = number(gpus); err != nil {
			return err
		}
		if n.MemoryBytes, err = number(memory); err != nil {
			return err
		}
		n.MemoryBytes.Value *= gib
		if n.GPUs.Value > 0 {
			n.GPUType = Text{record[model], Traced}
		}
		do(n)
	}
}
