package chaostest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// answer is what the driver of a node makes of a request: a profiling run, or a transfer.
type answer int

const (
	does          answer = iota
	doesSlowly           // longer than anybody waits for it
	doesUnheard          // it is done long before Nomad hears of it
	refuses              // at once
	diesMeanwhile        // and what it had begun ends
	saysNothing
	writesHalf // of its result
	losesNode
	answers
)

var answerNames = [answers]string{
	"does what it is asked", "does it slowly", "does it, which Nomad hears late", "refuses", "dies meanwhile", "says nothing", "writes half of its result", "its node is lost",
}

// The names of the jobs that an agent makes for the driver.
const (
	runPrefix      = "placer-profile-"
	transferPrefix = "placer-lend-"
)

// How long the driver takes.
const (
	driverTakes     = 5 * time.Second
	driverTakesLong = 45 * time.Second
	heardAfter      = 12 * time.Second
)

// ofDriver is the part of a job that its driver reads.
type ofDriver struct {
	ID, Namespace string
	TaskGroups    []struct {
		Tasks []struct {
			Name, Driver string
			Resources    struct{ CPU, MemoryMB int64 }
			Config       struct {
				Profile []struct{ Request, Signature string }
				Lend    []struct {
					Allocation, Task, Signature string
					CPUMHz                      int64  `json:"cpu_mhz"`
					TimeSlice                   string `json:"time_slice"`
				}
			}
		}
	}
}

// started is called by Nomad, under its lock, for each new allocation.
func (r *run) started(alloc nomadtest.Object) {
	id, job, node := alloc["ID"].(string), alloc["JobID"].(string), alloc["NodeID"].(string)
	if !strings.HasPrefix(job, runPrefix) && !strings.HasPrefix(job, transferPrefix) {
		return
	}
	go r.drive(id, job, node)
}

// drive is the driver of a node at work.
func (r *run) drive(alloc, id, node string) {
	stored := r.nomad.Job("default", id)
	if stored == nil {
		return
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err)
	}
	var job ofDriver
	if err := json.Unmarshal(text, &job); err != nil {
		panic(err)
	}
	r.mu.Lock()
	how := r.history.driver[r.driven%len(r.history.driver)]
	r.driven++
	r.mu.Unlock()
	for _, task := range job.TaskGroups[0].Tasks {
		if task.Driver != nomadapi.KernelDriver {
			continue
		}
		q := signing.Request{Namespace: job.Namespace, Job: job.ID, Node: node, Task: task.Name, CPUMHz: task.Resources.CPU, MemoryMB: task.Resources.MemoryMB}
		for _, b := range task.Config.Profile {
			q.Work, q.Terms = signing.Profile, signing.ProfileTerms(b.Request)
			if r.signed(q, b.Signature) {
				r.profile(alloc, id, task.Name, b.Request, how)
			}
			return
		}
		for _, b := range task.Config.Lend {
			q.Work, q.Terms = signing.Lend, signing.LendTerms(b.Allocation, b.Task, b.CPUMHz, b.TimeSlice)
			if r.signed(q, b.Signature) {
				r.lend(alloc, id, task.Name, how)
			}
			return
		}
	}
}

// signed checks a signature as the driver does, by the clock of its machine, which no act
// sets.
func (r *run) signed(q signing.Request, signature string) bool {
	err := signing.Verify([]signing.Signer{driverKey.Signer()}, q, signature, time.Now())
	r.try(driverAsked, err == nil || r.history.has(stepServers), "the driver refuses %s: %v", q.Job, err)
	return err == nil
}

// profile makes a profiling run.
func (r *run) profile(alloc, job, task, request string, how answer) {
	var asked profiler.Request
	if err := json.Unmarshal([]byte(request), &asked); err != nil {
		panic(err)
	}
	write := func() {
		p := profile.Profile{
			Format: profile.Format, Key: asked.Key, Workload: asked.Workload, Taken: time.Now(), Complete: true, Target: asked.Target,
			Machine:     profile.Machine{NodeID: asked.NodeID, Configuration: asked.Configuration},
			Isolated:    map[string]profile.Measurement{asked.Configuration: {Value: 100, Low: 95, High: 105, Unit: "units/s", Windows: 10}},
			Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
		}
		for _, s := range asked.Sources {
			p.Sensitivity.Tolerated[s] = interference.Estimate{Score: interference.Percent(40), Origin: interference.Measured}
			p.Sensitivity.Caused[s] = interference.Estimate{Score: interference.Percent(30), Origin: interference.Measured}
		}
		text, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		if how == writesHalf {
			text = text[:len(text)/2]
		}
		r.nomad.WriteFile(alloc, profiler.ResultDir+"/"+profiler.ResultFile, text)
	}
	end := func(failed bool) {
		event := nomadtest.Object{"Type": "Terminated", "ExitCode": map[bool]int{true: 1}[failed], "DisplayMessage": "ended"}
		r.tell(job, alloc, func(a nomadtest.Object) {
			a["ClientStatus"] = map[bool]string{false: "complete", true: "failed"}[failed]
			a["TaskStates"] = nomadtest.Object{task: nomadtest.Object{"State": "dead", "Failed": failed, "Events": []any{event}}}
		})
	}
	switch how {
	case refuses:
		end(true)
	case diesMeanwhile:
		time.Sleep(driverTakes / 2)
		end(true)
	case saysNothing:
	case losesNode:
		time.Sleep(driverTakes / 2)
		r.tell(job, alloc, func(a nomadtest.Object) { a["ClientStatus"] = "lost" })
	case doesSlowly:
		time.Sleep(driverTakesLong)
		write()
		end(false)
	case doesUnheard:
		time.Sleep(driverTakes)
		write()
		time.Sleep(heardAfter)
		end(false)
	default:
		time.Sleep(driverTakes)
		write()
		end(false)
	}
}

// lend makes a transfer.
func (r *run) lend(alloc, job, task string, how answer) {
	out := func() {
		said := nomadtest.Object{"Type": "Driver", "DisplayMessage": profiler.TransferMessage + "a task"}
		r.tell(job, alloc, func(a nomadtest.Object) {
			states := a["TaskStates"].(nomadtest.Object)
			for name := range states {
				states[name] = nomadtest.Object{"State": "running", "Events": []any{said}}
			}
		})
	}
	fail := func() {
		r.tell(job, alloc, func(a nomadtest.Object) {
			event := nomadtest.Object{"Type": "Driver Failure", "DisplayMessage": "it cannot"}
			a["ClientStatus"], a["TaskStates"] = "failed", nomadtest.Object{task: nomadtest.Object{"State": "dead", "Failed": true, "Events": []any{event}}}
		})
	}
	switch how {
	case refuses:
		fail()
	case diesMeanwhile:
		out()
		time.Sleep(driverTakes)
		fail()
	case saysNothing, writesHalf:
	case losesNode:
		r.tell(job, alloc, func(a nomadtest.Object) { a["ClientStatus"] = "lost" })
	case doesSlowly:
		time.Sleep(driverTakesLong)
		out()
	case doesUnheard:
		time.Sleep(heardAfter)
		out()
	default:
		time.Sleep(time.Second)
		out()
	}
}

// tell has Nomad hear of an allocation, unless it was to end meanwhile.
func (r *run) tell(job, alloc string, change func(nomadtest.Object)) {
	r.nomad.UpdateAllocs("default", job, func(a nomadtest.Object) {
		if a["ID"] == alloc && a["DesiredStatus"] == "run" {
			change(a)
		}
	})
}

// driverKey signs what agents ask of the driver. It is the same in each history.
var driverKey = func() signing.Key {
	key, err := signing.NewKey(strings.NewReader(strings.Repeat("chaos", 20)))
	if err != nil {
		panic(err)
	}
	return key
}()

// unitsPerSecond is the target of a job that has one, of which its copies reach all.
const unitsPerSecond = 90

// withTarget is the block of a job that has one.
func withTarget() performance.Spec {
	return performance.Spec{
		Target: performance.Target{Kind: performance.Rate, Rate: unitsPerSecond}, Probe: &performance.ProbeSpec{Type: "log"},
		SlowdownMaxPercent: 5, Policy: "paragon", Move: true,
		Scale: performance.ScaleSpec{Count: []int{1, 2}, MemoryMB: []int{64, 128}}, Profile: performance.ProfileSpec{Seconds: int(driverTakes.Seconds())},
	}
}

// leftOver lists what agents made and did not take away in time.
func (r *run) leftOver() {
	for _, id := range r.nomad.JobIDs() {
		run, transfer := strings.HasPrefix(id, runPrefix), strings.HasPrefix(id, transferPrefix)
		switch {
		case run:
			r.mu.Lock()
			began := r.made[id]
			r.mu.Unlock()
			r.try(noneLeft, time.Since(began) < runsAtMost, "profiling run %s is there %s after it began", id, time.Since(began))
		case transfer:
			recipient := r.recipient(id)
			r.try(noneLeft, recipient, "transfer %s is there, and its recipient is not", id)
		}
	}
	r.try(noneLeft, true, "")
}

// recipient reports whether a transfer has one that runs.
func (r *run) recipient(id string) bool {
	meta, _ := r.nomad.Job("default", id)["Meta"].(nomadtest.Object)
	return slices.ContainsFunc(r.nomad.Allocations(), func(a nomadtest.Object) bool {
		return a["ID"] == meta["placer.borrower"] && a["DesiredStatus"] == "run" && a["ClientStatus"] == "running"
	})
}
