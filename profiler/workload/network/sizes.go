package network

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// SizeDistribution is how large the flows of a workload are.
type SizeDistribution struct {
	Workload string
	// Bytes and Shares are the points of the distribution function, both rising;
	// between two points it is linear. The last share is 1.
	Bytes, Shares []float64
}

// ReadFlowSizes reads distributions of flow sizes: a row for each point, with
// workload, bytes and cdf_percent (the data set dc-flow-sizes, from the traffic
// generator of Li and others 2019, HPCC).
func ReadFlowSizes(folder fs.FS, name string) ([]SizeDistribution, error) {
	r, err := openRows(folder, name)
	if err != nil {
		return nil, err
	}
	defer r.close()
	workload, bytes, percent := r.column("workload"), r.column("bytes"), r.column("cdf_percent")
	if workload < 0 || bytes < 0 || percent < 0 {
		return nil, &FormatError{File: name, Line: 1, Problem: "the header is of no distribution of flow sizes", Hint: "needed: workload, bytes, cdf_percent"}
	}
	var out []SizeDistribution
	for {
		more, err := r.next()
		if err != nil {
			return nil, err
		}
		if !more {
			return out, complete(name, out)
		}
		size, err := r.number(bytes, maxBytes)
		if err != nil {
			return nil, err
		}
		share, err := r.number(percent, 100)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(d SizeDistribution) bool { return d.Workload == r.cells[workload] })
		if i < 0 {
			i = len(out)
			out = append(out, SizeDistribution{Workload: string([]byte(r.cells[workload]))})
		}
		d := &out[i]
		if n := len(d.Bytes); n > 0 && (size < d.Bytes[n-1] || share/100 < d.Shares[n-1]) {
			return nil, r.bad("a distribution goes back", "sort the points of a workload by size; their shares must not fall")
		}
		d.Bytes, d.Shares = append(d.Bytes, size), append(d.Shares, share/100)
	}
}

// complete refuses distributions that end before 100 %.
func complete(name string, all []SizeDistribution) error {
	for _, d := range all {
		if last := len(d.Shares) - 1; d.Shares[last] < 1 || d.Bytes[last] <= 0 {
			return &FormatError{File: name, Problem: fmt.Sprintf("the distribution of %.40q ends at %g %%", d.Workload, 100*d.Shares[last]), Hint: "the file may be cut short"}
		}
	}
	if len(all) == 0 {
		return &FormatError{File: name, Problem: "there is no distribution in it"}
	}
	return nil
}

// Quantile is the size that a share u of the flows does not exceed, u in [0, 1].
func (d SizeDistribution) Quantile(u float64) float64 {
	i := sort.SearchFloat64s(d.Shares, u)
	switch {
	case i == 0:
		return d.Bytes[0]
	case i == len(d.Shares):
		return d.Bytes[i-1]
	case d.Shares[i] == d.Shares[i-1]:
		return d.Bytes[i]
	}
	return d.Bytes[i-1] + (u-d.Shares[i-1])/(d.Shares[i]-d.Shares[i-1])*(d.Bytes[i]-d.Bytes[i-1])
}

// Mean is the mean size of a flow, in bytes.
func (d SizeDistribution) Mean() float64 {
	mean := d.Bytes[0] * d.Shares[0]
	for i := 1; i < len(d.Bytes); i++ {
		mean += (d.Shares[i] - d.Shares[i-1]) * (d.Bytes[i] + d.Bytes[i-1]) / 2
	}
	return mean
}

// Flows cuts the records of a table into flows of drawn sizes, at moments drawn
// within the bin. What a pair moves in a bin stays as it was; the last flow is
// what is left of it.
func Flows(t *Table, d SizeDistribution, seed uint64) (*Table, error) {
	random := rand.New(rand.NewPCG(seed, mixed(seed, flowStream)))
	var out []Record
	for _, r := range t.records {
		begins := r.At - (r.At-t.span.From)%t.span.Bin
		for left := r.Bytes; left > 0; {
			flow := r
			flow.Bytes = min(left, max(1, int64(d.Quantile(random.Float64()))))
			flow.At = begins + time.Duration(random.Int64N(int64(t.span.Bin)))
			out = append(out, flow)
			left -= flow.Bytes
		}
	}
	return NewTable(t.topology, t.span, out)
}

// flowStream keeps the random numbers of flows apart from all others.
const flowStream = 0x666c6f7773
