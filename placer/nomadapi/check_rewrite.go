package nomadapi

import (
	"errors"
	"fmt"
)

// ErrForeignRewrite means that a job was not rewritten as this package does it.
var ErrForeignRewrite = errors.New("the job was changed beyond its placement")

// CheckRewrite compares a job with what Rewrite is said to have made of it: but for the run
// pool, the node lists and pages that carry our mark, and sizes that are on record beside
// them, it has to be the same. A job that is registered with its user's rights is so
// checked first, whoever answered.
func CheckRewrite(sent, rewritten map[string]any, runPool string) error {
	if pool := object(rewritten).text("NodePool"); pool != runPool {
		return fmt.Errorf("%w: it is in node pool %q instead of %q", ErrForeignRewrite, pool, runPool)
	}
	complete, _, err := Complete(sent)
	if err != nil {
		return err
	}
	want, got := object(Strip(complete)), object(Strip(rewritten))
	want["NodePool"] = runPool
	if !sameContent(want, got) {
		return ErrForeignRewrite
	}
	return nil
}
