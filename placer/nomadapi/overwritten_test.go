package nomadapi

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// atTheMoment lets a user act when Nomad has compared the index of the next registration.
func atTheMoment(server *nomadtest.Server, act func()) {
	var done sync.Once
	server.OnCompared = func(string, string) { done.Do(act) }
}

// second is the version of a user that comes at the moment of a release.
func second() nomadtest.Object {
	spec := testJob("web", "ok")
	spec["Priority"] = 70
	return spec
}

// moments are what a user may do at the moment of a release, with what then counts.
var moments = map[string]struct {
	act  func(*nomadtest.Server)
	want error
	kept func(*testing.T, *nomadtest.Server)
}{
	"a new version": {
		func(s *nomadtest.Server) { s.Submit(second(), "the second text") }, cluster.ErrStale,
		func(t *testing.T, s *nomadtest.Server) {
			job := object(s.Job("default", "web"))
			if job.number("Priority") != 70 || job.text("NodePool") != DefaultHoldPool || s.Source("default", "web", int(job.number("Version"))) != "the second text" {
				t.Errorf("the user's version is not kept: %v", job)
			}
		},
	},
	"two new versions": {
		func(s *nomadtest.Server) {
			s.Submit(testJob("web", ""), "")
			s.Submit(second(), "")
		}, cluster.ErrStale,
		func(t *testing.T, s *nomadtest.Server) {
			if job := object(s.Job("default", "web")); job.number("Priority") != 70 {
				t.Errorf("the user's newest version is not kept: %v", job)
			}
		},
	},
	"a stop": {
		func(s *nomadtest.Server) { s.Stop("default", "web") }, cluster.ErrGone,
		func(t *testing.T, s *nomadtest.Server) {
			if job := object(s.Job("default", "web")); !job.boolean("Stop") {
				t.Errorf("the job runs: %v", job)
			}
		},
	},
	"a purge": {
		func(s *nomadtest.Server) { s.Purge("default", "web") }, cluster.ErrGone,
		func(t *testing.T, s *nomadtest.Server) {
			if job := s.Job("default", "web"); job != nil {
				t.Errorf("the job is there: %v", job)
			}
		},
	},
	"a purge and a new job": {
		func(s *nomadtest.Server) {
			s.Purge("default", "web")
			s.Submit(second(), "")
		}, cluster.ErrStale,
		func(t *testing.T, s *nomadtest.Server) {
			if job := object(s.Job("default", "web")); job.number("Priority") != 70 || job.boolean("Stop") {
				t.Errorf("the new job is not kept: %v", job)
			}
		},
	},
	"nothing": {func(*nomadtest.Server) {}, nil, isReleased},
}

func isReleased(t *testing.T, s *nomadtest.Server) {
	if job := object(s.Job("default", "web")); job.text("NodePool") != "prod" || job.boolean("Stop") {
		t.Errorf("not released: %v", job)
	}
}

// Nomad compares the index of a registration before it writes: what a user does between the
// two counts all the same.
func TestWhatComesAtTheMomentOfAReleaseIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, server, ctx := testWorld(t)
			server.Submit(testJob("web", "ok"), "the first text")
			job := mustJob(t, w, ctx, "web")
			atTheMoment(server, func() { c.act(server) })
			if _, err := w.Apply(ctx, placedOn(job, "n1")); !errors.Is(err, c.want) {
				t.Errorf("Apply says %v, want %v", err, c.want)
			}
			c.kept(t, server)
		})
	}
}

// The same where the answer to the release is lost, and those to what puts things right, and
// Nomad can be asked only later.
func TestWhatWasOverwrittenIsPutBackLater(t *testing.T) {
	t.Parallel()
	for name, c := range moments {
		for _, lost := range []int{1, 2, 3} {
			t.Run(fmt.Sprint(name, ", ", lost, " answers are lost"), func(t *testing.T) {
				t.Parallel()
				putBackLater(t, c.act, c.kept, lost)
			})
		}
	}
}

func putBackLater(t *testing.T, act func(*nomadtest.Server), kept func(*testing.T, *nomadtest.Server), lost int) {
	t.Helper()
	_, server, ctx := testWorld(t)
	w, err := New(Options{
		Address: server.URL, RunPool: "prod", Decode: decodeForTest, Clock: newJumpClock(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Network: &losesAnswers{lost: lost},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.API().Close)
	server.Submit(testJob("web", "ok"), "the first text")
	job := mustJob(t, w, ctx, "web")
	atTheMoment(server, func() {
		act(server)
		server.Fail(http.MethodPut, "/v1/job/web", http.StatusInternalServerError, 3*retryAttempts, "No cluster leader")
		server.Fail(http.MethodGet, "/v1/job/web", http.StatusInternalServerError, 3*retryAttempts, "No cluster leader")
	})
	if _, err := w.Apply(ctx, placedOn(job, "n1")); err == nil {
		t.Error("Apply knows of its success without an answer")
	}
	for len(w.unconfirmed.list) > 0 {
		<-w.clock.After(firstLookAgain)
		w.lookAgain(ctx)
	}
	kept(t, server)
}

// losesAnswers breaks the connection after the first registrations took effect.
type losesAnswers struct {
	mu   sync.Mutex
	lost int
}

func (n *losesAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil && answer.StatusCode == http.StatusOK && r.Method == http.MethodPut && r.URL.Path == "/v1/job/web" && n.lost > 0 {
		n.lost--
		return nil, errors.Join(io.ErrUnexpectedEOF, answer.Body.Close())
	}
	return answer, err
}
