package ibench

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Machine is what the kernels need to know of the machine they run on. It is
// read from sysfs and procfs, and asked of the processor; what neither reports
// stays empty, and a kernel that needs it says so.
type Machine struct {
	CPUModel             string  `json:"cpu_model"`
	Microcode            string  `json:"microcode,omitempty"`
	KernelRelease        string  `json:"kernel_release"`
	Virtual              bool    `json:"virtual"`
	CPUs                 []CPU   `json:"cpus"`
	Caches               []Cache `json:"caches"`
	MemoryTotalBytes     int64   `json:"memory_total_bytes"`
	MemoryAvailableBytes int64   `json:"memory_available_bytes"`
	NICs                 []NIC   `json:"nics"`
	// TLB and LLCInclusion are known where the processor tells them, which it
	// does for the running machine only.
	TLB          TLB       `json:"tlb"`
	LLCInclusion Inclusion `json:"llc_inclusion,omitempty"`
}

// NIC is one network interface.
type NIC struct {
	Name string `json:"name"`
	// SpeedBitsPerSec is 0 where the link does not report a speed, as virtual
	// interfaces do.
	SpeedBitsPerSec int64 `json:"speed_bits_per_sec,omitempty"`
	Virtual         bool  `json:"virtual"` // no device behind it
	Loopback        bool  `json:"loopback"`
}

// ReadMachine reads the machine whose sys and proc trees are below root; the
// running machine is root "/".
func ReadMachine(root string) (Machine, error) {
	var m Machine
	var err error
	if m.CPUs, err = readCPUs(root); err != nil {
		return Machine{}, err
	}
	if m.Caches, err = readCaches(root, m.CPUs); err != nil {
		return Machine{}, err
	}
	if err = m.readCPUInfo(filepath.Join(root, "proc/cpuinfo")); err != nil {
		return Machine{}, err
	}
	if err = m.readMemory(filepath.Join(root, "proc/meminfo")); err != nil {
		return Machine{}, err
	}
	if m.KernelRelease, err = readText(filepath.Join(root, "proc/sys/kernel/osrelease")); err != nil {
		return Machine{}, fmt.Errorf("kernel release: %w", err)
	}
	if m.NICs, err = readNICs(filepath.Join(root, "sys/class/net")); err != nil {
		return Machine{}, err
	}
	if root == "/" {
		m.askProcessor(cpuid)
	}
	return m, nil
}

// readCPUInfo takes model, microcode and the hypervisor flag from the first
// CPU that reports them. Machines other than x86 report no model name there.
func (m *Machine) readCPUInfo(path string) error {
	fields, err := readFields(path)
	if err != nil {
		return fmt.Errorf("CPU model: %w", err)
	}
	m.CPUModel = fields["model name"]
	if m.CPUModel == "" {
		m.CPUModel = strings.TrimSpace(fields["CPU implementer"] + " " + fields["CPU part"])
	}
	m.Microcode = fields["microcode"]
	m.Virtual = slices.Contains(strings.Fields(fields["flags"]), "hypervisor")
	return nil
}

func (m *Machine) readMemory(path string) error {
	fields, err := readFields(path)
	if err != nil {
		return fmt.Errorf("memory size: %w", err)
	}
	if m.MemoryTotalBytes, err = parseKiB(fields["MemTotal"]); err != nil {
		return fmt.Errorf("memory size: MemTotal: %w", err)
	}
	if m.MemoryAvailableBytes, err = parseKiB(fields["MemAvailable"]); err != nil {
		return fmt.Errorf("memory size: MemAvailable: %w", err)
	}
	return nil
}

// readFields reads "name : value" lines; the first value of a name wins.
func readFields(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fields := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), ":")
		name = strings.TrimSpace(name)
		if _, seen := fields[name]; found && !seen {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields, lines.Err()
}

func parseKiB(text string) (int64, error) {
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || unit != "kB" {
		return 0, fmt.Errorf("%q is not a size in kB", text)
	}
	return n << 10, nil
}

func readNICs(dir string) ([]NIC, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("network interfaces: %w", err)
	}
	var out []NIC
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		_, deviceErr := os.Stat(filepath.Join(path, "device"))
		nic := NIC{Name: entry.Name(), Virtual: deviceErr != nil}
		// Type 772 is ARPHRD_LOOPBACK of if_arp.h.
		nic.Loopback = readIntOr(filepath.Join(path, "type"), 0) == 772
		if mbit := readIntOr(filepath.Join(path, "speed"), -1); mbit > 0 {
			nic.SpeedBitsPerSec = int64(mbit) * 1e6
		}
		out = append(out, nic)
	}
	return out, nil
}

// CPU returns an online CPU.
func (m Machine) CPU(id int) (CPU, bool) {
	for _, c := range m.CPUs {
		if c.ID == id {
			return c, true
		}
	}
	return CPU{}, false
}

// SMT reports whether any core has more than one hardware thread.
func (m Machine) SMT() bool {
	return slices.ContainsFunc(m.CPUs, func(c CPU) bool { return len(c.Siblings) > 1 })
}

// DataCache returns the cache of that level that holds data.
func (m Machine) DataCache(level int) (Cache, bool) {
	for _, c := range m.Caches {
		if c.Level == level && c.Type != CacheInstruction {
			return c, true
		}
	}
	return Cache{}, false
}

// InstructionCache returns the L1 cache that holds instructions.
func (m Machine) InstructionCache() (Cache, bool) {
	for _, c := range m.Caches {
		if c.Level == 1 && c.Type != CacheData {
			return c, true
		}
	}
	return Cache{}, false
}

// needs makes a kernel's Supported of the cache that it cannot do without.
func needs(cache func(Machine) (Cache, error)) func(Machine) error {
	return func(m Machine) error {
		_, err := cache(m)
		return err
	}
}

// LLC returns the last-level cache: the highest level reported, if it is
// above the first.
func (m Machine) LLC() (Cache, bool) {
	for level := 4; level > 1; level-- {
		if c, ok := m.DataCache(level); ok {
			return c, true
		}
	}
	return Cache{}, false
}

// belowLLC returns the size in bytes of the data cache one level below the
// last, 0 where none is reported.
func (m Machine) belowLLC() int64 {
	llc, ok := m.LLC()
	if !ok {
		return 0
	}
	below, _ := m.DataCache(llc.Level - 1)
	return below.SizeBytes
}
