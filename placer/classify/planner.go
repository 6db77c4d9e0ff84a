package classify

// PlannerName is the plainest classifier whose models are Planners; those of local
// are, too.
const PlannerName = "gauss"

// Planner is a Model that can say which cells are worth measuring. Delimitrou
// 2015 draws them at random; this is ours.
type Planner interface {
	Model
	// Plan returns up to count further columns, best first, when those in known
	// are measured anyhow; only allowed ones.
	Plan(known []int, count int, allowed func(column int) bool) ([]int, error)
	// Leftovers are the variances of the columns that stay when known are measured.
	Leftovers(known []int) ([]float64, error)
}

var (
	_ Planner = (*normal)(nil)
	_ Planner = (*near)(nil)
	_ Planner = (*stacked)(nil)
	_ Planner = plannedLogs{}
)

// plannedLogs is a logModel over a Planner: what is worth measuring does not
// depend on any value.
type plannedLogs struct {
	logModel
	planner Planner
}

func (p plannedLogs) Plan(known []int, count int, allowed func(int) bool) ([]int, error) {
	return p.planner.Plan(known, count, allowed)
}

func (p plannedLogs) Leftovers(known []int) ([]float64, error) { return p.planner.Leftovers(known) }
