package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	checkReady    = 60 * time.Second // until the first tick: some load their data first
	checkWarm     = 300 * time.Millisecond
	checkWindow   = 250 * time.Millisecond
	checkWindows  = 8
	checkPoll     = 10 * time.Millisecond
	checkTooLong  = 100 * time.Millisecond // a tick longer than that makes windows coarse
	checkEndAfter = 5 * time.Second
)

// checked is what a short run of an application alone shows.
type checked struct {
	ready    time.Duration // until its first work
	rate     float64       // units/s
	tick     time.Duration
	noise    float64 // spread of the windows, a standard deviation over the median, by the MAD
	memoryMB int64   // of all its processes
}

// checkAll runs each application alone for two seconds, without Nomad.
func checkAll(ctx context.Context, apps []catalogue.Application, s settings) error {
	fmt.Printf("%-20s %8s %12s %10s %7s %7s  %s\n", "application", "ready s", "units/s", "tick ms", "noise", "MB", "unit")
	bad := 0
	for _, a := range apps {
		c, err := check(ctx, a, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			bad++
			fmt.Printf("%-20s FAILED: %v\n", a.ID, err)
			continue
		}
		note := ""
		if c.tick > checkTooLong {
			note += "  COARSE"
		}
		if c.memoryMB > int64(a.MemoryMB) {
			note += "  MORE MEMORY THAN SAID"
		}
		fmt.Printf("%-20s %8.1f %12.4g %10.2f %6.1f%% %7d  %s%s\n", a.ID, c.ready.Seconds(), c.rate,
			c.tick.Seconds()*1000, c.noise*100, c.memoryMB, a.Unit, note)
	}
	fmt.Printf("%d of %d applications work\n", len(apps)-bad, len(apps))
	if bad > 0 {
		return fmt.Errorf("%d applications do not work", bad)
	}
	return nil
}

func check(ctx context.Context, a catalogue.Application, s settings) (c checked, err error) {
	folder, err := os.MkdirTemp("", "training-check-")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// A server may be another user.
	if err := os.Chmod(folder, 0o755); err != nil {
		return c, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return c, err
	}
	place := catalogue.Place{
		Workload: s.workload, Inputs: s.inputs, CPUs: []int{s.cpu}, Cores: 1,
		Listen: "127.0.0.1:" + ports[0], AppPort: ports[1],
	}
	argv := a.Argv(place)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = folder, os.Environ()
	for name, value := range a.Environment(place) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = checkEndAfter
	if err := cmd.Start(); err != nil {
		return c, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended shows in the readings
		close(ended)
	}()
	c, err = observe(ctx, cmd.Process.Pid, place.Listen, ended)
	_ = cmd.Process.Signal(os.Interrupt) // the loop ends its command; gone is fine
	select {
	case <-ended:
	case <-time.After(checkEndAfter):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		err = errors.Join(err, errors.New("it did not end when asked to"))
	}
	if err != nil && said.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return c, err
}

// sample is one reading of a loop's counters.
type sample struct {
	units, ticks float64
	at           time.Time
}

// observe waits for the first work and takes windows.
func observe(ctx context.Context, pid int, address string, ended <-chan struct{}) (checked, error) {
	var c checked
	start := time.Now()
	for {
		s, err := scrape(ctx, address)
		if err == nil && s.ticks > 1 {
			break
		}
		select {
		case <-ended:
			return c, errors.New("it ended before any work")
		case <-ctx.Done():
			return c, ctx.Err()
		case <-time.After(checkPoll):
		}
		if time.Since(start) > checkReady {
			return c, errors.Join(errors.New("no work"), err)
		}
	}
	c.ready = time.Since(start)
	time.Sleep(checkWarm)
	var samples []sample
	for range checkWindows + 1 {
		s, err := scrape(ctx, address)
		if err != nil {
			return c, err
		}
		samples = append(samples, s)
		time.Sleep(checkWindow)
	}
	c.memoryMB = memoryOf(pid)
	return c.judge(samples), nil
}

func (c checked) judge(samples []sample) checked {
	var rates []float64
	for i := 1; i < len(samples); i++ {
		if d := samples[i].at.Sub(samples[i-1].at).Seconds(); d > 0 {
			rates = append(rates, (samples[i].units-samples[i-1].units)/d)
		}
	}
	first, last := samples[0], samples[len(samples)-1]
	took := last.at.Sub(first.at)
	c.rate = (last.units - first.units) / took.Seconds()
	c.tick = time.Duration(took.Seconds() / max(1, last.ticks-first.ticks) * 1e9)
	c.noise = stat.MAD(rates) / stat.Median(rates)
	return c
}

func scrape(ctx context.Context, address string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return sample{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return sample{}, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return sample{}, err
	}
	units, ticks := families["loop_units_total"], families["loop_ticks_total"]
	if units == nil || ticks == nil {
		return sample{}, fmt.Errorf("no counters of a loop at %s", address)
	}
	u := units.GetMetric()[0]
	return sample{u.GetCounter().GetValue(), ticks.GetMetric()[0].GetCounter().GetValue(), time.UnixMilli(u.GetTimestampMs())}, nil
}

// memoryOf is the memory of a process and all below it in MB; shared pages count
// by their share.
func memoryOf(pid int) int64 {
	var kilobytes int64
	todo, seen := []int{pid}, map[int]bool{}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		if seen[p] {
			continue
		}
		seen[p] = true
		todo = append(todo, children(p)...)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			var kb int64
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &kb); err == nil {
				kilobytes += kb
			}
		}
	}
	return kilobytes >> 10
}

func children(pid int) []int {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	found := map[int]bool{}
	for _, t := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue
		}
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				found[child] = true
			}
		}
	}
	var out []int
	for child := range maps.Keys(found) {
		out = append(out, child)
	}
	return out
}

// freePorts finds ports on which no process listens.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	return out, nil
}
