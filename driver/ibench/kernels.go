package ibench

// Kernels lists every kernel of this release, sorted by source name. A new
// kernel is one file and one line here.
func Kernels() []Descriptor {
	return []Descriptor{
		floatingPoint,
		integer,
		l1Data,
		llcBandwidth,
		llcCapacity,
		memoryBandwidth,
		networkBandwidth,
		storageBandwidth,
	}
}
