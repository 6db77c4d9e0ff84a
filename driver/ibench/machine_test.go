package ibench

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// machineRoot unpacks a captured machine of testdata and returns its root.
func machineRoot(t *testing.T, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := txtar.Write(archive, root); err != nil {
		t.Fatal(err)
	}
	return root
}

func readMachine(t *testing.T, name string) Machine {
	t.Helper()
	m, err := ReadMachine(machineRoot(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadMachineServer(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "server")
	if m.CPUModel != "A Server CPU @ 2.40GHz" || m.Microcode != "0x2b" || m.KernelRelease != "6.1.0-18-amd64" || m.Virtual {
		t.Errorf("identity: %+v", m)
	}
	if want := (CPU{ID: 3, Core: 0, Package: 1, Node: 1, Siblings: []int{1, 3}}); !reflect.DeepEqual(m.CPUs[3], want) {
		t.Errorf("CPU 3 is %+v, want %+v", m.CPUs[3], want)
	}
	if !m.SMT() {
		t.Error("hardware threads are not seen")
	}
	if len(m.Caches) != 8 {
		t.Errorf("%d caches, want four per socket: %+v", len(m.Caches), m.Caches)
	}
	llc, ok := m.LLC()
	want := Cache{Level: 3, Type: CacheUnified, SizeBytes: 22 << 20, LineBytes: 64, Ways: 11, Sets: 32768, SharedCPUs: []int{0, 2}}
	if !ok || !reflect.DeepEqual(llc, want) {
		t.Errorf("LLC is %+v, want %+v", llc, want)
	}
	if m.belowLLC() != 1<<20 {
		t.Errorf("below the LLC: %d", m.belowLLC())
	}
	if l1, ok := m.DataCache(1); !ok || l1.Type != CacheData {
		t.Errorf("L1 is %+v", l1)
	}
	if m.MemoryTotalBytes != 65536000<<10 || m.MemoryAvailableBytes != 60000000<<10 {
		t.Errorf("memory: %d, %d", m.MemoryTotalBytes, m.MemoryAvailableBytes)
	}
	nics := []NIC{
		{Name: "docker0", Virtual: true},
		{Name: "eth0", SpeedBitsPerSec: 10e9},
		{Name: "lo", Virtual: true, Loopback: true},
	}
	if !reflect.DeepEqual(m.NICs, nics) {
		t.Errorf("NICs are %+v, want %+v", m.NICs, nics)
	}
}

func TestReadMachineVirtual(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "virtual")
	if !m.Virtual || m.SMT() || m.CPUs[0].Node != -1 {
		t.Errorf("machine: %+v", m)
	}
	for _, d := range Kernels() {
		if err := d.Supported(m); err != nil {
			t.Errorf("%s: %v", d.Source, err)
		}
	}
}

func TestReadMachineBare(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "bare")
	if m.CPUModel != "0x41 0xd0c" || len(m.Caches) != 0 || m.CPUs[1].ID != 4 || m.CPUs[1].Core != -1 {
		t.Errorf("machine: %+v", m)
	}
	attributes := SupportAttributes(m)
	for source, reason := range map[interference.Source]string{
		interference.MemoryBandwidth: "no last-level cache", interference.LLCCapacity: "no last-level cache",
		interference.L1Data: "no L1 data cache", interference.NetworkBandwidth: "no network interface",
		interference.L1Instruction: "no L1 instruction cache",
	} {
		name := "soi." + string(source)
		if attributes[name] != string(StatusUnsupported) || !strings.Contains(attributes[name+".reason"], reason) {
			t.Errorf("%s is %q because %q, want %q", source, attributes[name], attributes[name+".reason"], reason)
		}
	}
	if attributes["soi.int"] != string(StatusSupported) || attributes["soi.int.reason"] != "" {
		t.Errorf("int: %v", attributes)
	}
}

func TestReadMachineNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"sys/devices/system/cpu/online": "online CPUs",
		"proc/cpuinfo":                  "CPU model",
		"proc/meminfo":                  "memory size",
		"proc/sys/kernel/osrelease":     "kernel release",
	} {
		root := machineRoot(t, "virtual")
		if err := os.Remove(filepath.Join(root, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMachine(root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", file, err)
		}
	}
}

func TestCPUList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"": nil, "0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "8,1-2,2\n": {1, 2, 8},
	} {
		got, err := ParseCPUList(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
		again, err := ParseCPUList(FormatCPUList(got))
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%q does not survive %q", text, FormatCPUList(got))
		}
	}
	for _, text := range []string{"a", "1-", "-1", "3-1", "1,,2", "99999999"} {
		if got, err := ParseCPUList(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
