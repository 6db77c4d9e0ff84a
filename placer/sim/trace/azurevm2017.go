package trace

import (
	"io/fs"
	"math"
	"strconv"
	"time"
)

var azureVM2017 = Descriptor{
	Name:    "azure-vm-2017",
	Summary: "Azure 2017: virtual machines with sizes, lifetimes and categories",
	Source:  "AzurePublicDataset V1, vmtable.csv (Cortez and others 2017); or its arrivals with lifetimes in bins (Bergsma and others 2021)",
	Order:   "sorted in memory by creation: about 200 bytes per VM, 2 million VMs in the whole trace",
	Detect:  func(first string) Role { return role(first, azureVM2017Roles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, azureVM2017Roles) })
		if err != nil {
			return nil, err
		}
		if len(files[azureBins]) == 0 {
			file, err := one(files, Jobs, "azure-vm-2017", azureTable.expected())
			if err != nil {
				return nil, err
			}
			return openTable(folder, []string{file}, azureTable, o, false, func(Options) parseJob { return parseAzureVM })
		}
		file, err := one(files, azureBins, "azure-vm-2017", azureArrivals.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, azureArrivals, o, true, parseAzureArrival)
	},
}

// azureBins is the role of a table with lifetimes in bins.
const azureBins Role = "arrivals with lifetimes in bins"

var azureVM2017Roles = []tableRole{{azureArrivals, azureBins}, {azureTable, Jobs}}

// Columns of azureTable.
const (
	azureID = iota
	azureSubscription
	azureDeployment
	azureCreated
	azureDeleted
	azureCategory
	azureCores
	azureMemory
)

var azureTable = &layout{
	separator: ',',
	columns: []column{
		{[]string{"vmid"}, true},
		{[]string{"subscriptionid"}, false},
		{[]string{"deploymentid"}, false},
		{[]string{"vmcreated"}, true},
		{[]string{"vmdeleted"}, true},
		{[]string{"vmcategory"}, false},
		{[]string{"vmcorecount"}, true},
		{[]string{"vmmemory"}, true},
	},
	places: []int{0, 1, 2, 3, 4, 8, 9, 10},
	shape:  "aaaNnnnnwNN",
}

// azureWindow is the length of the trace: what is deleted at its end is still
// running.
const azureWindow = 2591700 * time.Second

// parseAzureVM reads a virtual machine of vmtable.csv.
func parseAzureVM(r *rows, j *Job) (string, error) {
	created, err := r.moment(azureCreated, time.Second)
	if err != nil {
		return "", err
	}
	deleted, given, err := r.optionalSpan(azureDeleted, time.Second)
	if err != nil {
		return "", err
	}
	if j.Cores, err = r.size(azureCores); err != nil {
		return "", err
	}
	gibibytes, err := r.size(azureMemory)
	if err != nil {
		return "", err
	}
	j.ID, j.User, j.Group = r.text(azureID), r.text(azureSubscription), r.text(azureDeployment)
	j.Kind, j.Submit, j.Tasks, j.GPUs, j.MemoryBytes = r.text(azureCategory), created, 1, 0, gibibytes*(1<<30)
	switch j.Kind {
	case "Interactive":
		j.Class = Service
	case "Delay-insensitive":
		j.Class = Batch
	}
	running := given && deleted >= azureWindow
	if running {
		j.AtLeast = max(0, deleted-created)
	}
	return j.interval(created, deleted, given && !running), nil
}

// Columns of azureArrivals.
const (
	azureArrival = iota
	azureBatch
	azureVCPU
	azureGB
	azureCensored
	azureLow
	azureHigh
)

var azureArrivals = &layout{
	separator: ',',
	columns: []column{
		{[]string{"arrival_s"}, true},
		{[]string{"batch_in_bin"}, true},
		{[]string{"vcpu"}, true},
		{[]string{"memory_gb"}, true},
		{[]string{"censored"}, true},
		{[]string{"duration_bin_low_s"}, true},
		{[]string{"duration_bin_high_s"}, true},
	},
}

// parseAzureArrival reads a virtual machine whose lifetime is known to a bin. It
// is drawn evenly from the bin, by a hash of the row: the same row has the same
// lifetime in every reading. Where it was still running at the end, only the lower
// bound is known.
func parseAzureArrival(o Options) parseJob {
	var row int64
	return func(r *rows, j *Job) (string, error) {
		row++
		arrival, err := r.moment(azureArrival, time.Second)
		if err != nil {
			return "", err
		}
		low, err := r.span(azureLow, time.Second)
		if err != nil {
			return "", err
		}
		high, err := r.span(azureHigh, time.Second)
		if err != nil {
			return "", err
		}
		censored, err := r.count(azureCensored)
		if err != nil {
			return "", err
		}
		if j.Cores, err = r.size(azureVCPU); err != nil {
			return "", err
		}
		gibibytes, err := r.size(azureGB)
		if err != nil {
			return "", err
		}
		if high < low || low < 0 {
			return skipNegative, nil
		}
		j.ID = strconv.FormatInt(row, 10)
		j.Group = r.text(azureArrival) + "/" + r.text(azureBatch)
		j.Submit, j.Tasks, j.GPUs, j.MemoryBytes = arrival, 1, 0, gibibytes*(1<<30)
		if censored != 0 {
			j.AtLeast = low
			return "", nil
		}
		j.Duration = low + time.Duration(evenly(j.ID, o.SampleSeed)*float64(high-low))
		return "", nil
	}
}

// evenly is a number in [0, 1) that depends on a name and a seed alone.
func evenly(name string, seed uint64) float64 {
	return math.Ldexp(float64(hash(name, seed^0x5bd1e995)>>11), -53)
}
