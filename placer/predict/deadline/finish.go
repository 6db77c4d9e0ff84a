package deadline

import (
	"math"
	"time"
)

// Never is the finish of work that makes no progress.
const Never = time.Duration(math.MaxInt64)

// Point is the work left at an instant.
type Point struct {
	At   time.Duration
	Left float64
}

// Finish is when the line through the points of least squares reaches 0 (§IV). Never
// where it does not fall, or where there are fewer than two instants. O(points).
func Finish(points []Point) time.Duration {
	if len(points) < 2 {
		return Never
	}
	origin := points[len(points)-1].At // near the answer: nothing is lost to cancellation
	var x, y float64
	for _, p := range points {
		x += (p.At - origin).Seconds()
		y += p.Left
	}
	n := float64(len(points))
	x, y = x/n, y/n
	var xx, xy float64
	for _, p := range points {
		dx := (p.At - origin).Seconds() - x
		xx += dx * dx
		xy += dx * (p.Left - y)
	}
	if !(xx > 0) || !(xy < 0) {
		return Never
	}
	return after(origin, x-y*xx/xy)
}

// Ahead is the same in closed form, for two points that far apart as a sample (§IV):
// the work left at the rate and slowdown of now.
func Ahead(now time.Duration, left, rate, slowdown float64) time.Duration {
	if !(rate > 0) || !(slowdown > -1) {
		return Never
	}
	return after(now, left*(1+slowdown)/rate)
}

// after is an instant some seconds from another, or Never.
func after(from time.Duration, seconds float64) time.Duration {
	const longest = 1e9 // seconds: thirty years
	if !(seconds < longest) {
		return Never
	}
	return from + time.Duration(seconds*float64(time.Second))
}
