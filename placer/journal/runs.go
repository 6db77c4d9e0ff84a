package journal

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// runsPrefix is where runs are, a page a document.
const runsPrefix = "provision/runs"

// runsPage is a document of it.
type runsPage struct {
	Format int `json:"format"`
	provision.RunPage
}

func runsPath(number int) string { return fmt.Sprintf("%s/%06d", runsPrefix, number) }

// PutRuns keeps a page of runs.
func (b Book) PutRuns(ctx context.Context, page provision.RunPage) error {
	return put(ctx, b.Store, runsPath(page.Number), runsPage{provisionFormat, page})
}

// DeleteRuns removes a page of runs.
func (b Book) DeleteRuns(ctx context.Context, number int) error {
	return wrap(b.Store.Delete(ctx, runsPath(number)), "%s", runsPath(number))
}

// RunPages are all pages of runs. One that cannot be read is empty, and counted: its number stays
// taken.
func (b Book) RunPages(ctx context.Context) (pages []provision.RunPage, unreadable int, err error) {
	paths, err := b.Store.List(ctx, runsPrefix)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", runsPrefix, err)
	}
	read := func(ctx context.Context, at string) (provision.RunPage, error) {
		page, err := get[runsPage](ctx, b.Store, at)
		number, bad := strconv.Atoi(path.Base(at))
		page.Number = number
		if bad != nil { // nothing of ours
			return page.RunPage, store.ErrNotFound
		}
		return page.RunPage, err
	}
	err = store.InOrder(ctx, paths, read, func(page provision.RunPage, err error) error {
		switch {
		case err == nil:
			pages = append(pages, page)
		case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrFormat):
			unreadable++
			pages = append(pages, provision.RunPage{Number: page.Number})
		case !errors.Is(err, cluster.ErrNoRecord) && !errors.Is(err, store.ErrNotFound): // deleted since it was listed
			return err
		}
		return nil
	})
	return pages, unreadable, wrap(err, "runs")
}

// Runs are all runs on record; none is not an error.
func (b Book) Runs(ctx context.Context) (provision.Runs, error) {
	pages, unreadable, err := b.RunPages(ctx)
	out := provision.JoinRuns(pages)
	out.Unreadable = unreadable
	return out, err
}
