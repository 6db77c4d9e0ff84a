package profiling

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// What a pass over the stored profiles may cost (chosen by us). Each write and each
// deletion is one entry of Nomad's log.
const (
	usedNotedEvery  = 24 * time.Hour
	writesOfAPass   = 100
	deletesOfAPass  = 100
	rememberedUses  = 10000
	clockDifference = time.Hour // between who wrote a time and who reads it
)

// uses are the keys that were asked for since the last pass.
type uses map[string]bool

// noteUse remembers that a profile is of use. The caller does not hold l.mu.
func (l *Lab) noteUse(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = uses{}
	}
	if len(l.used) < rememberedUses {
		l.used[key] = true
	}
}

// Expire deletes profiles that no job has used for long, and the oldest of a group that
// has many: each change of its image or environment leaves one. Of those in use it notes
// that they are, once a day. What it cannot do in one pass, the next does.
func (l *Lab) Expire(ctx context.Context) error {
	inUse, err := l.keysInUse(ctx)
	if err != nil {
		return err
	}
	now := l.cfg.Clock.Now()
	profiles := store.Profiles{Store: l.cfg.Store}
	var unused []unusedProfile
	writes := 0
	refused, err := profiles.Each(ctx, func(p profile.Profile, index uint64) error {
		last := lastOf(p, now)
		// Of a profile from before uses were noted it is not known when it was used last.
		unknown := p.Used.IsZero() && now.Sub(last) > l.cfg.KeepFor
		if !inUse[p.Key] && !unknown {
			unused = append(unused, unusedProfile{p.Key, p.Workload, last, index})
			return nil
		}
		if !unknown && now.Sub(last) < usedNotedEvery || writes >= writesOfAPass {
			return nil
		}
		writes++
		p.Used = now
		_, err := profiles.Put(ctx, p, index)
		return unlessOvertaken(err)
	})
	if err != nil {
		return err
	}
	l.estimator.noteRefused(len(refused))
	old := l.expired(unused, now)
	for _, u := range old[:min(deletesOfAPass, len(old))] {
		if err := unlessOvertaken(profiles.DeleteIf(ctx, u.key, u.index)); err != nil {
			return err
		}
	}
	if err := l.expireProduction(ctx, inUse, now); err != nil {
		return err
	}
	if len(old) > 0 {
		l.cfg.Log.Info("unused profiles deleted", "deleted", min(deletesOfAPass, len(old)), "left_to_the_next_pass", max(0, len(old)-deletesOfAPass))
	}
	return nil
}

// expireProduction deletes what production says of workloads that did not run for as long as
// an unused profile is kept.
func (l *Lab) expireProduction(ctx context.Context, inUse map[string]bool, now time.Time) error {
	productions := store.Productions{Store: l.cfg.Store}
	var old []string
	_, err := productions.Each(ctx, func(said profile.Production, _ uint64) error {
		if !inUse[said.Key] && now.Sub(said.Updated) > l.cfg.KeepFor && len(old) < deletesOfAPass {
			old = append(old, said.Key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := unlessOvertaken(productions.Delete(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

// unlessOvertaken: a profile that somebody wrote meanwhile is looked at in the next pass.
func unlessOvertaken(err error) error {
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// keysInUse are those of the jobs that are there now, and of those that asked since the
// last pass.
func (l *Lab) keysInUse(ctx context.Context) (map[string]bool, error) {
	jobs, err := l.cfg.World.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	out := map[string]bool(l.used)
	l.used = nil
	l.mu.Unlock()
	if out == nil {
		out = map[string]bool{}
	}
	for _, job := range jobs {
		for _, w := range job.Workloads {
			out[w.ProfileKey] = true
		}
	}
	return out, nil
}

// unusedProfile is what is kept of a profile during a pass.
type unusedProfile struct {
	key, workload string
	last          time.Time
	index         uint64
}

// lastOf is when a profile was last of use, by what is written in it. A time that is yet to
// come was written by another clock, or by somebody else: it keeps no profile for ever.
func lastOf(p profile.Profile, now time.Time) time.Time {
	var last time.Time
	for _, at := range []time.Time{p.Taken, p.Used} {
		if at.After(last) && !at.After(now.Add(clockDifference)) {
			last = at
		}
	}
	return last
}

// expired are those to delete, the oldest first.
func (l *Lab) expired(unused []unusedProfile, now time.Time) []unusedProfile {
	slices.SortFunc(unused, func(a, b unusedProfile) int { return cmp.Or(b.last.Compare(a.last), cmp.Compare(a.key, b.key)) })
	kept := map[string]int{}
	var out []unusedProfile
	for _, u := range unused {
		if now.Sub(u.last) <= l.cfg.KeepFor && kept[u.workload] < l.cfg.KeepPerJob {
			kept[u.workload]++
			continue
		}
		out = append(out, u)
	}
	slices.Reverse(out)
	return out
}
