package signing

import "strconv"

// The kinds of work that are signed, by the names of their blocks.
const (
	Profile = "profile"
	Lend    = "lend"
)

// ProfileTerms are those of a profile block: its request.
func ProfileTerms(request string) []string { return []string{request} }

// LendTerms are those of a lend block. cpuMHz is 0, and timeSlice is empty, where the block
// does not say.
func LendTerms(allocation, task string, cpuMHz int64, timeSlice string) []string {
	return []string{allocation, task, strconv.FormatInt(cpuMHz, 10), timeSlice}
}
