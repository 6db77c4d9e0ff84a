package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// machines is a cluster of jobs that end as soon as they are looked at.
type machines struct {
	Cluster // what is not of jobs
	ends    func(registered int) State
	refuses error

	registered []string
	states     map[string]State
	ended      int
}

func (m *machines) Register(_ context.Context, job map[string]any) error {
	if m.refuses != nil {
		return m.refuses
	}
	id, _ := job["ID"].(string)
	m.registered = append(m.registered, id)
	m.states[id] = m.ends(len(m.registered))
	return nil
}

func (m *machines) States(context.Context, string) (map[string]State, error) { return m.states, nil }

func (m *machines) Forget(_ context.Context, id string) error {
	delete(m.states, id)
	return nil
}

func (m *machines) End(context.Context, string) error {
	m.ended++
	clear(m.states)
	return nil
}

func (m *machines) Blocked(context.Context, string) (string, error) { return "no room (cpu)", nil }

// jobsRun is a run of three units, each with what it says.
type jobsRun struct {
	taken, over []int
	left        map[int]string
	said        []string
	err         error
}

func runJobs(t *testing.T, m *machines, o Options, next func(unit, call int) (map[string]any, error), take func(unit int, s State) error) *jobsRun {
	t.Helper()
	m.states = map[string]State{}
	out := &jobsRun{left: map[int]string{}}
	now := &clock{}
	o.Job, o.Now, o.After, o.Says = "fleet", now.Now, now.After, func(text string) { out.said = append(out.said, text) }
	calls := 0
	out.err = RunJobs(t.Context(), m, o, Jobs{
		Names: []string{"a", "b", "c"},
		Next: func(_ context.Context, unit int, id string) (map[string]any, error) {
			calls++
			job, err := next(unit, calls)
			if job != nil {
				job["ID"] = id
			}
			return job, err
		},
		Take: func(_ context.Context, unit int, s State) error {
			if err := take(unit, s); err != nil {
				return err
			}
			out.taken = append(out.taken, unit)
			return nil
		},
		Over:    func(unit int) { out.over = append(out.over, unit) },
		LeftOut: func(unit int, why error) { out.left[unit] = why.Error() },
	})
	if len(m.states) > 0 || m.ended == 0 {
		t.Errorf("left on the cluster: %v", m.states)
	}
	slices.Sort(out.taken)
	return out
}

func ended(int) State {
	return State{Ended: true, Node: "alpha", Allocation: &api.AllocationListStub{ID: "x"}}
}

func anyNode(int, int) (map[string]any, error) { return map[string]any{}, nil }

func takeAll(int, State) error { return nil }

func TestRunJobs(t *testing.T) {
	t.Parallel()
	m := &machines{ends: ended}
	got := runJobs(t, m, Options{AtOnce: 1}, anyNode, takeAll)
	if got.err != nil || !slices.Equal(got.taken, []int{0, 1, 2}) || len(got.over) != 3 || len(got.left) > 0 {
		t.Errorf("%+v", got)
	}
	if len(m.registered) != 3 || !strings.HasPrefix(m.registered[0], "fleet/dispatch-a-") || m.ended != 2 {
		t.Errorf("registered %q, ended %d times", m.registered, m.ended)
	}
}

// A unit that is lost is done again under another ID, and one that cannot be done costs no other.
func TestRunJobsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends func(int) State
		next func(unit, call int) (map[string]any, error)
		take func(unit int, s State) error
		left string // of the unit b; empty: it is done
		said string
	}{
		"lost once": {
			ends: func(n int) State {
				if n == 2 {
					return State{Ended: true, Failed: true, Why: "its node was lost", Node: "beta", Allocation: &api.AllocationListStub{}}
				}
				return ended(n)
			},
			take: func(_ int, s State) error {
				if s.Failed {
					return errors.New(s.Why)
				}
				return nil
			},
			said: "handed out again: b, for its node was lost (node beta)",
		},
		"always torn": {
			take: func(unit int, _ State) error {
				if unit == 1 {
					return errors.New("it is torn")
				}
				return nil
			},
			left: "tried 3 times: it is torn",
		},
		"no node for it": {
			next: func(unit, _ int) (map[string]any, error) {
				if unit == 1 {
					return nil, fmt.Errorf("%w: others run there", ErrLeftOut)
				}
				return map[string]any{}, nil
			},
			left: "left out: others run there",
		},
		"a node later": {
			next: func(unit, call int) (map[string]any, error) {
				if unit == 1 && call < 50 {
					return nil, nil
				}
				return map[string]any{}, nil
			},
		},
		"no room when it comes": {
			ends: func(n int) State {
				if n == 2 {
					return State{}
				}
				return ended(n)
			},
			said: "handed out again: b, for no node takes it: no room (cpu)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ends == nil {
				c.ends = ended
			}
			if c.next == nil {
				c.next = anyNode
			}
			if c.take == nil {
				c.take = takeAll
			}
			got := runJobs(t, &machines{ends: c.ends}, Options{Attempts: 3}, c.next, c.take)
			want := []int{0, 1, 2}
			if c.left != "" {
				want = []int{0, 2}
			}
			if got.err != nil || !slices.Equal(got.taken, want) || got.left[1] != c.left {
				t.Errorf("%+v", got)
			}
			if c.said != "" && !strings.Contains(strings.Join(got.said, "\n"), c.said) {
				t.Errorf("said %q", got.said)
			}
		})
	}
}

// What Nomad refuses, and what who asked does not take, end the run.
func TestRunJobsEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(server.Close)
	client, err := api.NewClient(&api.Config{Address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	refused := Nomad{client}.Register(t.Context(), map[string]any{"ID": "x", "Namespace": "default"})
	got := runJobs(t, &machines{ends: ended, refuses: refused}, Options{}, anyNode, takeAll)
	if statusOf(got.err) != http.StatusForbidden || !slices.Equal(got.over, []int{0}) {
		t.Errorf("refused: %+v", got)
	}
	full := errors.New("the disk is full")
	got = runJobs(t, &machines{ends: ended}, Options{}, anyNode, func(int, State) error { return fmt.Errorf("%w: %w", ErrNotTaken, full) })
	if !errors.Is(got.err, full) {
		t.Errorf("not taken: %+v", got)
	}
}

// Why a task failed is what it says, and not that Nomad does not start it again.
func TestWhyFailed(t *testing.T) {
	t.Parallel()
	task := func(events ...*api.TaskEvent) *api.AllocationListStub {
		return &api.AllocationListStub{ClientStatus: api.AllocClientStatusFailed, TaskStates: map[string]*api.TaskState{"web": {Failed: true, Events: events}}}
	}
	notAgain := &api.TaskEvent{Type: api.TaskNotRestarting, FailsTask: true, DisplayMessage: "Policy allows no restarts"}
	for want, a := range map[string]*api.AllocationListStub{
		"calibrate: not allowed":        task(&api.TaskEvent{Type: api.TaskDriverFailure, DisplayMessage: "calibrate: not allowed"}, notAgain),
		"task web ended: Exit Code: 3":  task(&api.TaskEvent{Type: api.TaskTerminated, DisplayMessage: "Exit Code: 3"}, notAgain),
		"it failed":                     task(notAgain),
		"failed to download an archive": task(&api.TaskEvent{Type: api.TaskArtifactDownloadFailed, FailsTask: true, DisplayMessage: "failed to download an archive"}),
	} {
		if got := stateOf(a); !got.Failed || got.Why != want {
			t.Errorf("%q, want %q", got.Why, want)
		}
	}
}
