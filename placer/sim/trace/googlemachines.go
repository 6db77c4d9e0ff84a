package trace

import (
	"fmt"
	"io/fs"
	"time"
)

// googleMachines is a table of capacities, all there from the start.
var googleMachines = &layout{
	separator: ',',
	columns:   []column{{[]string{"machine_id"}, true}, {[]string{"cpu_norm"}, true}, {[]string{"memory_norm"}, true}},
}

// googleChanges is machine_events/part-00000-of-00001.csv.gz.
var googleChanges = &layout{
	separator: ',',
	columns: []column{
		{[]string{"timestamp", "time"}, true},
		{[]string{"machine_id", "machine ID"}, true},
		{[]string{"event_type", "event type"}, true},
		{[]string{"platform_id", "platform ID"}, false},
		{[]string{"cpus", "CPUs"}, true},
		{[]string{"memory"}, true},
	},
	places: []int{0, 1, 2, 3, 4, 5},
	shape:  "NNNann",
}

func openGoogle2011Nodes(folder fs.FS, o Options) (NodeReader, error) {
	files, err := byRole(folder, o, func(first string) Role { return role(first, google2011Roles) })
	if err != nil {
		return nil, err
	}
	if changes := files[MachineEvents]; len(changes) > 0 {
		return openNodes(folder, changes, googleChanges, o, parseGoogleChange)
	}
	file, err := one(files, Machines, "google-2011", googleMachines.expected())
	if err != nil {
		return nil, err
	}
	return openNodes(folder, []string{file}, googleMachines, o, parseGoogleMachine)
}

func parseGoogleMachine(o Options) parseNode {
	cores, memory := o.largest(google2011Cores, google2011MemoryBytes)
	return func(r *rows, e *NodeEvent) (string, error) {
		e.Node = r.text(0)
		return "", googleCapacity(r, e, 1, cores, memory)
	}
}

// googleCapacity reads the relative size of a machine from two columns. Its
// configuration is that size: the platform says less.
func googleCapacity(r *rows, e *NodeEvent, column int, cores, memory float64) error {
	cpu, err := r.size(column)
	if err != nil {
		return err
	}
	share, err := r.size(column + 1)
	if err != nil {
		return err
	}
	e.Cores, e.MemoryBytes = cpu*cores, share*memory
	e.Configuration = fmt.Sprintf("%.4g cpu %.4g memory", cpu, share)
	return nil
}

// parseGoogleChange reads an event of a machine: 0 added, 1 removed, 2 resized.
func parseGoogleChange(o Options) parseNode {
	cores, memory := o.largest(google2011Cores, google2011MemoryBytes)
	return func(r *rows, e *NodeEvent) (string, error) {
		at, err := r.moment(0, time.Microsecond)
		if err != nil {
			return "", err
		}
		event, err := r.count(2)
		if err != nil {
			return "", err
		}
		e.At, e.Node = at, r.text(1)
		switch event {
		case 0:
		case 1:
			e.Change = Removed
			return "", nil
		case 2:
			e.Change = Resized
		default:
			return "", r.bad(2, "not an event of a machine", "known: 0 added, 1 removed, 2 updated")
		}
		return "", googleCapacity(r, e, 4, cores, memory)
	}
}
