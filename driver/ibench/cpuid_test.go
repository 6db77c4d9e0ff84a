package ibench

import "testing"

type leaf struct{ number, sub uint32 }

type registers struct{ eax, ebx, ecx, edx uint32 }

// processor answers from a table; what it does not hold is zero.
func processor(table map[leaf]registers) asker {
	return func(number, sub uint32) (eax, ebx, ecx, edx uint32) {
		r := table[leaf{number, sub}]
		return r.eax, r.ebx, r.ecx, r.edx
	}
}

func TestAskProcessor(t *testing.T) {
	t.Parallel()
	const intel = 0x756e6547 // "Genu"
	amd := map[leaf]registers{
		{leafMax, 0}:         {eax: 0x10, ebx: leafVendorEBXAMD},
		{leafExtendedMax, 0}: {eax: 0x80000028},
		{leafAMDL1TLB, 0}:    {ebx: 0xff48ff40},
		{leafAMDL2TLB, 0}:    {ebx: 0x6c006200},
		{leafAMDCaches, 0}:   {eax: 0x121}, // L1 data
		{leafAMDCaches, 1}:   {eax: 0x122}, // L1 instructions
		{leafAMDCaches, 2}:   {eax: 0x143, edx: 2},
		{leafAMDCaches, 3}:   {eax: 0x163, edx: 1},
	}
	old := map[leaf]registers{{leafMax, 0}: amd[leaf{leafMax, 0}], {leafExtendedMax, 0}: {eax: 0x80000004}}
	server := map[leaf]registers{
		{leafMax, 0}:    {eax: 0x1b, ebx: intel},
		{leafCaches, 0}: {eax: 0x121}, {leafCaches, 1}: {eax: 0x122}, {leafCaches, 2}: {eax: 0x143},
		{leafCaches, 3}: {eax: 0x163, edx: 2},
		{leafTLB, 0}:    {eax: 4},
		{leafTLB, 1}:    {ebx: 0x00080001, ecx: 16, edx: 0x22},  // L1 instructions
		{leafTLB, 2}:    {ebx: 0x00060001, ecx: 16, edx: 0x24},  // L1 loads, 96
		{leafTLB, 3}:    {ebx: 0x00080001, ecx: 256, edx: 0x43}, // L2 of both, 2048
		{leafTLB, 4}:    {ebx: 0x00040002, ecx: 8, edx: 0x21},   // large pages only
	}
	endless := map[leaf]registers{{leafMax, 0}: {eax: 0x1b, ebx: intel}, {leafTLB, 0}: {eax: 1 << 31}}
	for i := range uint32(leavesMax) {
		endless[leaf{leafCaches, i}] = registers{eax: 0x21} // never the level looked for
	}
	for name, c := range map[string]struct {
		table     map[leaf]registers
		tlb       TLB
		inclusion Inclusion
	}{
		"AMD":          {amd, TLB{72, 3072}, NonInclusive},
		"an old AMD":   {old, TLB{}, InclusionUnknown},
		"Intel":        {server, TLB{96, 2048}, Inclusive},
		"endless":      {endless, TLB{}, InclusionUnknown},
		"says nothing": {nil, TLB{}, InclusionUnknown},
	} {
		m := Machine{Caches: []Cache{{Level: 1, Type: CacheData}, {Level: 3, Type: CacheUnified}}}
		m.askProcessor(processor(c.table))
		if m.TLB != c.tlb || m.LLCInclusion != c.inclusion {
			t.Errorf("%s: %+v, %q; want %+v, %q", name, m.TLB, m.LLCInclusion, c.tlb, c.inclusion)
		}
	}
	bare := Machine{}
	if bare.askProcessor(processor(server)); bare.LLCInclusion != InclusionUnknown {
		t.Errorf("no last-level cache, yet %q", bare.LLCInclusion)
	}
}

// A hypervisor that hides which CPUs share a cache leaves sysfs without any; the older leaves
// still tell the sizes.
func TestCachesOfAHiddenTopology(t *testing.T) {
	t.Parallel()
	guest := map[leaf]registers{
		{leafMax, 0}:         {eax: 0x10, ebx: leafVendorEBXAMD},
		{leafExtendedMax, 0}: {eax: 0x80000028},
		{leafAMDL1TLB, 0}:    {ecx: 48<<24 | 64, edx: 32<<24 | 64},
		{leafAMDL2TLB, 0}:    {ecx: 1024<<16 | 64, edx: 1016<<18 | 64}, // 508 MiB
	}
	m := Machine{CPUs: []CPU{{ID: 0}, {ID: 1}}}
	m.askProcessor(processor(guest))
	data, _ := m.DataCache(1)
	instructions, _ := m.InstructionCache()
	second, _ := m.DataCache(2)
	llc, ok := m.LLC()
	if data.SizeBytes != 48<<10 || instructions.SizeBytes != 32<<10 || second.SizeBytes != 1<<20 || !ok || llc.SizeBytes != complexBytes || len(llc.SharedCPUs) != 2 {
		t.Errorf("caches %+v", m.Caches)
	}
	told := Machine{CPUs: m.CPUs, Caches: []Cache{{Level: 1, Type: CacheData, SizeBytes: 32 << 10}}}
	if told.askProcessor(processor(guest)); len(told.Caches) != 1 {
		t.Errorf("what sysfs tells counts: %+v", told.Caches)
	}
	silent := Machine{CPUs: m.CPUs}
	if silent.askProcessor(processor(map[leaf]registers{{leafMax, 0}: guest[leaf{leafMax, 0}]})); len(silent.Caches) != 0 {
		t.Errorf("nothing is told, yet %+v", silent.Caches)
	}
}
