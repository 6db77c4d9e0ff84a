package ibench

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/child"
)

// order is the one argument of a kernel's process: what its parent wants of it.
type order struct {
	Spec
	Calibrate bool `json:"calibrate,omitempty"` // calibrate the source, print the result as JSON and end
}

// readOrder reads the arguments of a kernel's process.
func readOrder(args []string) (order, error) {
	var o order
	if err := child.ReadOrder(args, &o); err != nil {
		return order{}, err
	}
	if len(o.CPUs) == 0 {
		var err error
		if o.CPUs, err = AllowedCPUs(); err != nil {
			return order{}, err
		}
	}
	if o.Calibrate {
		return o, nil
	}
	return o, o.check()
}

// AllowedCPUs returns the CPUs the calling thread may use.
func AllowedCPUs() ([]int, error) { return allowedCPUs(0) }

// allowedCPUs returns the CPUs a thread (0 is the calling one) may use.
func allowedCPUs(tid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return nil, fmt.Errorf("allowed CPUs: %w", err)
	}
	var out []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			out = append(out, cpu)
		}
	}
	return out, nil
}
