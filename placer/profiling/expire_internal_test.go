package profiling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// jobsOnly is a world that has jobs.
type jobsOnly struct {
	cluster.World
	keys []string
	err  error
}

func (w *jobsOnly) Jobs(context.Context) ([]cluster.Job, error) {
	var out []cluster.Job
	for _, key := range w.keys {
		out = append(out, cluster.Job{Workloads: []cluster.Workload{{ProfileKey: key}}})
	}
	return out, w.err
}

type bubbleClock struct{}

func (bubbleClock) Now() time.Time                         { return time.Now() }
func (bubbleClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// countedStore counts what Raft would have to keep.
type countedStore struct {
	store.Store
	puts, deletes int
	beforeDelete  func(path string)
}

func (c *countedStore) Put(ctx context.Context, path string, data []byte, ifIndex uint64) (uint64, error) {
	c.puts++
	return c.Store.Put(ctx, path, data, ifIndex)
}

func (c *countedStore) DeleteIf(ctx context.Context, path string, ifIndex uint64) error {
	c.deletes++
	if c.beforeDelete != nil {
		c.beforeDelete(path)
	}
	return c.Store.DeleteIf(ctx, path, ifIndex)
}

type shelf struct {
	t     *testing.T
	world *jobsOnly
	store *countedStore
	lab   *Lab
}

const day = 24 * time.Hour

func newShelf(t *testing.T) *shelf {
	s := &shelf{t: t, world: &jobsOnly{}, store: &countedStore{Store: mem.New()}}
	s.lab, _ = New(Config{World: s.world, Store: s.store, Clock: bubbleClock{}, KeepFor: 30 * day, KeepPerJob: 5})
	return s
}

func (s *shelf) put(key, group string, taken, used time.Time) {
	s.t.Helper()
	p := profile.Profile{Format: profile.Format, Key: key, Workload: "default/" + group, Taken: taken, Used: used}
	if _, err := (store.Profiles{Store: s.store.Store}).Put(s.t.Context(), p, store.Any); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) expire() {
	s.t.Helper()
	s.store.puts, s.store.deletes = 0, 0
	if err := s.lab.Expire(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) keys() []string {
	s.t.Helper()
	keys, err := store.Profiles{Store: s.store}.Keys(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

func (s *shelf) want(why string, keys ...string) {
	s.t.Helper()
	slices.Sort(keys)
	if got := s.keys(); !slices.Equal(got, keys) {
		s.t.Errorf("%s: left are %v, want %v", why, got, keys)
	}
}

// An unused profile goes after its time; one in use stays, and that it is used is written
// once a day.
func TestUnusedProfilesExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		now := time.Now()
		s.put("used", "a/g", now, now)
		s.put("unused", "b/g", now, now)
		s.put("asked", "c/g", now, now)
		s.world.keys = []string{"used"}
		for d := range 31 {
			s.lab.noteUse("asked")
			s.expire()
			if d > 0 && s.store.puts != 2 {
				t.Errorf("day %d: %d writes for two profiles in use", d, s.store.puts)
			}
			s.expire()
			if s.store.puts != 0 {
				t.Errorf("day %d: a second pass writes %d times", d, s.store.puts)
			}
			s.want("within the time", "used", "unused", "asked")
			time.Sleep(day)
		}
		s.expire()
		s.want("after the time", "used", "asked")
		s.world.keys = nil
		time.Sleep(31 * day)
		s.expire()
		s.want("nothing is used any more")
	})
}

// Of a group that has many, the newest stay, and that in use, however old it is.
func TestProfilesOfAGroupAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		for i := range 20 {
			s.put(fmt.Sprintf("build%02d", i), "ci/g", time.Now(), time.Now())
			time.Sleep(time.Hour)
		}
		s.put("other", "web/g", time.Now(), time.Now())
		s.world.keys = []string{"build03"}
		s.expire()
		s.want("the newest five and that in use", "build03", "build15", "build16", "build17", "build18", "build19", "other")
	})
}

// A pass is bounded, and the next goes on where it stopped.
func TestAPassIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		for i := range 250 {
			s.put(fmt.Sprintf("old%03d", i), fmt.Sprintf("job%d/g", i), time.Now(), time.Now())
		}
		time.Sleep(31 * day)
		for pass, left := range []int{150, 50, 0} {
			s.expire()
			if got := len(s.keys()); got != left || s.store.deletes > deletesOfAPass {
				t.Errorf("pass %d: %d left, %d deletes", pass, got, s.store.deletes)
			}
		}
		for i := range 250 {
			s.put(fmt.Sprintf("new%03d", i), fmt.Sprintf("job%d/g", i), time.Now(), time.Now())
			s.world.keys = append(s.world.keys, fmt.Sprintf("new%03d", i))
		}
		time.Sleep(2 * day)
		if s.expire(); s.store.puts != writesOfAPass {
			t.Errorf("%d writes in a pass", s.store.puts)
		}
	})
}

// What somebody writes between the look and the deletion stays.
func TestAProfileThatIsUsedMeanwhileStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		s.put("old", "a/g", time.Now(), time.Now())
		time.Sleep(31 * day)
		s.store.beforeDelete = func(string) { s.put("old", "a/g", time.Now(), time.Now()) }
		s.expire()
		s.want("written meanwhile", "old")
	})
}

// When a profile from before uses were noted was used is not known: it stays as long again.
func TestAnUnknownUseIsNotNever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		time.Sleep(200 * day)
		s.put("before", "a/g", time.Now().Add(-100*day), time.Time{})
		s.expire()
		s.want("first seen", "before")
		time.Sleep(31 * day)
		s.expire()
		s.want("unused since")
	})
}

// Times that are yet to come, by a wrong clock or a forger's hand, keep nothing for ever;
// what cannot be read is left for people to look at; and without a list of jobs nothing
// goes.
func TestExpiryOfWhatIsOdd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(t)
		s.put("future", "a/g", time.Now(), time.Now().Add(5000*day))
		if _, err := s.store.Store.Put(t.Context(), "profile/torn", []byte("{"), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * day)
		s.world.err = errors.New("no answer")
		if err := s.lab.Expire(t.Context()); err == nil {
			t.Error("profiles are deleted without knowing the jobs")
		}
		s.want("no list of jobs", "future", "torn")
		s.world.err = nil
		s.expire()
		s.want("afterwards", "torn")
		if got := s.lab.estimator.Refused(); got != 1 {
			t.Errorf("%d refused", got)
		}
	})
}
