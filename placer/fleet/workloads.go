package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// Workload is a group of a job that somebody has a file of.
type Workload struct {
	Job      map[string]any // in Nomad's JSON form
	Workload cluster.Workload
}

// name is what a workload is called in a campaign.
func (w Workload) name() string { return w.Workload.ID.Job + "/" + w.Workload.ID.Group }

// says is all of a workload that a measurement depends on: the group as its user wrote it.
func (w Workload) says() any {
	var group any
	groups, _ := w.Job["TaskGroups"].([]any)
	for _, g := range groups {
		if g, ok := g.(map[string]any); ok && g["Name"] == w.Workload.ID.Group {
			group = g
		}
	}
	return struct {
		Job         any `json:"job"`
		Group       any `json:"group"`
		Constraints any `json:"constraints"`
	}{w.Workload.ID.Job, group, w.Job["Constraints"]}
}

// baselineSeconds are for the performance in isolation, before the first source, and startSeconds for
// a workload to do its first work.
const (
	baselineSeconds = 10
	startSeconds    = 10
)

// Profiles are units that measure each workload next to the kernels, as rows of the training set are.
func Profiles(w *nomadapi.World, workloads []Workload, sources []interference.Source, secondsPerSource int) []Unit {
	var out []Unit
	for _, load := range workloads {
		request := func(n *cluster.Node) cluster.ProfileRequest {
			r := cluster.ProfileRequest{Workload: load.Workload, Node: *n, Sources: offered(n, sources), Sweep: true}
			r.ID, r.Job.ID = load.Workload.ID.String(), load.Workload.ID.JobID()
			r.Seconds = len(r.Sources)*secondsPerSource + baselineSeconds
			return r
		}
		out = append(out, Unit{
			Kind: nomadapi.DriverProfile, Name: load.name(),
			Says: struct {
				Workload any                   `json:"workload"`
				Sources  []interference.Source `json:"sources"`
				Seconds  int                   `json:"seconds_per_source"`
			}{load.says(), sources, secondsPerSource},
			Seconds: float64(len(sources)*secondsPerSource + baselineSeconds + startSeconds),
			Job: func(m nomadapi.Measuring) (map[string]any, error) {
				r := request(&m.Node)
				r.Deadline = m.Deadline
				return w.ProfilingJob(m, load.Job, r)
			},
			File: profiler.ResultDir + "/" + profiler.ResultFile,
			Check: func(n *cluster.Node, result []byte) error {
				var p profile.Profile
				if err := json.Unmarshal(result, &p); err != nil {
					return fmt.Errorf("the profile: %w", err)
				}
				if err := nomadapi.CheckProfile(p, request(n)); err != nil {
					return fmt.Errorf("the profile %w", err)
				}
				if !p.Complete {
					return fmt.Errorf("the profile is not complete: %s", strings.Join(p.Warnings, "; "))
				}
				return nil
			},
		})
	}
	return out
}

// offered are the sources that the driver of a node has a kernel for.
func offered(n *cluster.Node, sources []interference.Source) []interference.Source {
	var out []interference.Source
	for _, s := range sources {
		if support := n.Attributes.Text("driver." + nomadapi.KernelDriver + ".soi." + string(s)); support != "" && support != "unsupported" {
			out = append(out, s)
		}
	}
	return out
}

// Rows are the profiles of a report in the form of the training set: with where they come from, and
// without the identity of a node, which means nothing elsewhere.
func Rows(r *Report) ([]profile.Profile, error) {
	var out []profile.Profile
	for _, o := range r.Outcomes {
		if o.Kept == nil {
			continue
		}
		var p profile.Profile
		if err := json.Unmarshal(o.Kept.Result, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Unit, err)
		}
		visits := 0
		for _, point := range p.Ramp {
			visits = max(visits, point.Pairs)
		}
		p.Provenance = &profile.Provenance{
			Application: p.Workload, Kernels: "build " + o.Kept.Receipt.Build[:min(12, len(o.Kept.Receipt.Build))],
			Calibration: o.Kept.Calibration, Repetitions: visits,
		}
		p.Machine.NodeID, p.Machine.NodeName = "", ""
		training.Round(&p)
		out = append(out, p)
	}
	return out, nil
}

// Pairings are units that measure each two of the workloads together.
func Pairings(w *nomadapi.World, workloads []Workload, placements []string, rounds int) []Unit {
	var out []Unit
	for i, a := range workloads {
		for _, b := range workloads[i+1:] {
			out = append(out, pairing(w, a, b, placements, rounds))
		}
	}
	return out
}

func pairing(w *nomadapi.World, a, b Workload, placements []string, rounds int) Unit {
	request := pairs.Request{Format: pairs.RequestFormat, Rounds: rounds, Seed: 1}
	for _, placement := range placements {
		request.Pairs = append(request.Pairs, pairs.Choice{Placement: placement})
	}
	return Unit{
		Kind: nomadapi.DriverPairs, Name: a.name() + " + " + b.name(),
		Says: struct {
			A, B       any
			Placements []string
			Rounds     int
		}{a.says(), b.says(), placements, rounds},
		Seconds: request.Duration().Seconds() + startSeconds,
		Job: func(m nomadapi.Measuring) (map[string]any, error) {
			r := request
			r.Pairs, r.Configuration = slices.Clone(request.Pairs), m.Node.Configuration
			cpus, err := firstCPUs(m.Node.Attributes.Text(nomadapi.DriverCPUs))
			if err != nil {
				return nil, fmt.Errorf("%w: the CPUs of the driver of node %s: %w", nomadapi.ErrNoFit, m.Node.Name, err)
			}
			if r.CPUs = cpus; len(cpus) < 2 && slices.Contains(placements, pairs.Beside) {
				return nil, fmt.Errorf("%w: node %s has one CPU, and the placement %s needs two", nomadapi.ErrNoFit, m.Node.Name, pairs.Beside)
			}
			return w.PairJob(m, [2]nomadapi.PairSide{nomadapi.PairSide(a), nomadapi.PairSide(b)}, r)
		},
		File:  "alloc/" + pairs.ResultFile,
		Check: func(n *cluster.Node, result []byte) error { return checkPairs(n, result, a, b, placements) },
	}
}

// firstCPUs are the first two of a list such as "0-3,8".
func firstCPUs(list string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last < first {
			return nil, fmt.Errorf("%q is not a list of CPUs", list)
		}
		for cpu := first; cpu <= last && len(out) < 2; cpu++ {
			out = append(out, cpu)
		}
	}
	return out, nil
}

func checkPairs(n *cluster.Node, result []byte, a, b Workload, placements []string) error {
	measured, err := training.ReadPairs(bytes.NewReader(result))
	if err != nil {
		return err
	}
	if len(measured) != len(placements) {
		return fmt.Errorf("%d placements of the pair were measured, of %d", len(measured), len(placements))
	}
	for i, p := range measured {
		switch {
		case p.Placement != placements[i] || p.A.Key != a.Workload.ProfileKey || p.B.Key != b.Workload.ProfileKey:
			return errors.New("the result is of another pair")
		case p.Machine.Configuration != n.Configuration:
			return fmt.Errorf("the pair is of the configuration %q, and node %s is of %q", p.Machine.Configuration, n.Name, n.Configuration)
		}
	}
	return nil
}

// Pairs are those of a report, in the form of the pair table of the training set.
func Pairs(r *Report) ([]profile.Pair, error) {
	var out []profile.Pair
	for _, o := range r.Outcomes {
		if o.Kept == nil {
			continue
		}
		measured, err := training.ReadPairs(bytes.NewReader(o.Kept.Result))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Unit, err)
		}
		for i := range measured {
			training.RoundPair(&measured[i])
		}
		out = append(out, measured...)
	}
	return out, nil
}
