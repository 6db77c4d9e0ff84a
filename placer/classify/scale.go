package classify

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// CompleteRatio completes a row of speeds that is divided by its reference, and
// gives the cells back in the row's own unit. A row whose reference was not
// measured, or that there is no model for, is unknown: nil.
func CompleteRatio(m Model, row []float64, reference int) ([]Cell, error) {
	unit := row[reference]
	if m == nil || math.IsNaN(unit) {
		return nil, nil
	}
	ratios := slices.Clone(row)
	for i := range ratios {
		ratios[i] /= unit
	}
	cells, err := m.Complete(ratios, nil)
	if err != nil {
		return nil, err
	}
	for i := range cells {
		c := &cells[i]
		c.Value, c.Low, c.High = c.Value*unit, c.Low*unit, c.High*unit
	}
	return cells, nil
}

// Between interpolates values at some ascending numbers to every number from the
// first to the last.
func Between(at []int, value []float64) []float64 {
	var out []float64
	for i := 0; i+1 < len(at); i++ {
		for n := at[i]; n < at[i+1]; n++ {
			share := float64(n-at[i]) / float64(at[i+1]-at[i])
			out = append(out, value[i]+(value[i+1]-value[i])*share)
		}
	}
	return append(out, value[len(value)-1])
}

// bySize is the fastest measured speed by CPUs, whatever memory went with it.
func bySize(p *profile.Profile) map[int]profile.Measurement {
	out := map[int]profile.Measurement{}
	for _, point := range p.ScaleUp {
		if held, ok := out[point.Cores]; usable(point.Speed.Value) && (!ok || point.Speed.Value > held.Value) {
			out[point.Cores] = point.Speed
		}
	}
	return out
}

// coreColumns are the numbers of CPUs that any profile measured, ascending.
func coreColumns(profiles []profile.Profile) []int {
	seen := map[int]bool{}
	for i := range profiles {
		for cores := range bySize(&profiles[i]) {
			seen[cores] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func coreNames(cores []int) []string {
	out := make([]string, len(cores))
	for i, n := range cores {
		out[i] = strconv.Itoa(n)
	}
	return out
}

func sizeRow(p *profile.Profile, cores []int) []float64 {
	row, speeds := make([]float64, len(cores)), bySize(p)
	for j, n := range cores {
		row[j] = math.NaN()
		if m, ok := speeds[n]; ok {
			row[j] = m.Value
		}
	}
	return row
}

// scaleUp completes performance by CPUs, relative to those of the interference
// run, whose speed the speeds by configuration are of.
func (b *builder) scaleUp() (points []cluster.ScaleSpeed, reference int) {
	reference = len(b.profile.Machine.CPUs)
	speeds := bySize(b.profile)
	if alone, ok := b.profile.Isolated[b.profile.Machine.Configuration]; ok && usable(alone.Value) && speeds[reference].Value == 0 {
		speeds[reference] = alone
	}
	base, ok := speeds[reference]
	if !ok || reference == 0 {
		return nil, reference
	}
	for cores, m := range speeds {
		points = append(points, cluster.ScaleSpeed{
			Cores: cores, Origin: interference.Measured,
			Relative: m.Value / base.Value, Low: m.Low / base.Value, High: m.High / base.Value,
		})
	}
	points = append(points, b.predictedSizes(reference, speeds)...)
	slices.SortFunc(points, func(a, b cluster.ScaleSpeed) int { return cmp.Compare(a.Cores, b.Cores) })
	return points, reference
}

// predictedSizes are the numbers of CPUs that were not measured and that a model
// can tell.
func (b *builder) predictedSizes(reference int, measured map[int]profile.Measurement) []cluster.ScaleSpeed {
	column := slices.Index(b.models.Cores, reference)
	if column < 0 {
		return nil
	}
	row := sizeRow(b.profile, b.models.Cores)
	row[column] = measured[reference].Value
	cells, err := CompleteRatio(b.models.ScaleUp[reference], row, column)
	if err != nil {
		b.warn("performance at other sizes could not be predicted: %v", err)
		return nil
	}
	var out []cluster.ScaleSpeed
	for j, c := range cells {
		cores, unit := b.models.Cores[j], row[column]
		if _, ok := measured[cores]; ok || !c.Known || !usable(c.Value) {
			continue
		}
		p := cluster.ScaleSpeed{Cores: cores, Relative: c.Value / unit, Low: 0, High: 2 * c.Value / unit, Origin: interference.Predicted}
		if !math.IsNaN(c.Low) {
			p.Low, p.High = max(0, c.Low/unit), c.High/unit
		}
		out = append(out, p)
	}
	return out
}
