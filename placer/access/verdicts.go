package access

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// question is one that Nomad answers by yes or no.
type question struct {
	token            hash // zero: it is about nobody
	right, namespace string
}

type verdict struct {
	yes   bool
	until time.Time
}

// verdicts are what Nomad said a short time ago.
type verdicts struct {
	now     func() time.Time
	answers *lru.Cache[question, verdict]
	asking  *singleflight.Group
}

func newVerdicts(now func() time.Time) verdicts {
	return verdicts{now, kept[question, verdict](keptAnswers), &singleflight.Group{}}
}

// kept is a map that forgets what was not used for the longest.
func kept[K comparable, V any](n int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](n)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return c
}

// kept returns an answer that still counts.
func (v verdicts) kept(q question) (yes, ok bool) {
	is, ok := v.answers.Get(q)
	if !ok || !v.now().Before(is.until) {
		return false, false
	}
	return is.yes, true
}

// get returns a kept answer, or asks. One question is asked once at a time, whoever
// waits for it, and to its end: its answer is for all of them.
func (v verdicts) get(ctx context.Context, q question, ask func(context.Context) (bool, error)) (bool, error) {
	if yes, ok := v.kept(q); ok {
		return yes, nil
	}
	name := fmt.Sprintf("%x %s %s", q.token, q.right, q.namespace)
	answer := v.asking.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
		defer cancel()
		yes, err := ask(ctx)
		if err == nil {
			v.keep(q, yes)
		}
		return yes, err
	})
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case is := <-answer:
		yes, _ := is.Val.(bool)
		return yes && is.Err == nil, is.Err
	}
}

func (v verdicts) keep(q question, yes bool) {
	span := RefusedFor
	if yes {
		span = GrantedFor
	}
	v.answers.Add(q, verdict{yes, v.now().Add(span)})
}
