package cluster

// Short is the first resource of which too little is left for an ask next to what is used,
// or "". Reserved cores also take their MHz from the node's CPU, at its clock.
func Short(total Resources, coreMHz int, used, ask Resources) RejectReason {
	switch {
	case used.Megahertz(coreMHz)+ask.Megahertz(coreMHz) > total.CPUMHz:
		return RejectCPU
	case ask.Cores > 0 && used.Cores+ask.Cores > total.Cores:
		return RejectCores
	case used.MemoryMB+ask.MemoryMB > total.MemoryMB:
		return RejectMemory
	case used.DiskMB+ask.DiskMB > total.DiskMB:
		return RejectDisk
	default:
		return ""
	}
}

// Megahertz is the CPU with whole cores included.
func (r Resources) Megahertz(coreMHz int) int { return r.CPUMHz + r.Cores*coreMHz }

// Subtract is what is left of r without o.
func (r Resources) Subtract(o Resources) Resources {
	return r.Add(Resources{CPUMHz: -o.CPUMHz, Cores: -o.Cores, MemoryMB: -o.MemoryMB, DiskMB: -o.DiskMB})
}
