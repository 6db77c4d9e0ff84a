package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// The steps that a kill can fall into. The first five are stages of an evaluation, as the
// agent's log names them; the others are kinds of adaptation.
const (
	stepHold     = "hold"
	stepProfile  = "profile"
	stepClassify = "classify"
	stepPlace    = "place"
	stepRewrite  = "rewrite"
	stepTransfer = "transfer"
	stepMove     = "move"
	stepEvict    = "evict"
	noStep       = "between steps"
)

var allSteps = []string{stepHold, stepProfile, stepClassify, stepPlace, stepRewrite, stepTransfer, stepMove, stepEvict}

// kinds are the agent's words for adaptations.
var kinds = map[string]string{stepTransfer: "resize", stepMove: "move", stepEvict: "evict"}

var (
	stageLine      = regexp.MustCompile(`msg=stage job=(\S+) .*stage=(\w+)`)
	adaptationLine = regexp.MustCompile(`msg="adaptation begins" workload=(\S+) kind=(\w+)`)
	doneLine       = regexp.MustCompile(`msg=adaptation workload=(\S+) kind=(\w+)`)
)

// agentLog is what an agent has said so far, as far as it matters here.
type agentLog struct {
	leads  bool
	stages map[string]string // of jobs under evaluation
	acts   map[string]string // kinds of adaptation under way, by workload
	// seen counts the beginnings of each kind of adaptation.
	seen map[string]int
	// over are evaluations that have ended.
	over map[string]bool
}

// read folds in more of the log.
func (l *agentLog) read(text []byte) {
	for line := range bytes.Lines(text) {
		switch {
		case bytes.Contains(line, []byte(`msg="nomad-placer agent started"`)):
			*l = agentLog{seen: l.seen}
		case bytes.Contains(line, []byte("msg=leading")):
			l.leads = true
		case bytes.Contains(line, []byte(`msg="leadership lost"`)):
			l.leads, l.stages, l.acts = false, nil, nil
		default:
			l.readWork(string(line))
		}
	}
}

func (l *agentLog) readWork(line string) {
	if m := stageLine.FindStringSubmatch(line); m != nil {
		if l.stages == nil {
			l.stages = map[string]string{}
		}
		l.stages[m[1]] = m[2]
		if slices.Contains([]string{"observe", "done", "failed"}, m[2]) {
			delete(l.stages, m[1])
			if l.over == nil {
				l.over = map[string]bool{}
			}
			l.over[m[1]] = true
		}
	}
	if m := adaptationLine.FindStringSubmatch(line); m != nil {
		if l.acts == nil {
			l.acts = map[string]string{}
		}
		if l.seen == nil {
			l.seen = map[string]int{}
		}
		l.acts[m[1]] = m[2]
		l.seen[m[2]]++
		return
	}
	if m := doneLine.FindStringSubmatch(line); m != nil {
		delete(l.acts, m[1])
	}
}

// step is the latest step that anything is in.
func (l agentLog) step() string {
	for _, kind := range l.acts {
		for step, name := range kinds {
			if name == kind {
				return step
			}
		}
	}
	for _, step := range slices.Backward(allSteps) {
		for _, stage := range l.stages {
			if stage == step {
				return step
			}
		}
	}
	return noStep
}

// follower follows the log of the agent on a client.
type follower struct {
	dir string // of the client's allocations

	mu       sync.Mutex
	file     string
	searched time.Time // when file was found
	offset   int64
	log      agentLog
}

// searchEvery is how often it is looked whether another agent writes a log by now.
const searchEvery = 300 * time.Millisecond

// look reads what is new. What it returns is of this moment.
func (f *follower) look() agentLog {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readOn()
	return agentLog{leads: f.log.leads, stages: maps.Clone(f.log.stages), acts: maps.Clone(f.log.acts), seen: maps.Clone(f.log.seen), over: maps.Clone(f.log.over)}
}

func (f *follower) readOn() {
	if now := time.Now(); now.Sub(f.searched) > searchEvery {
		f.searched = now
		if newest := f.newest(); newest != f.file {
			f.file, f.offset = newest, 0
		}
	}
	if f.file == "" {
		return
	}
	file, err := os.Open(f.file)
	if err != nil {
		return // it was rotated away: the next look finds the newer one
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, f.offset, maxLogBytes))
	if err != nil {
		return // and so does this
	}
	whole := bytes.LastIndexByte(text, '\n') + 1 // the last line may be half written
	f.offset += int64(whole)
	f.log.read(text[:whole])
}

// maxLogBytes is more than an agent says between two looks.
const maxLogBytes = 64 << 20

// newest is the log that was written to last, of all allocations of an agent there.
func (f *follower) newest() string {
	files, err := filepath.Glob(filepath.Join(f.dir, "*", "alloc", "logs", "agent.stderr.*"))
	if err != nil {
		return ""
	}
	var newest string
	var at time.Time
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !info.ModTime().Before(at) {
			newest, at = file, info.ModTime()
		}
	}
	return newest
}

// followers are those of all clients, by name.
func (s *site) followers() map[string]*follower {
	out := map[string]*follower{}
	for i := range s.Clients() {
		name := s.Client(i).Name
		out[name] = &follower{dir: filepath.Join(s.Dir(), name, "data", "alloc")}
	}
	return out
}

// leader is the agent that leads: its client's name and its process; 0 where none does.
func (c *campaign) leader() (client string, pid int) {
	agents := c.site.agents()
	for name, f := range c.logs {
		if pid := agents[name]; f.look().leads && pid != 0 {
			return name, pid
		}
	}
	return "", 0
}

// The pace of aiming: an agent runs for a moment and is frozen until its log has arrived.
const (
	aimRun     = time.Millisecond
	aimFrozen  = 10 * time.Millisecond
	aimWithin  = 9 * time.Second // well below the lock's time to live
	aimLookFor = 5 * time.Millisecond
)

var errMissed = errors.New("the step was not met")

// aim kills the leading agent while a job is in a stage of its evaluation. begin makes the job
// need one.
func (c *campaign) aim(ctx context.Context, random *rand.Rand, step, job string, begin func() error) error {
	name, pid := c.leader()
	if pid == 0 {
		return fmt.Errorf("%w: no agent leads", errMissed)
	}
	f := c.logs[name]
	if err := begin(); err != nil {
		return err
	}
	until := time.Now().Add(aimWithin)
	for time.Now().Before(until) && ctx.Err() == nil {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("%w: the agent is gone", errMissed)
		}
		time.Sleep(aimFrozen)
		l := f.look()
		if l.stages["default/"+job] == step {
			return c.hit(pid, step)
		}
		if passed(l, "default/"+job, step) {
			until = time.Now() // it goes on, and another job is needed
		}
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return fmt.Errorf("%w: the agent is gone", errMissed)
		}
		time.Sleep(time.Duration(random.Int64N(int64(aimRun))))
	}
	return fmt.Errorf("%w: %s of %s", errMissed, step, job)
}

// passed reports whether an evaluation is beyond a step.
func passed(l agentLog, job, step string) bool {
	return l.over[job] || slices.Index(allSteps, l.stages[job]) > slices.Index(allSteps, step)
}

// began is a kind of adaptation that an agent begins, and the client that it is on.
type began struct{ client, step string }

// awaitAdaptation waits until an agent begins any adaptation.
func (c *campaign) awaitAdaptation(ctx context.Context, until time.Time) (began, error) {
	before := map[string]map[string]int{}
	for client, f := range c.logs {
		before[client] = f.look().seen
	}
	for time.Now().Before(until) {
		for client, f := range c.logs {
			seen := f.look().seen
			for step, kind := range kinds {
				if seen[kind] > before[client][kind] {
					return began{client, step}, nil
				}
			}
		}
		if err := cluster.Sleep(ctx, aimLookFor); err != nil {
			return began{}, err
		}
	}
	return began{}, fmt.Errorf("%w: no adaptation began", errMissed)
}

// strike kills the agent that adapts, unless the adaptation has ended meanwhile.
func (c *campaign) strike(b began) error {
	pid := c.site.agents()[b.client]
	if pid == 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return fmt.Errorf("%w: the agent is gone", errMissed)
	}
	time.Sleep(aimFrozen)
	for _, kind := range c.logs[b.client].look().acts {
		if kind == kinds[b.step] {
			return c.hit(pid, b.step)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		return fmt.Errorf("%w: the agent is gone", errMissed)
	}
	return fmt.Errorf("%w: the %s had ended", errMissed, b.step)
}

// hit is an aimed kill of the leading agent.
func (c *campaign) hit(pid int, step string) error {
	if err := c.shoot(pid, "leading agent", step); err != nil {
		return err
	}
	c.count(func(r *Result) { r.Aimed[step]++ })
	return nil
}

// presentStep is the step in which the agents are now.
func (c *campaign) presentStep() string {
	for _, f := range c.logs {
		if l := f.look(); l.leads {
			return l.step()
		}
	}
	return noStep
}

// shoot kills a process and counts it.
func (c *campaign) shoot(pid int, victim, step string) error {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("%w: the %s is gone: %w", errMissed, victim, err)
	}
	c.count(func(r *Result) {
		r.Kills++
		r.KillsOf[victim]++
		r.KillsIn[step]++
	})
	c.say("killed the %s (%s)", victim, step)
	return nil
}
