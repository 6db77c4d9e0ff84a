//go:build !amd64

package ibench

import "errors"

// nontemporalPass returns why there is no such pass on this architecture.
func nontemporalPass() (streamPass, error) {
	return nil, errors.New("the variant nt needs stores that bypass the caches, which are built for amd64 only: use write")
}
