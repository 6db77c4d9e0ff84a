package ibench

// Kernels lists every kernel of this release, sorted by source name. A new
// kernel is one file and one line here.
func Kernels() []Descriptor {
	return []Descriptor{
		floatingPoint,
		integer,
		interconnect,
		l1Data,
		l1Instruction,
		l2Bandwidth,
		l2Capacity,
		llcBandwidth,
		llcCapacity,
		memoryBandwidth,
		memoryCapacity,
		networkBandwidth,
		prefetch,
		storageBandwidth,
		storageCapacity,
		tlb,
		vector,
	}
}
