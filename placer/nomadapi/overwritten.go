package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// How often is looked at a registration about which nothing could be read, or that may still
// take effect: after 1, 2, 4 and then every 5 seconds, for as long as Nomad may keep a request
// (chosen by us). What its user stopped runs until then.
const (
	firstLookAgain = time.Second
	mostBetween    = 5 * time.Second
	lastLookAgain  = 2 * time.Minute
)

// written is a registration of ours. Nomad compares the index of a registration with a
// snapshot, and writes later (Job.Register, 1.10 to 2.0): what a user writes between the two
// is overwritten without a word (decision 0044). So is looked at each one, and what was
// overwritten is put back.
type written struct {
	from, sent object // the version it was decided on, and what it was to become
	index      uint64 // that Nomad answered with; 0: no answer came, and it may have taken effect
}

func (r written) job() cluster.JobID { return jobIDOf(r.from) }

// unconfirmed is a registration that is to be looked at again.
type unconfirmed struct {
	written
	began, next time.Time
}

// unconfirmedList are registrations that nobody could look at when they were made.
type unconfirmedList struct {
	mu   sync.Mutex
	list []unconfirmed
}

func (d *unconfirmedList) add(r written, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, unconfirmed{r, now, now.Add(firstLookAgain)})
}

// due takes those out whose time has come.
func (d *unconfirmedList) due(now time.Time) []unconfirmed {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []unconfirmed
	d.list = slices.DeleteFunc(d.list, func(one unconfirmed) bool {
		if one.next.After(now) {
			return false
		}
		out = append(out, one)
		return true
	})
	return out
}

func (d *unconfirmedList) again(one unconfirmed, now time.Time) (given bool) {
	waited := now.Sub(one.began)
	if waited >= lastLookAgain {
		return false
	}
	one.next = now.Add(min(mostBetween, max(firstLookAgain, waited)))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, one)
	return true
}

// errNoEffectYet: no version is the one that was sent. It may still become one.
var errNoEffectYet = errors.New("it has had no effect yet")

// mayRelook reports whether looking again at a registration may tell more.
func mayRelook(err error) bool {
	return err != nil && !errors.Is(err, cluster.ErrStale) && !errors.Is(err, cluster.ErrGone)
}

// lookAt looks at a registration that was just made: ErrStale or ErrGone where a user was
// faster after all, as if Nomad had refused it. Where nothing can be read it counts as made,
// and is looked at again.
func (w *World) lookAt(ctx context.Context, r written) error {
	err := w.putBack(ctx, r)
	if mayRelook(err) {
		w.unconfirmed.add(r, w.Steady())
		return nil
	}
	return err
}

// Confirm looks again at what was written while nobody could look at it, until ctx ends. Watch
// does so too; a program that writes jobs and does not watch runs it.
func (w *World) Confirm(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.clock.After(firstLookAgain):
			w.lookAgain(ctx)
		}
	}
}

// lookAgain looks at the registrations that are due.
func (w *World) lookAgain(ctx context.Context) {
	for _, one := range w.unconfirmed.due(w.Steady()) {
		err := w.putBack(ctx, one.written)
		if !mayRelook(err) || w.unconfirmed.again(one, w.Steady()) || errors.Is(err, errNoEffectYet) {
			continue
		}
		w.log.Error("a job may have been written over a newer version of its user's", "job", one.job().String(), "index", one.index, "error", err)
	}
}

// putBack looks whether a registration was made over versions that it did not know of, and
// puts the newest of them back. Not only the leader may: what it writes is compared, too.
func (w *World) putBack(ctx context.Context, r written) error {
	ctx = cluster.WithLease(ctx, nil)
	if inOrder, err := w.isNext(ctx, r); inOrder || err != nil {
		return err
	}
	versions, err := w.versionsOf(ctx, r.job())
	if err != nil {
		return err
	}
	ours, lost := r.findIn(versions)
	switch {
	case ours == nil && r.index == 0:
		return errNoEffectYet
	case ours == nil:
		return nil // purged since, or Nomad found nothing to change
	case lost == nil && isFirst(ours):
		return w.purgeAgain(ctx, versions[0], ours)
	case lost == nil || sameJob(lost, ours):
		return nil
	case versions[0].index("JobModifyIndex") != ours.index("JobModifyIndex"):
		return fmt.Errorf("job %s has a newer version: %w", r.job(), cluster.ErrStale)
	}
	return w.restore(ctx, ours, lost)
}

// isNext reports, by one small read, that a registration is the version after the one it was
// decided on.
func (w *World) isNext(ctx context.Context, r written) (bool, error) {
	var now struct{ Version, JobModifyIndex, CreateIndex uint64 }
	_, err := w.nomad.get(ctx, jobPath(r.job(), ""), api.QueryOptions{Namespace: r.job().Namespace}, &now)
	if isNotFound(err) {
		return r.index != 0, nil // purged since
	}
	return r.index != 0 && now.JobModifyIndex == r.index && now.Version == r.from.index("Version")+1 && now.CreateIndex == r.from.index("CreateIndex"), err
}

// versionsOf are the versions of a job that Nomad has, the newest first.
func (w *World) versionsOf(ctx context.Context, id cluster.JobID) ([]object, error) {
	var answer struct{ Versions []object }
	_, err := w.nomad.get(ctx, jobPath(id, "/versions"), api.QueryOptions{Namespace: id.Namespace}, &answer)
	if isNotFound(err) {
		return nil, nil
	}
	return answer.Versions, err
}

// findIn finds what became of a registration, and the newest version that it was made over
// without knowing of it.
func (r written) findIn(versions []object) (ours, lost object) {
	base := r.from.index("JobModifyIndex")
	for _, v := range versions {
		index := v.index("JobModifyIndex")
		if index <= base {
			break
		}
		if ours != nil {
			return ours, v
		}
		if index == r.index || r.index == 0 && sameJob(v, r.sent) {
			ours = v
		}
	}
	return ours, nil
}

// isFirst: the version made its job. One that was decided on an older one did so because its
// user purged that.
func isFirst(v object) bool { return v.index("CreateIndex") == v.index("JobModifyIndex") }

// restore writes a version again that was overwritten by ours, stopped or not.
func (w *World) restore(ctx context.Context, ours, lost object) error {
	id, version := jobIDOf(ours), lost.index("Version")
	submission, err := w.submission(ctx, id, version)
	if err != nil {
		return err
	}
	index, _, err := w.registerOver(ctx, ours, lost, submission)
	if err != nil {
		return fmt.Errorf("version %d, which its user wrote, was overwritten; to put it back, revert the job to it: %w", version, err)
	}
	w.reservations.drop(id)
	w.log.Info("a version that its user wrote at the moment of a write of ours is put back", "job", id.String(), "version", version, "stopped", lost.boolean("Stop"))
	if err := w.lookAt(ctx, written{ours, lost, index}); err != nil {
		return err
	}
	if lost.boolean("Stop") {
		return fmt.Errorf("job %s was stopped while it was written, and is stopped again: %w", id, cluster.ErrGone)
	}
	return fmt.Errorf("job %s was changed while it was written: its version %d is put back: %w", id, version, cluster.ErrStale)
}

// registerOver writes next where over is still the newest version. Where it fails, unknown
// says whether it may have taken effect all the same, now or later.
func (w *World) registerOver(ctx context.Context, over, next, submission object) (index uint64, unknown bool, err error) {
	id := jobIDOf(over)
	body := registration{Job: next, EnforceIndex: true, JobModifyIndex: over.index("JobModifyIndex"), Submission: submission}
	var answer struct{ JobModifyIndex uint64 }
	err = w.nomad.retry(ctx, func(ctx context.Context) error {
		err := w.nomad.write(ctx, jobPath(id, ""), id.Namespace, body, &answer)
		unknown = unknown || err != nil && !isConflict(err) && !isFinal(err) && !errors.Is(err, cluster.ErrNotLeading)
		return err
	})
	if err != nil {
		return 0, unknown, w.explainRefusal(ctx, id, err)
	}
	return answer.JobModifyIndex, false, nil
}

// purgeAgain takes away what a registration of ours made of a job that was purged meanwhile,
// as RemoveJob does, unless somebody has written it since.
func (w *World) purgeAgain(ctx context.Context, newest, ours object) error {
	id := jobIDOf(ours)
	switch {
	case newest.index("JobModifyIndex") == ours.index("JobModifyIndex"):
		stopped := ours.clone()
		stopped["Stop"] = true
		// Gone: it is stopped already, perhaps by this very write, whose answer was lost.
		if _, _, err := w.registerOver(ctx, ours, stopped, nil); err != nil && !errors.Is(err, cluster.ErrGone) {
			return err
		}
	case !newest.boolean("Stop"):
		return fmt.Errorf("job %s has a newer version: %w", id, cluster.ErrStale)
	}
	w.reservations.drop(id)
	if err := w.waitQuiet(ctx, id); err != nil {
		return err
	}
	if err := w.deregister(ctx, id, true); err != nil {
		return err
	}
	w.log.Info("a job that its user purged at the moment of a write of ours is purged again", "job", id.String())
	return fmt.Errorf("job %s was purged while it was written: %w", id, cluster.ErrGone)
}

// byNomad are the fields of a job that Nomad sets.
var byNomad = []string{
	"Version", "CreateIndex", "ModifyIndex", "JobModifyIndex", "SubmitTime", "Status", "StatusDescription", "Stable", "NomadTokenID", "VersionTag",
}

// sameJob reports whether two versions say the same.
func sameJob(a, b object) bool { return sameContent(without(a, byNomad), without(b, byNomad)) }

func without(o object, keys []string) object {
	out := make(object, len(o))
	for k, v := range o {
		if !slices.Contains(keys, k) {
			out[k] = v
		}
	}
	return out
}
