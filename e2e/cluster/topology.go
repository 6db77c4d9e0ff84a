package cluster

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SlowQuota is the CPU share of the emulated slow machine of Topology.
const SlowQuota = 0.4

// slowMHz is what the slow machine advertises: about SlowQuota of one core of
// today's servers, so that stock Nomad sees it as the small machine it is.
const slowMHz = 1000

// Topology returns the three clients of the demo and the tests for a machine
// whose logical CPUs are listed: alpha and beta get halves of the CPUs (of all
// but the last where there are three or more), and gamma the last CPU with
// SlowQuota of its time.
//
// On two CPUs beta and gamma share CPU 1: their tasks are co-runners although
// their nodes differ. On one CPU all three share it. The classes "fast-a",
// "fast-b" and "slow" are names; only the CPU sets and the quota are real.
func Topology(cpus []int) []Client {
	alpha, beta, gamma := splitCPUs(cpus)
	return []Client{
		{Name: "alpha", Class: "fast-a", CPUs: alpha},
		{Name: "beta", Class: "fast-b", CPUs: beta},
		{Name: "gamma", Class: "slow", CPUs: gamma, CPUQuota: SlowQuota, CPUMHz: slowMHz},
	}
}

// Described tells Nomad, and so the placer, what an operator of such machines would:
// which nodes are alike ("fast" and "slow" are the configurations), which share a
// machine, here their CPUs, and what CPU time each has to give. Nomad counts all CPUs of
// the machine, also where a client may use only some of them; together the nodes offer
// what there is. A clock of 0 is not known, and leaves that to Nomad.
func Described(clients []Client, coreMHz int) []Client {
	out := slices.Clone(clients)
	for i := range out {
		c := &out[i]
		c.Meta = maps.Clone(c.Meta)
		if c.Meta == nil {
			c.Meta = map[string]string{}
		}
		c.Meta["placer_sc"] = "fast"
		if coreMHz > 0 {
			c.CPUMHz = int(float64(coreMHz) * promised(clients, i))
		}
		if c.CPUQuota > 0 {
			c.Meta["placer_sc"] = "slow"
		}
		c.Meta["placer_machine"] = c.Name
		for _, other := range out[:i] {
			if slices.ContainsFunc(c.CPUs, func(cpu int) bool { return slices.Contains(other.CPUs, cpu) }) {
				c.Meta["placer_machine"] = other.Meta["placer_machine"]
			}
		}
	}
	return out
}

// promised is how many CPUs a client has to give: of CPUs it shares, what those with a
// quota may take is theirs, and the rest is divided evenly among the others.
func promised(clients []Client, of int) float64 {
	c := clients[of]
	if c.CPUQuota > 0 {
		return c.CPUQuota * float64(len(c.CPUs))
	}
	sum := 0.0
	for _, cpu := range c.CPUs {
		left, sharers := 1.0, 0.0
		for _, other := range clients {
			switch {
			case !slices.Contains(other.CPUs, cpu):
			case other.CPUQuota > 0:
				left -= other.CPUQuota
			default:
				sharers++
			}
		}
		sum += max(0, left) / sharers
	}
	return sum
}

// CoreMHz is the clock of one CPU as the kernel under root states it: the base frequency
// where there is one, as Nomad takes it, else that of the moment; 0 is not known.
func CoreMHz(root string) int {
	if text, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/cpu0/cpufreq/base_frequency")); err == nil {
		if kHz, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return kHz / 1000
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "cpu MHz" {
			continue
		}
		mhz, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err == nil {
			return int(mhz)
		}
	}
	return 0
}

// OneNode returns the one client of a measuring cluster: it has all CPUs, so that
// kernels may run next to what is measured.
func OneNode(cpus []int) []Client {
	return []Client{{Name: "solo", Class: "solo", CPUs: cpus}}
}

func splitCPUs(cpus []int) (alpha, beta, gamma []int) {
	n := len(cpus)
	if n < 2 {
		return cpus, cpus, cpus
	}
	fast := cpus
	if n > 2 {
		fast = cpus[:n-1]
	}
	half := (len(fast) + 1) / 2
	return fast[:half], fast[half:], cpus[n-1:]
}
