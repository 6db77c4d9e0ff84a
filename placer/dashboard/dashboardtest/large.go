package dashboardtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// nodesPerWorkload: Large has one workload for every fifth node.
const nodesPerWorkload = 5

// kind is a sort of workload that Large draws from.
type kind struct {
	job, group string
	target     performance.Target
	policy     string
	worst      interference.Source // what it is most sensitive to
}

var kinds = []kind{
	{"cache", "redis", performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}}, "paragon", interference.LLCCapacity},
	{"web", "nginx", performance.Target{Kind: performance.QPS, QPS: 8000, Latency: &performance.Latency{Percentile: 95, Max: 20 * time.Millisecond}}, "quasar", interference.NetworkBandwidth},
	{"encode", "ffmpeg", performance.Target{Kind: performance.Rate, Rate: 120, Unit: "frames"}, "paragon", interference.Vector},
	{"render", "frames", performance.Target{Kind: performance.Rate, Rate: 24, Unit: "frames"}, "tarcil", interference.FloatingPoint},
	{"report", "spark", performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Minute}, "quasar", interference.MemoryBandwidth},
	{"scrub", "batch", performance.Target{Kind: performance.BestEffort}, "least-loaded", interference.StorageBandwidth},
}

// Large is a cluster of that many nodes with a workload for every fifth, all
// drawn from one seed: the same number gives the same records.
func Large(nodes int) *Records {
	random := rand.New(rand.NewPCG(uint64(nodes), 1))
	m := &Records{AllProfiles: map[string]profile.Profile{}, AllObservations: map[cluster.WorkloadID][]cluster.Observation{}, AllActions: map[cluster.WorkloadID][]cluster.ActionRecord{}}
	for i := range nodes {
		m.AllNodes = append(m.AllNodes, largeNode(random, i))
	}
	for i := range max(1, nodes/nodesPerWorkload) {
		m.addWorkload(random, i)
	}
	m.AllEvaluations = Fixture().AllEvaluations
	return m
}

func largeNode(random *rand.Rand, i int) cluster.NodeRecord {
	classes := []string{"fast", "fast", "slow", "storage"}
	class := classes[i%len(classes)]
	cores := map[string]int{"fast": 16, "slow": 8, "storage": 12}[class]
	n := cluster.NodeRecord{
		Node: cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("%08x-0000-4000-8000-%012x", 0x51a7c000+i, i)), Name: fmt.Sprintf("%s-%04d", class, i), Datacenter: "dc1",
			Pool: "default", Class: class, Configuration: class, Ready: i%97 != 96, Kernels: i%50 != 49,
			Total: cluster.Resources{CPUMHz: cores * 2600, Cores: cores, MemoryMB: cores * 4096, DiskMB: 200000},
		},
		At: Now.Add(-2 * time.Second), Pressure: cluster.Pressure{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
	}
	load := random.Float64()
	for _, s := range interference.Sources() {
		if random.Float64() < 0.03 {
			continue // unknown
		}
		n.Pressure.Tolerated[s.Source] = interference.Estimate{Score: interference.Percent(100 - 85*load*random.Float64())}
		n.Pressure.Caused[s.Source] = interference.Estimate{Score: interference.Percent(95 * load * math.Sqrt(random.Float64()))}
	}
	n.Used = cluster.Resources{CPUMHz: int(load * float64(n.Node.Total.CPUMHz)), MemoryMB: int(load * 0.8 * float64(n.Node.Total.MemoryMB)), DiskMB: 3000}
	return n
}

// addWorkload adds the i-th workload: its decision on two nodes, which get it
// as a resident, its profile, and what was measured of it.
func (m *Records) addWorkload(random *rand.Rand, i int) {
	k := kinds[i%len(kinds)]
	w := cluster.WorkloadID{Namespace: "default", Job: fmt.Sprintf("%s-%03d", k.job, i), Group: k.group}
	d := CacheDecision()
	d.Workload, d.Policy, d.Target, d.At, d.ProfileKey = w, k.policy, k.target, Now.Add(-time.Duration(i+1)*7*time.Minute), fmt.Sprintf("%012x", 0x5eed00+i)
	d.Considered, d.Count, d.Warnings, d.Relaxed = len(m.AllNodes), 2, nil, nil
	d.Sensitivity = largeSensitivity(random, k.worst)
	d.Rejected, d.RejectedBy = nil, map[cluster.RejectReason]int{}
	want, _, hasTarget := k.target.Value()
	ratio := 0.93 + 0.22*random.Float64() // of what is reached to what is wanted
	d.Predicted = cluster.Prediction{}
	if k.target.Kind == performance.QPS || k.target.Kind == performance.Rate {
		d.Predicted = cluster.Prediction{Known: true, RatePerSec: want * 1.06, Low: want * 1.01, High: want * 1.12, Unit: k.target.RateUnit()}
	}
	switch {
	case i%17 == 16:
		d.Outcome, d.Reason, d.Candidates = cluster.Stock, "No node has the ibench driver, so the job runs where stock Nomad puts it.", nil
	case i%23 == 22:
		d.Outcome, d.Reason, d.Candidates = cluster.Queued, "Every node lacks room now.", nil
		d.RejectedBy[cluster.RejectCPU] = len(m.AllNodes)
	default:
		m.place(random, i, &d)
	}
	m.AllDecisions = append(m.AllDecisions, d)
	p := fixtureProfile()
	p.Key, p.Workload, p.Target, p.Sensitivity, p.Taken = d.ProfileKey, w.String(), k.target, d.Sensitivity, d.At.Add(-time.Minute)
	m.AllProfiles[p.Key] = p
	if hasTarget && d.Outcome != cluster.Queued {
		m.AllObservations[w] = largeObservations(random, k.target, want*ratio)
	}
	if i%6 == 0 {
		m.AllActions[w] = fixtureActions()
	}
}

func (m *Records) place(random *rand.Rand, i int, d *cluster.Decision) {
	d.Candidates = d.Candidates[:2]
	for j := range d.Candidates {
		n := &m.AllNodes[(i*nodesPerWorkload+j*3)%len(m.AllNodes)]
		c := &d.Candidates[j]
		c.Node, c.Name, c.Configuration, c.Predicted, c.Neighbours = n.Node.ID, n.Node.Name, n.Node.Configuration, d.Predicted, nil
		c.Score = 1 - 0.1*float64(j)
		c.Why = "It leaves the most headroom of the nodes that reach the target."
		n.Residents = append(n.Residents, cluster.Resident{Workload: d.Workload, Allocations: 1, Resources: d.Resources, Known: i%11 != 10})
	}
	d.Reason = fmt.Sprintf("%s and %s are the least interfered nodes that reach the target.", d.Candidates[0].Name, d.Candidates[1].Name)
	for range 5 {
		n := &m.AllNodes[random.IntN(len(m.AllNodes))]
		d.Rejected = append(d.Rejected, cluster.Rejection{Node: n.Node.ID, Name: n.Node.Name, Reason: cluster.RejectInterference,
			Source: interference.LLCCapacity, Direction: cluster.D1, ByPoints: math.Round(random.Float64()*300) / 10})
	}
	d.RejectedBy[cluster.RejectInterference] = 5 + random.IntN(len(m.AllNodes))
}

func largeSensitivity(random *rand.Rand, worst interference.Source) interference.Sensitivity {
	s := interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
	for j, info := range interference.Sources() {
		origin := interference.Predicted
		if j%4 == 0 || info.Source == worst {
			origin = interference.Measured
		}
		tolerated := 45 + 55*random.Float64()
		if info.Source == worst {
			tolerated = 15 + 20*random.Float64()
		}
		s.Tolerated[info.Source] = estimate(tolerated, 3+6*random.Float64(), origin)
		s.Caused[info.Source] = estimate(60*random.Float64(), 3+6*random.Float64(), origin)
	}
	return s
}

func largeObservations(random *rand.Rand, t performance.Target, mean float64) []cluster.Observation {
	var out []cluster.Observation
	for i := range 30 {
		for j := range 2 {
			o := cluster.Observation{Allocation: fmt.Sprintf("allocation-%d", j), At: Now.Add(time.Duration(i-30) * 20 * time.Second), Window: 20 * time.Second}
			value := mean * (1 + 0.06*random.NormFloat64())
			if t.Kind == performance.FinishWithin {
				o.FinishedIn = time.Duration(value * float64(time.Second))
			} else {
				o.Measure = performance.Measure{RatePerSec: value / 2, Goodput: value / 2}
			}
			if t.Latency != nil {
				o.Measure.LatencyTail = time.Duration(float64(t.Latency.Max) * (0.7 + 0.2*random.Float64()))
			}
			out = append(out, o)
		}
	}
	return out
}
