package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

const (
	// setSize applications are there at once, with their memory.
	setSize = 12
	// reach is how many of the next ones in its set's circle an application is
	// paired with: each is in twice as many pairs.
	reach = 3
)

// set is a number of applications that are there at once, and their pairs.
type set struct {
	apps  []catalogue.Application
	pairs []pairs.Choice
}

// planPairs chooses the pairs: the applications are shuffled into sets of about
// setSize, and inside a set, as on a circle, each is paired with the next few.
// Every pair is measured in both placements. It depends on its arguments only.
func planPairs(apps []catalogue.Application, seed uint64) []set {
	if len(apps) < 2 {
		return nil
	}
	random := rand.New(rand.NewPCG(seed, seed))
	shuffled := slices.Clone(apps)
	slices.SortFunc(shuffled, func(a, b catalogue.Application) int { return strings.Compare(a.ID, b.ID) })
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	count := max(1, (len(shuffled)+setSize/2)/setSize)
	var out []set
	for i := range count {
		part := shuffled[i*len(shuffled)/count : (i+1)*len(shuffled)/count]
		out = append(out, set{part, circle(part)})
	}
	return out
}

func circle(apps []catalogue.Application) []pairs.Choice {
	var out []pairs.Choice
	seen := map[[2]string]bool{}
	for step := 1; step <= reach; step++ {
		for i := range apps {
			a, b := apps[i].ID, apps[(i+step)%len(apps)].ID
			if a == b || seen[[2]string{b, a}] || seen[[2]string{a, b}] {
				continue
			}
			seen[[2]string{a, b}] = true
			out = append(out, pairs.Choice{A: a, B: b, Placement: pairs.Same}, pairs.Choice{A: a, B: b, Placement: pairs.Beside})
		}
	}
	return out
}

// without leaves out what was measured, and the applications that nothing is then
// paired with.
func (s set) without(measured map[pairs.Choice]bool) set {
	var out set
	used := map[string]bool{}
	for _, c := range s.pairs {
		if !measured[c] {
			out.pairs = append(out.pairs, c)
			used[c.A], used[c.B] = true, true
		}
	}
	for _, a := range s.apps {
		if used[a.ID] {
			out.apps = append(out.apps, a)
		}
	}
	return out
}

// measurePairs measures the pairs that are missing in the pair table. The
// choice follows from the catalogue and the seed, whatever was measured before.
func measurePairs(ctx context.Context, apps []catalogue.Application, s settings) (err error) {
	path := filepath.Join(s.folder, training.PairsFolder, training.PairsFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	known, err := training.LoadPairsFrom(path)
	if err != nil {
		return err
	}
	measured := map[pairs.Choice]bool{}
	for _, p := range known {
		measured[pairs.Choice{A: p.A.Application, B: p.B.Application, Placement: p.Placement}] = true
	}
	var left []set
	for _, z := range planPairs(apps, s.seed) {
		if z = z.without(measured); len(z.pairs) > 0 {
			left = append(left, z)
		}
	}
	if len(left) == 0 {
		fmt.Println("nothing is missing")
		return nil
	}
	l, err := openLab(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop(context.WithoutCancel(ctx))) }()
	var failures []error
	for i, z := range left {
		fmt.Printf("[set %d/%d, about %s to go] %d pairs of %d applications\n", i+1, len(left), pairsTime(left[i:]).Round(time.Minute), len(z.pairs), len(z.apps))
		err := l.measureSet(ctx, i, z, path)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "training:", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// setOverhead is for the start of a set's applications, and their end.
const setOverhead = 40 * time.Second

func pairsTime(left []set) time.Duration {
	var out time.Duration
	for _, z := range left {
		out += pairs.Request{Pairs: z.pairs}.Duration() + setOverhead
	}
	return out
}

// measureSet runs the applications of a set as the tasks of one allocation and
// appends what is measured to the pair table as it comes.
func (l *lab) measureSet(ctx context.Context, number int, z set, path string) error {
	other, err := l.otherCPU()
	if err != nil {
		return err
	}
	request := pairs.Request{
		Format: pairs.RequestFormat, Pairs: z.pairs, CPUs: []int{l.cpu, other},
		Configuration: l.node.Configuration, Seed: l.seed + uint64(number),
	}
	var tenants []tenant
	for i, a := range z.apps {
		t := tenant{app: a, task: "a" + strconv.Itoa(i), cores: 1}
		tenants = append(tenants, t)
		request.Applications = append(request.Applications, pairs.Application{
			Key: keyOf(a), Application: a.ID, Task: t.task, Target: t.target(), Probe: t.probe(),
		})
	}
	job, err := l.job("training-pairs-"+strconv.Itoa(number), tenants, "pairs", request)
	if err != nil {
		return err
	}
	taken, shown := 0, ""
	collect := func(alloc *api.Allocation) error {
		n, err := l.collect(alloc, path, taken)
		taken = n
		return err
	}
	look := func(alloc *api.Allocation) error {
		l.showPair(alloc, &shown)
		return collect(alloc)
	}
	// The file is complete only once the driver's task has ended.
	within := 4*request.Duration() + 15*time.Minute
	return l.conduct(ctx, job, within, look, collect)
}

// collect appends whole lines beyond the first taken of a run's results to the
// table and returns how many there are now.
func (l *lab) collect(alloc *api.Allocation, path string, taken int) (int, error) {
	data, err := l.file(alloc, "alloc", pairs.ResultFile)
	if err != nil {
		return taken, nil // nothing is measured yet
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	list, err := training.ReadPairs(bytes.NewReader(data))
	if err != nil {
		return taken, err
	}
	for _, p := range list[taken:] {
		if err := appendPair(path, p); err != nil {
			return taken, err
		}
		taken++
		fmt.Printf("    %-40s A %.3f [%.3f, %.3f]   B %.3f [%.3f, %.3f]\n", p.A.Application+" + "+p.B.Application+" "+p.Placement,
			p.A.Ratio, p.A.Low, p.A.High, p.B.Ratio, p.B.Low, p.B.High)
	}
	return taken, nil
}

func appendPair(path string, p profile.Pair) (err error) {
	training.RoundPair(&p)
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(line, '\n'))
	return err
}

// showPair prints what is waited for before the first pair.
func (l *lab) showPair(alloc *api.Allocation, shown *string) {
	data, err := l.file(alloc, "alloc", pairs.ProgressFile)
	if err != nil {
		return // not there yet
	}
	var p profiler.Progress
	if err := json.Unmarshal(data, &p); err != nil || p.Phase != profiler.PhaseWaiting || p.Message == *shown {
		return
	}
	*shown = p.Message
	fmt.Println("    " + p.Message)
}
