package lp_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	simplex "gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lp"
)

func solve(t testing.TB, p lp.Problem) (*lp.Solution, error) {
	t.Helper()
	s, err := lp.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s.Solve()
}

// near compares relative to size.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

func TestKnownPrograms(t *testing.T) {
	t.Parallel()
	// max 3x + 5y, x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18: 36 at (2, 6), dual (0, 3/2, 1).
	p := lp.Problem{Maximise: true, Rows: []lp.Row{lp.AtMost(4), lp.AtMost(12), lp.AtMost(18)}, Columns: []lp.Column{
		lp.NonNegative(3, lp.Entry{0, 1}, lp.Entry{2, 3}), lp.NonNegative(5, lp.Entry{1, 2}, lp.Entry{2, 2}),
	}}
	s, err := solve(t, p)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 1.5, 1} {
		if !near(s.Dual[i], want, 1e-9) {
			t.Errorf("dual %v", s.Dual)
		}
	}
	if !near(s.Objective, 36, 1e-9) || !near(s.X[0], 2, 1e-9) || !near(s.X[1], 6, 1e-9) {
		t.Errorf("%+v", s)
	}
	// Beale's example, on which Dantzig's rule alone goes round for ever.
	beale := lp.Problem{Rows: []lp.Row{lp.AtMost(0), lp.AtMost(0), lp.AtMost(1)}, Columns: []lp.Column{
		lp.NonNegative(-0.75, lp.Entry{0, 0.25}, lp.Entry{1, 0.5}), lp.NonNegative(150, lp.Entry{0, -60}, lp.Entry{1, -90}),
		lp.NonNegative(-0.02, lp.Entry{0, -1.0 / 25}, lp.Entry{1, -1.0 / 50}, lp.Entry{2, 1}), lp.NonNegative(6, lp.Entry{0, 9}, lp.Entry{1, 3}),
	}}
	if s, err = solve(t, beale); err != nil || !near(s.Objective, -0.05, 1e-9) {
		t.Errorf("%+v, %v", s, err)
	}
	// Free variables, equalities, ranges and negative bounds.
	mixed := lp.Problem{Rows: []lp.Row{lp.Equal(3), {Lower: -2, Upper: 2}}, Columns: []lp.Column{
		{Cost: 1, Lower: -lp.Inf, Upper: lp.Inf, Entries: []lp.Entry{{0, 1}, {1, 1}}},
		{Cost: 2, Lower: -5, Upper: -1, Entries: []lp.Entry{{0, -1}}},
		{Cost: 0, Lower: -lp.Inf, Upper: 4, Entries: []lp.Entry{{1, 1}}},
	}}
	if s, err = solve(t, mixed); err != nil || !near(s.Objective, -12, 1e-9) {
		t.Errorf("%+v, %v", s, err) // x1 = −5, x0 = −2
	}
	if s, err = solve(t, lp.Problem{}); err != nil || s.Objective != 0 {
		t.Errorf("an empty program: %+v, %v", s, err)
	}
}

func TestNamedErrors(t *testing.T) {
	t.Parallel()
	infeasible := lp.Problem{Rows: []lp.Row{lp.AtMost(1), lp.AtLeast(2)}, Columns: []lp.Column{lp.NonNegative(1, lp.Entry{0, 1}, lp.Entry{1, 1})}}
	if _, err := solve(t, infeasible); !errors.Is(err, lp.ErrInfeasible) {
		t.Errorf("infeasible: %v", err)
	}
	unbounded := lp.Problem{Maximise: true, Rows: []lp.Row{lp.AtLeast(2)}, Columns: []lp.Column{lp.NonNegative(1, lp.Entry{0, 1})}}
	if _, err := solve(t, unbounded); !errors.Is(err, lp.ErrUnbounded) {
		t.Errorf("unbounded: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s, err := lp.New(random(rng, 20, 30, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	s.Limit = 2
	if _, err := s.Solve(); !errors.Is(err, lp.ErrIterations) {
		t.Errorf("two steps: %v", err)
	}
	for name, bad := range map[string]lp.Problem{
		"crossed":     {Rows: []lp.Row{{Lower: 2, Upper: 1}}},
		"nan":         {Rows: []lp.Row{lp.AtMost(math.NaN())}},
		"no row":      {Columns: []lp.Column{lp.NonNegative(1, lp.Entry{0, 1})}},
		"row twice":   {Rows: []lp.Row{lp.AtMost(1)}, Columns: []lp.Column{lp.NonNegative(1, lp.Entry{0, 1}, lp.Entry{0, 1})}},
		"nan cost":    {Columns: []lp.Column{lp.NonNegative(math.NaN())}},
		"infinite":    {Rows: []lp.Row{lp.AtMost(1)}, Columns: []lp.Column{lp.NonNegative(1, lp.Entry{0, lp.Inf})}},
		"lower is +∞": {Columns: []lp.Column{{Lower: lp.Inf, Upper: lp.Inf}}},
	} {
		if _, err := lp.New(bad); !errors.Is(err, lp.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// random is a program with an optimum: 0 is within all bounds but those of some
// equalities through a random point, and every variable has an upper bound.
func random(rng *rand.Rand, rows, columns int, density float64) lp.Problem {
	p := lp.Problem{Maximise: rng.IntN(2) == 0}
	point, sums := make([]float64, columns), make([]float64, rows)
	for j := range columns {
		c := lp.Column{Cost: rng.NormFloat64(), Upper: 1 + 4*rng.Float64()}
		if rng.IntN(5) == 0 {
			c.Lower = -c.Upper
		}
		point[j] = c.Lower + (c.Upper-c.Lower)*rng.Float64()
		for i := range rows {
			if rng.Float64() < density {
				v := math.Round(10*rng.NormFloat64()) / 2
				if v != 0 {
					c.Entries = append(c.Entries, lp.Entry{i, v})
					sums[i] += v * point[j]
				}
			}
		}
		p.Columns = append(p.Columns, c)
	}
	for i := range rows {
		switch rng.IntN(4) {
		case 0:
			p.Rows = append(p.Rows, lp.Equal(sums[i]))
		case 1:
			p.Rows = append(p.Rows, lp.AtLeast(sums[i]-rng.Float64()))
		case 2:
			p.Rows = append(p.Rows, lp.Row{Lower: sums[i] - rng.Float64(), Upper: sums[i] + rng.Float64()})
		default:
			p.Rows = append(p.Rows, lp.AtMost(sums[i]+rng.Float64()))
		}
	}
	return p
}

// optimal checks a solution by duality alone: it keeps all bounds, and no multiplier
// pulls away from where its bound is.
func optimal(p lp.Problem, s *lp.Solution, tolerance float64) error {
	sums := make([]float64, len(p.Rows))
	sign := 1.0
	if p.Maximise {
		sign = -1
	}
	check := func(kind string, at int, x, low, high, pull float64) error {
		scale := tolerance * max(1, math.Abs(x))
		switch {
		case x < low-scale || x > high+scale:
			return fmt.Errorf("%s %d is %v, not within %v and %v", kind, at, x, low, high)
		case sign*pull > tolerance && x > low+10*scale:
			return fmt.Errorf("%s %d would gain by less: %v, %v", kind, at, x, pull)
		case sign*pull < -tolerance && x < high-10*scale:
			return fmt.Errorf("%s %d would gain by more: %v, %v", kind, at, x, pull)
		}
		return nil
	}
	for j, c := range p.Columns {
		reduced := c.Cost
		for _, e := range c.Entries {
			sums[e.Row] += e.Value * s.X[j]
			reduced -= s.Dual[e.Row] * e.Value
		}
		if err := check("column", j, s.X[j], c.Lower, c.Upper, reduced); err != nil {
			return err
		}
		if !near(reduced, s.Reduced[j], 1e-7) {
			return fmt.Errorf("column %d: reduced cost %v, said %v", j, reduced, s.Reduced[j])
		}
	}
	for i, r := range p.Rows {
		if err := check("row", i, sums[i], r.Lower, r.Upper, s.Dual[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestRandomProgramsAreOptimal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := random(rng, rng.IntN(25), rng.IntN(40), 0.1+0.8*rng.Float64())
		s, err := solve(t, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := optimal(p, s, 1e-6); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// vertices tries every choice of n active bounds of a program with n variables.
func vertices(p lp.Problem) float64 {
	n := len(p.Columns)
	var planes [][]float64 // n coefficients and a bound
	for j, c := range p.Columns {
		for _, b := range []float64{c.Lower, c.Upper} {
			row := make([]float64, n+1)
			row[j], row[n] = 1, b
			planes = append(planes, row)
		}
	}
	for i, r := range p.Rows {
		for _, b := range []float64{r.Lower, r.Upper} {
			row := make([]float64, n+1)
			for j, c := range p.Columns {
				for _, e := range c.Entries {
					if e.Row == i {
						row[j] = e.Value
					}
				}
			}
			row[n] = b
			if !math.IsInf(b, 0) {
				planes = append(planes, row)
			}
		}
	}
	best := math.NaN()
	chosen := make([]int, n)
	var choose func(k, from int)
	choose = func(k, from int) {
		if k == n {
			if v, ok := vertex(p, planes, chosen); ok && (math.IsNaN(best) || p.Maximise && v > best || !p.Maximise && v < best) {
				best = v
			}
			return
		}
		for i := from; i < len(planes); i++ {
			chosen[k] = i
			choose(k+1, i+1)
		}
	}
	choose(0, 0)
	return best
}

func vertex(p lp.Problem, planes [][]float64, chosen []int) (float64, bool) {
	n := len(chosen)
	a, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for k, i := range chosen {
		a.SetRow(k, planes[i][:n])
		b.SetVec(k, planes[i][n])
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return 0, false
	}
	sums, value := make([]float64, len(p.Rows)), 0.0
	for j, c := range p.Columns {
		v := x.AtVec(j)
		if v < c.Lower-1e-7 || v > c.Upper+1e-7 {
			return 0, false
		}
		value += c.Cost * v
		for _, e := range c.Entries {
			sums[e.Row] += e.Value * v
		}
	}
	for i, r := range p.Rows {
		if sums[i] < r.Lower-1e-7 || sums[i] > r.Upper+1e-7 {
			return 0, false
		}
	}
	return value, true
}

func TestAgainstEveryVertex(t *testing.T) {
	t.Parallel()
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := random(rng, 1+rng.IntN(3), 1+rng.IntN(4), 0.8)
		s, err := solve(t, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if want := vertices(p); !near(s.Objective, want, 1e-6) {
			t.Fatalf("seed %d: %v, the best vertex has %v", seed, s.Objective, want)
		}
	}
}

// gonum's simplex takes the standard form only: min c·x, A·x = b, x ≥ 0.
func TestAgainstGonum(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m, n := 2+rng.IntN(6), 9+rng.IntN(12)
		a, c, b := mat.NewDense(m, n, nil), make([]float64, n), make([]float64, m)
		p := lp.Problem{}
		for j := range n {
			c[j] = rng.Float64() // ≥ 0: it has an optimum
			column := lp.NonNegative(c[j])
			x := rng.Float64()
			for i := range m {
				v := rng.NormFloat64()
				a.Set(i, j, v)
				b[i] += v * x
				column.Entries = append(column.Entries, lp.Entry{i, v})
			}
			p.Columns = append(p.Columns, column)
		}
		for i := range m {
			p.Rows = append(p.Rows, lp.Equal(b[i]))
		}
		want, _, err := simplex.Simplex(c, a, b, 1e-10, nil)
		if err != nil {
			continue // its own failure: counted below
		}
		compared++
		s, err := solve(t, p)
		if err != nil || !near(s.Objective, want, 1e-6) {
			t.Fatalf("seed %d: %+v, %v, gonum has %v", seed, s, err, want)
		}
	}
	if compared < 60 {
		t.Errorf("gonum solved %d of 80 only", compared)
	}
}

func TestColumnsAreAdded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := random(rng, 8, 30, 0.5)
		for i := range p.Rows {
			p.Rows[i] = lp.Row{Lower: -lp.Inf, Upper: 5 + rng.Float64()}
		}
		for j := range p.Columns {
			p.Columns[j].Lower = 0
		}
		part := p
		part.Columns = p.Columns[:10]
		s, err := lp.New(part)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Solve(); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Columns[10:] {
			if err := s.AddColumn(c); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Solve()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := solve(t, p)
		if err != nil || !near(got.Objective, whole.Objective, 1e-8) {
			t.Fatalf("seed %d: in parts %v, at once %+v, %v", seed, got.Objective, whole, err)
		}
	}
}

// TestAgainstGLPK solves larger programs with another solver.
func TestAgainstGLPK(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("glpsol")
	if err != nil {
		t.Log("glpsol is not installed: NOT COMPARED with another solver (apt-get install glpk-utils)")
		return
	}
	for seed, size := range [][2]int{{60, 90}, {150, 200}, {200, 600}, {300, 400}, {400, 800}} {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		p := random(rng, size[0], size[1], 6/float64(size[0]))
		s, err := solve(t, p)
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		if err := optimal(p, s, 1e-6); err != nil {
			t.Errorf("%v: %v", size, err)
		}
		want := glpk(t, program, p)
		if !near(s.Objective, want, 1e-6) {
			t.Errorf("%v: %v, glpsol has %v", size, s.Objective, want)
		}
		t.Logf("%d rows, %d columns: %.9g in %d steps, as glpsol", size[0], size[1], s.Objective, s.Iterations)
	}
}

// glpk writes the program in CPLEX's format and reads the objective glpsol found.
func glpk(t *testing.T, program string, p lp.Problem) float64 {
	t.Helper()
	var text strings.Builder
	text.WriteString(map[bool]string{true: "Maximize\n", false: "Minimize\n"}[p.Maximise])
	text.WriteString("o:")
	rows := make([]strings.Builder, len(p.Rows))
	for j, c := range p.Columns {
		fmt.Fprintf(&text, " %+.17g x%d\n", c.Cost, j)
		for _, e := range c.Entries {
			fmt.Fprintf(&rows[e.Row], " %+.17g x%d\n", e.Value, j)
		}
	}
	text.WriteString("Subject To\n")
	for i, r := range p.Rows {
		if rows[i].Len() == 0 {
			continue
		}
		switch {
		case r.Lower == r.Upper:
			fmt.Fprintf(&text, "e%d:%s = %.17g\n", i, rows[i].String(), r.Lower)
		default:
			if !math.IsInf(r.Lower, 0) {
				fmt.Fprintf(&text, "l%d:%s >= %.17g\n", i, rows[i].String(), r.Lower)
			}
			if !math.IsInf(r.Upper, 0) {
				fmt.Fprintf(&text, "u%d:%s <= %.17g\n", i, rows[i].String(), r.Upper)
			}
		}
	}
	text.WriteString("Bounds\n")
	for j, c := range p.Columns {
		fmt.Fprintf(&text, "%.17g <= x%d <= %.17g\n", c.Lower, j, c.Upper)
	}
	text.WriteString("End\n")
	folder := t.TempDir()
	in, out := filepath.Join(folder, "p.lp"), filepath.Join(folder, "p.sol")
	if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if log, err := exec.CommandContext(t.Context(), program, "--lp", in, "-w", out).CombinedOutput(); err != nil {
		t.Fatalf("glpsol: %v: %s", err, log)
	}
	answer, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(answer)) {
		// s bas ROWS COLUMNS PRIMAL DUAL OBJECTIVE
		if f := strings.Fields(line); len(f) == 7 && f[0] == "s" && f[4] == "f" && f[5] == "f" {
			v, err := strconv.ParseFloat(f[6], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("glpsol found no optimum:\n%s", answer)
	return 0
}

func BenchmarkSolve(b *testing.B) {
	for _, size := range [][2]int{{70, 300}, {70, 10_000}, {400, 800}} {
		p := random(rand.New(rand.NewPCG(1, 6)), size[0], size[1], 6/float64(size[0]))
		b.Run(fmt.Sprintf("rows=%d/columns=%d", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				s, err := lp.New(p)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Solve(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
