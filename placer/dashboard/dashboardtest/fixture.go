// Package dashboardtest holds records for tests of what shows records: a small
// cluster with one of everything, at a fixed time.
package dashboardtest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Records are records in memory. They are not written to while they are read.
type Records struct {
	AllDecisions    []cluster.Decision
	AllEvaluations  []cluster.Evaluation
	AllProfiles     map[string]profile.Profile
	AllProductions  map[string]profile.Production
	AllNodes        []cluster.NodeRecord
	AllObservations map[cluster.WorkloadID][]cluster.Observation
	AllDiskLimits   map[cluster.WorkloadID][]cluster.DiskLimit
	AllActions      map[cluster.WorkloadID][]cluster.ActionRecord
	Rented          *provision.Report // nil: no nodes are rented
	Moved           *traffic.Report   // nil: no traffic was captured
	AllRuns         provision.Runs
	Err             error // what every method fails with
}

// Decisions returns a copy of all decisions.
func (m *Records) Decisions(context.Context) ([]cluster.Decision, error) {
	return slices.Clone(m.AllDecisions), m.Err
}

// Decision finds one decision.
func (m *Records) Decision(_ context.Context, w cluster.WorkloadID) (cluster.Decision, error) {
	for _, d := range m.AllDecisions {
		if d.Workload == w {
			return d, m.Err
		}
	}
	if m.Err != nil {
		return cluster.Decision{}, m.Err
	}
	return cluster.Decision{}, cluster.ErrNoRecord
}

// Evaluations returns a copy of all evaluations.
func (m *Records) Evaluations(context.Context) ([]cluster.Evaluation, error) {
	return slices.Clone(m.AllEvaluations), m.Err
}

// Profiles returns the sorted keys.
func (m *Records) Profiles(context.Context) ([]string, error) {
	var keys []string
	for k := range m.AllProfiles {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, m.Err
}

// Profile finds one profile.
func (m *Records) Profile(_ context.Context, key string) (profile.Profile, error) {
	if p, ok := m.AllProfiles[key]; ok {
		return p, m.Err
	}
	return profile.Profile{}, cluster.ErrNoRecord
}

// Productions returns the sorted keys.
func (m *Records) Productions(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(m.AllProductions)), m.Err
}

// Production finds what production says of one workload.
func (m *Records) Production(_ context.Context, key string) (profile.Production, error) {
	if p, ok := m.AllProductions[key]; ok {
		return p, m.Err
	}
	return profile.Production{}, cmp.Or(m.Err, cluster.ErrNoRecord)
}

// Nodes returns a copy of all nodes.
func (m *Records) Nodes(context.Context) ([]cluster.NodeRecord, error) {
	return slices.Clone(m.AllNodes), m.Err
}

// Observations returns a copy of a workload's observations.
func (m *Records) Observations(_ context.Context, w cluster.WorkloadID) ([]cluster.Observation, error) {
	return slices.Clone(m.AllObservations[w]), m.Err
}

// DiskLimits returns a copy of how a workload's use of disks is bounded.
func (m *Records) DiskLimits(_ context.Context, w cluster.WorkloadID) ([]cluster.DiskLimit, error) {
	return slices.Clone(m.AllDiskLimits[w]), m.Err
}

// Actions returns a copy of what was done to a workload.
func (m *Records) Actions(_ context.Context, w cluster.WorkloadID) ([]cluster.ActionRecord, error) {
	return slices.Clone(m.AllActions[w]), m.Err
}

// Provision is what is known of rented nodes.
func (m *Records) Provision(context.Context) (provision.Report, error) {
	if m.Rented == nil {
		return provision.Report{}, cmp.Or(m.Err, cluster.ErrNoRecord)
	}
	return *m.Rented, m.Err
}

// Capacity is that of the last hour.
func (m *Records) Capacity(context.Context) (provision.Capacities, error) {
	if m.Rented == nil {
		return nil, m.Err
	}
	var out provision.Capacities
	for i := range 60 {
		sample := provision.Capacity{At: Now.Add(time.Duration(i-60) * time.Minute), Owned: 16, Given: 8 + float64(i)/10}
		if i > 30 {
			sample.Serving, sample.Held = 4, 16
		}
		if i > 10 && i != 40 { // before that, and once in between, nothing was measured
			used := 5 + float64(i%7)/4
			sample.Used, sample.Unmeasured = &used, 1
		}
		out = append(out, sample)
	}
	return out, m.Err
}

// Traffic is what was captured.
func (m *Records) Traffic(context.Context) (traffic.Report, error) {
	if m.Moved == nil {
		return traffic.Report{}, cmp.Or(m.Err, cluster.ErrNoRecord)
	}
	return *m.Moved, m.Err
}

func fixtureMoved() *traffic.Report {
	next := 41e6
	r := &traffic.Report{
		From: Now.Add(-24 * time.Hour).Truncate(5 * time.Minute), To: Now.Truncate(5 * time.Minute), CapturedSeconds: 86100,
		Jobs: []traffic.Flow{
			{From: "default/web", To: "default/cache", Bytes: 6e12}, {From: "default/cache", To: "default/web", Bytes: 2e12},
			{From: "batch/encode", To: "default/cache", Bytes: 1e12}, {From: "batch/encode", To: "batch/encode", Bytes: 5e11}, {From: "default/web", To: traffic.Outside, Bytes: 4e11},
		},
		Nodes: []traffic.Flow{
			{From: "dc1/r1/alpha", To: "dc1/r2/beta", Bytes: 7e12}, {From: "dc1/r2/beta", To: "dc1/r1/alpha", Bytes: 2e12},
			{From: "dc1/r1/alpha", To: "dc1/r1/delta", Bytes: 1e12}, {From: "dc1/r1/alpha", To: traffic.Outside, Bytes: 4e11},
		},
		Uplinks: []traffic.Uplink{
			{Rack: "dc1/r1", BytesPerSec: 109e6, NextBytesPerSec: &next, Basis: "the same hour a day before"},
			{Rack: "dc1/r2", BytesPerSec: 104e6, Basis: "less than a day was captured, or not this hour"},
		},
	}
	for i := range 48 {
		r.Load = append(r.Load, traffic.Load{At: r.From.Add(time.Duration(i) * 30 * time.Minute), Captured: i != 7, SameRack: 12e6, OtherRack: 100e6 + 3e6*float64(i), Outside: 4e6})
	}
	return r
}

// Runs are a copy of those on record.
func (m *Records) Runs(context.Context) (provision.Runs, error) {
	out := m.AllRuns
	out.Runs = slices.Clone(out.Runs)
	return out, m.Err
}

func fixtureRented() *provision.Report {
	return &provision.Report{
		AtMillis: Now.UnixMilli(), Strategy: "HM", Mapping: "P8", Retention: 10, PerHour: 0.95, Today: 7.2,
		Types: []provision.TypeReport{
			{Name: "burst-4", NodeClass: "burst-4", Wanted: 1, Present: 1, Cores: 4, MemoryMB: 15000, PricePerHour: 0.19, SpinUpMillis: 48000},
			{Name: "burst-16", NodeClass: "c5.4xlarge", Wanted: 1, Cores: 16, MemoryMB: 60000, PricePerHour: 0.76, SpinUpMillis: 60000},
		},
		Nodes: []provision.NodeReport{
			{ID: "c0ffee00-1111-2222-3333-444455556666", Name: "burst-a", Type: "burst-4", State: provision.Serving, Why: "It has 2 jobs."},
			{Type: "burst-16", State: provision.Starting, Why: "It was ordered 20s ago for 1 job; nodes of its type take 1m0s on average, and the order is void after 10m0s."},
		},
		Days: []provision.DaySpend{{Day: "2026-03-12", Spent: 18.4}, {Day: "2026-03-13", Spent: 11.02, UnseenHours: 1.5}, {Day: "2026-03-14", Spent: 7.2}},
	}
}

// fixtureRuns are those of two days: a service that stays, work that comes every other hour, and a job
// whose end nobody saw.
func fixtureRuns() provision.Runs {
	run := func(w cluster.WorkloadID, before, took time.Duration, count int) provision.Run {
		return provision.Run{
			Workload: w, Submitted: Now.Add(-before - 20*time.Second), Started: Now.Add(-before), Ended: Now.Add(took - before), Gone: true,
			Count: count, Cores: 4, MemoryMB: 2048, Program: "3f2a9c",
		}
	}
	stays := run(CacheID, 40*time.Hour, 0, 2)
	stays.Service, stays.Gone, stays.Ended = true, false, time.Time{}
	lost := run(cluster.WorkloadID{Namespace: "batch", Job: "lost", Group: "main"}, 30*time.Hour, 0, 1)
	lost.Ended = time.Time{}
	out := provision.Runs{
		Since: Now.Add(-48 * time.Hour), Runs: []provision.Run{stays, lost},
		Programs: map[string]provision.Scores{"3f2a9c": provision.NewScores(fixtureSensitivity(), []interference.Source{
			interference.MemoryBandwidth, interference.LLCCapacity, interference.L1Data, interference.Integer,
		})},
	}
	for i := range 24 {
		r := run(EncodeDecision().Workload, time.Duration(47-2*i)*time.Hour, 40*time.Minute, 1+i%3)
		r.Program = "" // nothing is known of it
		out.Runs = append(out.Runs, r)
	}
	return out
}

// Now is the time of the fixture.
var Now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// Clock always says Now.
func Clock() time.Time { return Now }

func estimate(v, spread float64, origin interference.Origin) interference.Estimate {
	return interference.Estimate{
		Score: interference.Percent(v), Low: interference.Percent(v - spread), High: interference.Percent(v + spread), Origin: origin,
	}
}

// CacheID is the workload with a full record.
var CacheID = cluster.WorkloadID{Namespace: "default", Job: "cache", Group: "redis"}

// Fixture is a small cluster with one of everything.
func Fixture() *Records {
	m := &Records{AllProfiles: map[string]profile.Profile{}, AllObservations: map[cluster.WorkloadID][]cluster.Observation{}}
	m.AllDecisions = []cluster.Decision{CacheDecision(), EncodeDecision(), queuedDecision()}
	m.AllNodes = fixtureNodes()
	m.Rented, m.Moved, m.AllRuns = fixtureRented(), fixtureMoved(), fixtureRuns()
	m.AllProfiles["3f2a9c"] = fixtureProfile()
	m.AllProductions = map[string]profile.Production{"3f2a9c": fixtureProduction()}
	m.AllObservations[CacheID] = fixtureObservations()
	m.AllActions = map[cluster.WorkloadID][]cluster.ActionRecord{CacheID: fixtureActions()}
	fraction, remaining := 0.42, 31.0
	m.AllEvaluations = []cluster.Evaluation{{
		Job: cluster.JobID{Namespace: "default", ID: "search"}, Group: "index", JobVersion: 3, Stage: cluster.StageProfile,
		Message:   "measuring one copy on alpha next to the memory bandwidth kernel",
		StartedAt: Now.Add(-24 * time.Second), StageAt: Now.Add(-20 * time.Second), UpdatedAt: Now,
		Deadline: Now.Add(4 * time.Minute), Fraction: &fraction, RemainingSeconds: &remaining,
		Source: interference.MemoryBandwidth, IntensityPercent: 40,
	}}
	return m
}

func fixtureSensitivity() interference.Sensitivity {
	unknown := interference.Estimate{Note: "could not be told from noise in 12 s"}
	return interference.Sensitivity{
		Tolerated: interference.Scores{
			interference.LLCCapacity: estimate(35, 5, interference.Measured), interference.MemoryBandwidth: estimate(60, 10, interference.Measured),
			interference.L1Data: estimate(82, 12, interference.Predicted), interference.Integer: estimate(95, 4, interference.Predicted),
			interference.StorageBandwidth: estimate(100, 0, interference.Assumed), interference.NetworkBandwidth: unknown,
		},
		Caused: interference.Scores{
			interference.LLCCapacity: estimate(55, 8, interference.Measured), interference.MemoryBandwidth: estimate(30, 6, interference.Measured),
			interference.L1Data: estimate(20, 15, interference.Predicted), interference.Integer: estimate(40, 10, interference.Predicted),
			interference.StorageBandwidth: estimate(2, 2, interference.Assumed), interference.NetworkBandwidth: estimate(65, 12, interference.Predicted),
		},
	}
}

// CacheDecision is a decision with every field in use.
func CacheDecision() cluster.Decision {
	predicted := cluster.Prediction{Known: true, RatePerSec: 21300, Low: 20100, High: 22400, Unit: "requests/s"}
	sensitivity := fixtureSensitivity()
	moved := sensitivity.Tolerated[interference.MemoryBandwidth]
	moved.Note = "in production: from 55–90 to 50–70 points, by what counts as 3.2 independent experiments"
	moved.WithoutProduction = interference.Prior{Score: interference.Percent(72), Range: interference.Range{Low: interference.Percent(55), High: interference.Percent(90)}}
	sensitivity.Tolerated[interference.MemoryBandwidth] = moved
	return cluster.Decision{
		Format: cluster.DecisionFormat, Workload: CacheID, JobVersion: 4, ModifyIndex: 812, ProfileKey: "3f2a9c",
		At: Now.Add(-12 * time.Minute), Policy: "paragon", Seed: 7,
		Target:  performance.Target{Kind: performance.QPS, QPS: 20000, Latency: &performance.Latency{Percentile: 99, Max: 5 * time.Millisecond}},
		Outcome: cluster.Placed, Reason: "alpha is the least interfered node that reaches 20,000 requests/s.", Considered: 5,
		Candidates: []cluster.Candidate{
			{Node: "a1b2c3d4-0000-0000-0000-000000000001", Name: "alpha", Configuration: "fast", Score: 1, Predicted: predicted,
				Parts: []cluster.ScorePart{{Name: "D1", Value: 22}, {Name: "D2", Value: 9}}, Neighbours: []string{"default/web/nginx"},
				Why: "It leaves 22 points of headroom to nginx and reaches the target with 6 % to spare."},
			{Node: "a1b2c3d4-0000-0000-0000-000000000002", Name: "delta", Configuration: "fast", Score: 0.71,
				Predicted: cluster.Prediction{Known: true, RatePerSec: 20050, Low: 18700, High: 21100, Unit: "requests/s"},
				Why:       "It is kept for the day alpha is lost: it reaches the target, but only just."},
		},
		Rejected: []cluster.Rejection{
			{Node: "a1b2c3d4-0000-0000-0000-000000000003", Name: "beta", Reason: cluster.RejectInterference, Source: interference.LLCCapacity, Direction: cluster.D1, ByPoints: 12.5, Detail: "encode/ffmpeg tolerates 30 %"},
			{Node: "a1b2c3d4-0000-0000-0000-000000000004", Name: "gamma", Reason: cluster.RejectInterference, Source: interference.MemoryBandwidth, Direction: cluster.D2, ByPoints: 8},
			{Node: "a1b2c3d4-0000-0000-0000-000000000005", Name: "epsilon", Reason: cluster.RejectMemory, Detail: "256 MiB asked, 120 MiB free"},
		},
		RejectedBy: map[cluster.RejectReason]int{cluster.RejectInterference: 2, cluster.RejectMemory: 1},
		Relaxed:    []cluster.Relaxation{{Source: interference.Integer, Direction: cluster.D2, Points: 5}},
		Predicted:  predicted, Count: 1, Resources: cluster.Resources{Cores: 1, MemoryMB: 256, DiskMB: 300},
		Sensitivity: sensitivity,
		Warnings:    []string{"network bandwidth was not measured: the kernel could not be told from noise"},
		Steps: []cluster.Step{{Name: "hold", Duration: 14 * time.Millisecond}, {Name: "profile", Duration: 41 * time.Second},
			{Name: "classify", Duration: 900 * time.Microsecond}, {Name: "place", Duration: 2 * time.Millisecond}, {Name: "rewrite", Duration: 120 * time.Millisecond}},
	}
}

// EncodeDecision left a job to stock Nomad.
func EncodeDecision() cluster.Decision {
	return cluster.Decision{
		Workload: cluster.WorkloadID{Namespace: "batch", Job: "encode", Group: "ffmpeg"}, At: Now.Add(-3 * time.Hour), Policy: "paragon",
		Target:  performance.Target{Kind: performance.FinishWithin, FinishWithin: 10 * time.Minute},
		Outcome: cluster.Stock, Reason: "No node has the ibench driver, so the job runs where stock Nomad puts it.", Count: 1,
	}
}

func queuedDecision() cluster.Decision {
	return cluster.Decision{
		Workload: cluster.WorkloadID{Namespace: "default", Job: "render", Group: "frames"}, At: Now.Add(-40 * time.Second), Policy: "paragon",
		Target:  performance.Target{Kind: performance.Rate, Rate: 120, Unit: "frames"},
		Outcome: cluster.Queued, Reason: "Every node lacks room now.", Considered: 5, Count: 2,
		RejectedBy: map[cluster.RejectReason]int{cluster.RejectCPU: 5},
	}
}

func fixtureNodes() []cluster.NodeRecord {
	var out []cluster.NodeRecord
	for i, name := range []string{"alpha", "delta", "beta", "gamma", "epsilon"} {
		n := cluster.NodeRecord{
			Node: cluster.Node{ID: cluster.NodeID("a1b2c3d4-0000-0000-0000-00000000000" + string(rune('1'+i))), Name: name, Datacenter: "dc1",
				Pool: "default", Class: "fast", Configuration: "fast", Ready: i != 4, Kernels: i != 3,
				Total: cluster.Resources{CPUMHz: 5192, Cores: 2, MemoryMB: 8192, DiskMB: 40000}},
			Used: cluster.Resources{CPUMHz: 900 * i, MemoryMB: 1100 * (i + 1), DiskMB: 300}, At: Now.Add(-2 * time.Second),
			Pressure: cluster.Pressure{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
		}
		if i > 0 {
			n.Residents = []cluster.Resident{{Workload: CacheID, Allocations: i, Resources: cluster.Resources{Cores: 1, MemoryMB: 256}, Known: i != 2}}
		}
		for j, s := range []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity, interference.L1Data, interference.Integer, interference.NetworkBandwidth} {
			n.Pressure.Tolerated[s] = estimate(100-float64((i*17+j*9)%70), 0, interference.Measured)
			n.Pressure.Caused[s] = estimate(float64((i*23+j*5)%80), 0, interference.Measured)
			if i == 2 && j == 3 {
				n.Pressure.Caused[s] = interference.Estimate{}
			}
		}
		out = append(out, n)
	}
	return out
}

// fixtureProduction is what three days of the cache have taught.
func fixtureProduction() profile.Production {
	p := profile.Production{
		Format: profile.ProductionFormat, Key: "3f2a9c", Workload: CacheID.String(), Since: Now.Add(-72 * time.Hour), Updated: Now.Add(-4 * time.Minute),
		SlowdownMax: 5, Counted: 9,
		Suspicion: &profile.Suspicion{Odds: 12, Since: Now.Add(-24 * time.Minute), Experiments: 1, Less: 1, CoRunners: []string{"default/batch/encode"}},
	}
	p.Experiments = []profile.Experiment{
		{
			From: Now.Add(-5 * time.Hour), To: Now.Add(-3 * time.Hour), Allocation: "11f6", Node: "alpha", Configuration: "fast", Began: "1 allocation came next to it",
			Neighbours: []string{"default/batch/encode"}, Others: 1, Windows: 360, Independent: 121, Ratio: 0.91, Low: 0.89, High: 0.93,
			Predicted: 0.97, PredictedLow: 0.9, PredictedHigh: 1, Says: "its scores and those of what ran next to it changed",
		},
		{
			From: Now.Add(-24 * time.Minute), To: Now.Add(-4 * time.Minute), Allocation: "11f6", Node: "alpha", Configuration: "fast", Began: "its size changed",
			Windows: 60, Independent: 21, Says: "nothing: its performance in isolation with 2 cores is not known",
		},
	}
	return p
}

func fixtureProfile() profile.Profile {
	p := profile.Profile{
		Format: profile.Format, Key: "3f2a9c", Workload: CacheID.String(), Taken: Now.Add(-13 * time.Minute), SlowdownMax: 5, Target: CacheDecision().Target,
		Machine: profile.Machine{NodeName: "alpha", Configuration: "fast", CPUModel: "Example CPU at 2.6 GHz", Virtual: true},
		Isolated: map[string]profile.Measurement{"fast": {Value: 22600, Low: 22100, High: 23000, Unit: "requests/s", Windows: 16},
			"slow": {Value: 9100, Low: 8800, High: 9500, Unit: "requests/s", Windows: 12}},
		Sensitivity: fixtureSensitivity(), Duration: 41 * time.Second, Complete: true,
	}
	for i, speed := range []float64{11800, 22600, 39500} {
		p.ScaleUp = append(p.ScaleUp, profile.ScalePoint{Cores: 1 << i, MemoryMB: 256,
			Speed: profile.Measurement{Value: speed, Low: speed * 0.97, High: speed * 1.03, Unit: "requests/s", Windows: 8}})
	}
	for _, s := range []interference.Source{interference.LLCCapacity, interference.MemoryBandwidth} {
		for _, x := range []float64{20, 35, 40, 60, 100} {
			workload, kernel := 1-0.05*math.Pow(x/38, 2), 1-0.12*x/100
			p.Ramp = append(p.Ramp, profile.RampPoint{Source: s, IntensityPercent: x, Pairs: 8, Placement: "beside", AchievedPercent: 98,
				WorkloadRatio: &workload, WorkloadLow: shift(workload, -0.02), WorkloadHigh: shift(workload, 0.02),
				KernelRatio: &kernel, KernelLow: shift(kernel, -0.015), KernelHigh: shift(kernel, 0.015)})
		}
	}
	return p
}

func shift(v, by float64) *float64 { v += by; return &v }

func fixtureObservations() []cluster.Observation {
	var out []cluster.Observation
	for i := range 30 {
		rate := 20600 + 700*math.Sin(float64(i)/3)
		out = append(out, cluster.Observation{Allocation: "al-1", Node: "a1b2c3d4-0000-0000-0000-000000000001",
			At: Now.Add(time.Duration(i-30) * 10 * time.Second), Window: 10 * time.Second,
			Measure: performance.Measure{RatePerSec: rate, Goodput: rate, LatencyTail: 4100 * time.Microsecond}})
	}
	return out
}

func fixtureActions() []cluster.ActionRecord {
	return []cluster.ActionRecord{
		{At: Now.Add(-9 * time.Minute), Workload: CacheID, Kind: "grow", Allocation: "al-1", From: "1 core", To: "2 cores",
			Reason: "12 % below its target for 90 s", Result: "done"},
		{At: Now.Add(-5 * time.Minute), Workload: CacheID, Kind: "move", From: "node alpha", To: "node delta",
			Reason: "gamma exerts pressure on the last-level cache", Result: "the job does not allow moves"},
	}
}
