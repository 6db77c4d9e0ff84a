package ibench

import "unsafe"

// storeNontemporal fills bytes of memory at p past the caches; both are
// multiples of 64.
//
//go:noescape
func storeNontemporal(p unsafe.Pointer, bytes int)

// nontemporalPass returns the pass of the variant "nt".
func nontemporalPass() (streamPass, error) {
	return func(p unsafe.Pointer, bytes, _ int) uint64 {
		storeNontemporal(p, bytes)
		return 0
	}, nil
}
