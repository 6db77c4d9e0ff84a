package ibench

import "slices"

// TLB is the size of the translation lookaside buffer for data, in small
// pages; 0 where the processor does not tell.
type TLB struct {
	L1DataPages int `json:"l1_data_pages,omitempty"`
	L2DataPages int `json:"l2_data_pages,omitempty"`
}

func (t TLB) pages() int { return t.L1DataPages + t.L2DataPages }

// Inclusion says whether a cache also holds what the caches below it hold.
type Inclusion string

// What a processor says of its last-level cache.
const (
	InclusionUnknown Inclusion = ""
	Inclusive        Inclusion = "inclusive"
	// NonInclusive caches take mostly what the cache below gives up, so a
	// working set has room in both.
	NonInclusive Inclusion = "non-inclusive"
)

// asker asks the processor for a leaf of what it says of itself.
type asker func(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// The leaves used: Intel, Software Developer's Manual, volume 2, CPUID; AMD,
// Architecture Programmer's Manual, volume 3, appendix E.
const (
	leafMax          = 0
	leafCaches       = 4
	leafTLB          = 0x18
	leafExtendedMax  = 0x80000000
	leafAMDL1TLB     = 0x80000005
	leafAMDL2TLB     = 0x80000006
	leafAMDCaches    = 0x8000001d
	leafVendorEBXAMD = 0x68747541 // "Auth"
	leafVendorEBXHyg = 0x6f677948 // "Hygo"
)

// askProcessor fills in what only the processor itself tells. What it does
// not tell stays unknown.
func (m *Machine) askProcessor(ask asker) {
	most, vendor, _, _ := ask(leafMax, 0)
	extended, _, _, _ := ask(leafExtendedMax, 0)
	caches := uint32(leafCaches)
	switch {
	case most == 0:
		return
	case vendor == leafVendorEBXAMD || vendor == leafVendorEBXHyg:
		m.TLB = amdTLB(ask, extended)
		if len(m.Caches) == 0 {
			m.Caches = amdCaches(ask, extended, m.CPUs)
		}
		caches = leafAMDCaches
		most = extended
	default:
		m.TLB = intelTLB(ask, most)
	}
	llc, ok := m.LLC()
	if ok && most >= caches {
		m.LLCInclusion = inclusionOf(ask, caches, llc.Level)
	}
}

func amdTLB(ask asker, extended uint32) TLB {
	var t TLB
	if extended >= leafAMDL1TLB {
		_, ebx, _, _ := ask(leafAMDL1TLB, 0)
		t.L1DataPages = int(ebx >> 16 & 0xff)
	}
	if extended >= leafAMDL2TLB {
		_, ebx, _, _ := ask(leafAMDL2TLB, 0)
		t.L2DataPages = int(ebx >> 16 & 0xfff)
	}
	return t
}

// complexBytes is the largest last-level cache that is taken for granted: AMD's leaf tells the
// sum over a processor's core complexes, and a core reaches that of its own, 16 or 32 MiB
// (more where caches are stacked).
const complexBytes = 32 << 20

// amdCaches are the caches that the processor tells in its older leaves, level by level. A
// hypervisor that hides which CPUs share a cache leaves the kernel without any.
func amdCaches(ask asker, extended uint32, cpus []CPU) []Cache {
	if extended < leafAMDL2TLB || len(cpus) == 0 {
		return nil
	}
	var all []int
	for _, c := range cpus {
		all = append(all, c.ID)
	}
	_, _, data, instructions := ask(leafAMDL1TLB, 0)
	_, _, second, third := ask(leafAMDL2TLB, 0)
	var out []Cache
	for _, c := range cpus {
		own := []int{c.ID}
		out = append(out,
			Cache{Level: 1, Type: CacheData, SizeBytes: int64(data>>24) << 10, LineBytes: int(data & 0xff), SharedCPUs: own},
			Cache{Level: 1, Type: CacheInstruction, SizeBytes: int64(instructions>>24) << 10, LineBytes: int(instructions & 0xff), SharedCPUs: own},
			Cache{Level: 2, Type: CacheUnified, SizeBytes: int64(second>>16) << 10, LineBytes: int(second & 0xff), SharedCPUs: own})
	}
	out = append(out, Cache{
		Level: 3, Type: CacheUnified, SizeBytes: min(complexBytes, int64(third>>18)<<19), LineBytes: int(third & 0xff), SharedCPUs: all,
	})
	out = slices.DeleteFunc(out, func(c Cache) bool { return c.SizeBytes == 0 || c.LineBytes == 0 })
	slices.SortStableFunc(out, func(a, b Cache) int { return a.Level - b.Level })
	return out
}

// leavesMax bounds lists of leaves, which a broken hypervisor may not end.
const leavesMax = 64

func intelTLB(ask asker, most uint32) TLB {
	var t TLB
	if most < leafTLB {
		return t
	}
	last, _, _, _ := ask(leafTLB, 0)
	for i := range min(last, leavesMax) + 1 {
		_, ebx, ecx, edx := ask(leafTLB, i)
		const data, unified, loads = 1, 3, 4
		kind, level, smallPages := edx&0x1f, edx>>5&7, ebx&1 != 0
		if !smallPages || kind != data && kind != unified && kind != loads {
			continue
		}
		entries := int(ebx>>16) * int(ecx)
		switch level {
		case 1:
			t.L1DataPages = max(t.L1DataPages, entries)
		case 2:
			t.L2DataPages = max(t.L2DataPages, entries)
		}
	}
	return t
}

// inclusionOf looks for the cache of that level in a list of caches, which
// both makers keep in the same form.
func inclusionOf(ask asker, leaf uint32, level int) Inclusion {
	for i := range uint32(leavesMax) {
		eax, _, _, edx := ask(leaf, i)
		const none, instructions, inclusive = 0, 2, 1 << 1
		kind := eax & 0x1f
		if kind == none {
			return InclusionUnknown
		}
		if int(eax>>5&7) != level || kind == instructions {
			continue
		}
		if edx&inclusive != 0 {
			return Inclusive
		}
		return NonInclusive
	}
	return InclusionUnknown
}
