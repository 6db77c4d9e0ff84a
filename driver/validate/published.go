package validate

import "github.com/nomad-placer/nomad-placer/profiler/interference"

// publishedAt are the intensities of the published points, in percent.
var publishedAt = []float64{20, 40, 60, 80, 100}

// published are the impacts of Delimitrou 2015, Fig. 5.2, in percent at
// publishedAt, read off the figure to about 3 points. The two L2 variants are
// not in it.
var published = map[interference.Source][]float64{
	interference.MemoryCapacity:   {8, 29, 54, 77, 100},
	interference.MemoryBandwidth:  {9, 23, 44, 72, 100},
	interference.StorageCapacity:  {19, 38, 58, 78, 100},
	interference.StorageBandwidth: {11, 27, 51, 68, 96},
	interference.NetworkBandwidth: {15, 33, 60, 84, 100},
	interference.LLCCapacity:      {18, 38, 59, 80, 100},
	interference.LLCBandwidth:     {9, 29, 58, 81, 100},
	interference.L1Instruction:    {15, 32, 58, 83, 100},
	interference.L1Data:           {9, 23, 47, 78, 100},
	interference.TLB:              {19, 41, 64, 87, 100},
	interference.Integer:          {5, 19, 39, 67, 100},
	interference.FloatingPoint:    {20, 48, 70, 88, 100},
	interference.Prefetcher:       {9, 32, 56, 76, 100},
	interference.Interconnect:     {15, 38, 64, 86, 100},
	interference.Vector:           {20, 38, 60, 84, 100},
}
