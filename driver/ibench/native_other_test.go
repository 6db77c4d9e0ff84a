//go:build !amd64

package ibench

import "testing"

// testNarrowVectors has nothing to test: there are no vectors.
func testNarrowVectors(t *testing.T) { t.Helper() }
