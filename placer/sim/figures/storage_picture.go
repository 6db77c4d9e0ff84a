package figures

import (
	"fmt"
	"html/template"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// storageDiagramPicture is the title of the state diagram; those of the other pictures have a
// setting.
const storageDiagramPicture = "State diagram of one level with weights, % of all I/Os"

func storageMissPicture(setting int) string {
	return "Miss ratios of LRU caches, " + storageSettings[setting].name
}

func storageStatesPicture(setting int) string {
	return "I/Os by 64 ranges of addresses, " + storageSettings[setting].name
}

// The state diagram in pixels: four states in the corners of a square.
const (
	diagramWidth, diagramHeight = 520, 400
	diagramLeft, diagramTop     = 130.0, 90.0
	diagramSide                 = 220.0
	stateRadius                 = 34.0
	// bend is how far an arrow keeps to its own side, so that both directions are seen.
	bend      = 11.0
	arrowBack = 11.0
	headWidth = 4.0
	// Arrows are as wide as their weights, and those of less than leastShown are left out.
	widestArrow, thinnestArrow = 14.0, 0.8
	leastShown                 = 0.0005
)

// storageDiagram draws the weights between the four states of one level (0..1, from rows to
// columns; all of it is 1): a state has its own, of I/Os that stay in it, and an arrow that
// between two of them.
func storageDiagram(weights [][]float64) template.HTML {
	d := chart.NewDrawing(diagramWidth, diagramHeight, storageDiagramPicture, chart.Class("chart-svg"))
	for from, row := range weights {
		for to, w := range row {
			if from != to && w >= leastShown {
				arrow(d, from, to, w)
			}
		}
	}
	for state := range weights {
		x, y := stateAt(state)
		d.Circle(x, y, stateRadius, "", chart.Class("chart-track"))
		d.Text(x, y-4, fmt.Sprintf("state %d", state+1), chart.Class("chart-value"), chart.Attr{Name: "text-anchor", Value: "middle"})
		d.Text(x, y+12, percentOf(weights[state][state]), chart.Attr{Name: "text-anchor", Value: "middle"})
	}
	d.Text(10, diagramHeight-10, fmt.Sprintf("a state is a quarter of the addresses; in it: I/Os that stay there; below %s: no arrow", percentOf(leastShown)), chart.Class("chart-tick"))
	return d.SVG()
}

func percentOf(share float64) string { return report.Decimal(100*share) + " %" }

// stateAt is the middle of a state.
func stateAt(state int) (x, y float64) {
	right, below := float64(state%2), float64(state/2)
	return diagramLeft + right*diagramSide, diagramTop + below*diagramSide
}

// arrow draws a transition, with its weight near the state that it leaves.
func arrow(d *chart.Drawing, from, to int, weight float64) {
	x0, y0 := stateAt(from)
	x1, y1 := stateAt(to)
	length := math.Hypot(x1-x0, y1-y0)
	ux, uy := (x1-x0)/length, (y1-y0)/length
	sx, sy := -uy*bend, ux*bend // to the right of the direction
	ax, ay := x0+ux*stateRadius+sx, y0+uy*stateRadius+sy
	bx, by := x1-ux*(stateRadius+arrowBack)+sx, y1-uy*(stateRadius+arrowBack)+sy
	half := min(widestArrow, thinnestArrow+weight*100) / 2
	side := func(x, y, by float64) string { return fmt.Sprintf("%.1f %.1f", x-uy*by, y+ux*by) }
	d.Path(fmt.Sprintf("M%sL%sL%sL%.1f %.1fL%sL%sL%sz",
		side(ax, ay, half), side(bx, by, half), side(bx, by, half+headWidth), bx+ux*arrowBack, by+uy*arrowBack, side(bx, by, -half-headWidth), side(bx, by, -half), side(ax, ay, -half)),
		fmt.Sprintf("state %d to state %d: %s", from+1, to+1, percentOf(weight)), chart.Class("chart-bar chart-0"))
	const along = 0.3
	d.Text(x0+ux*length*along+sx*2.4, y0+uy*length*along+sy*2.4+4, percentOf(weight), chart.Class("chart-tick"), chart.Attr{Name: "text-anchor", Value: "middle"})
}
