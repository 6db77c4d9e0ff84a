package lotes

// AssignGenerating is Assign with bins made as they are wanted, whatever their
// number.
func AssignGenerating(p *Program, support [][]int) (*Assignment, error) {
	return assign(p, support, 0)
}
