package trace_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// everySecond is a Philly table with a job each second from 100 s on, shuffled.
func everySecond(jobs int) map[string]string {
	rows := make([]string, jobs)
	for i := range rows {
		rows[i] = fmt.Sprintf("%d,10,1,vc\n", 100+i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(jobs, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return map[string]string{"f.csv": phillyHeader + strings.Join(rows, "")}
}

func TestStretchesPaceAndLimit(t *testing.T) {
	t.Parallel()
	zero := time.Duration(0)
	folder := folderOf(everySecond(100))
	for name, c := range map[string]struct {
		options     trace.Options
		jobs        int
		first, last time.Duration
	}{
		"whole":         {trace.Options{}, 100, 0, 99 * time.Second},
		"stretch":       {trace.Options{From: 10 * time.Second, To: 20 * time.Second}, 10, 0, 9 * time.Second},
		"trace's clock": {trace.Options{Origin: &zero, To: 110 * time.Second}, 10, 100 * time.Second, 109 * time.Second},
		"faster":        {trace.Options{SubmitScale: 0.5}, 100, 0, 49500 * time.Millisecond},
		"limit":         {trace.Options{Limit: 7}, 7, 0, 6 * time.Second},
		"beyond":        {trace.Options{From: time.Hour}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs, _, err := readAll("philly", folder, c.options)
			if err != nil || len(jobs) != c.jobs {
				t.Fatalf("%d jobs, %v; want %d", len(jobs), err, c.jobs)
			}
			if c.jobs > 0 && (jobs[0].Submit != c.first || jobs[len(jobs)-1].Submit != c.last) {
				t.Errorf("from %s to %s, want %s to %s", jobs[0].Submit, jobs[len(jobs)-1].Submit, c.first, c.last)
			}
		})
	}
}

func TestSamplesAreNested(t *testing.T) {
	t.Parallel()
	const n = 20_000
	folder := folderOf(everySecond(n))
	ids := func(o trace.Options) []string {
		jobs, _, err := readAll("philly", folder, o)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]string, len(jobs))
		for i, j := range jobs {
			out[i] = j.ID
		}
		return out
	}
	large := ids(trace.Options{Sample: 0.3})
	// Five standard deviations of a binomial.
	if got, band := float64(len(large)), 5*math.Sqrt(n*0.3*0.7); math.Abs(got-0.3*n) > band {
		t.Errorf("a sample of 0.3 has %v of %d jobs, want 6000 ± %.0f", got, n, band)
	}
	in := map[string]bool{}
	for _, id := range large {
		in[id] = true
	}
	for _, id := range ids(trace.Options{Sample: 0.1}) {
		if !in[id] {
			t.Fatalf("job %s is in the sample of 0.1 and not in that of 0.3", id)
		}
	}
	if slices.Equal(large, ids(trace.Options{Sample: 0.3, SampleSeed: 1})) {
		t.Error("another seed chooses the same jobs")
	}
}

func TestSampleKeepsJobsWhole(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "%d,,%d,%d,,0,u,0,0,0.1,0.1,0.1,0\n", 600_000_000+i, i/10, i%10)
	}
	jobs, _, err := readAll("google-2011", folderOf(map[string]string{"f.csv": text.String()}), trace.Options{Sample: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	tasks := map[string]int{}
	for _, j := range jobs {
		tasks[j.Group]++
	}
	for group, n := range tasks {
		if n != 10 {
			t.Errorf("job %s has %d of its 10 tasks", group, n)
		}
	}
	if len(tasks) < 60 || len(tasks) > 140 {
		t.Errorf("%d of 200 jobs in a sample of a half", len(tasks))
	}
}

// TestHorizonBoundsWhatIsHeld: a task that never ends does not hold up those
// behind it for longer than the horizon, and what has not ended by then is known to
// have run at least so long.
func TestHorizonBoundsWhatIsHeld(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("0,,1,0,,0,u,0,0,0.1,0.1,0.1,0\n0,,1,0,5,1,u,0,0,0.1,0.1,0.1,0\n")
	for i := range 100 {
		at := int64(i) * 60_000_000
		fmt.Fprintf(&text, "%d,,2,%d,,0,u,0,0,0.1,0.1,0.1,0\n%d,,2,%d,5,1,u,0,0,0.1,0.1,0.1,0\n%d,,2,%d,5,4,u,0,0,0.1,0.1,0.1,0\n", at, i, at, i, at+1000, i)
	}
	jobs, skips, err := readAll("google-2011", folderOf(map[string]string{"f.csv": text.String()}), trace.Options{Horizon: 10 * time.Minute})
	if err != nil || len(jobs) != 101 || len(skips) != 0 {
		t.Fatalf("%d jobs, skips %v, %v", len(jobs), skips, err)
	}
	if j := jobs[0]; j.Known() || j.AtLeast != 10*time.Minute+time.Millisecond {
		t.Errorf("the endless task: duration %s, at least %s; want unknown and what it ran when the horizon passed", j.Duration, j.AtLeast)
	}
	for _, j := range jobs[1:] {
		if j.Duration != time.Millisecond {
			t.Fatalf("job %s ran %s", j.ID, j.Duration)
		}
	}
}

func TestUnfinishedAndUnorderedJobsAreCounted(t *testing.T) {
	t.Parallel()
	folder := folderOf(map[string]string{"f.csv": "5,,1,0,,0,u,0,0,0.1,0.1,0.1,0\n4,,2,0,,0,u,0,0,0.1,0.1,0.1,0\n"})
	jobs, skips, err := readAll("google-2011", folder, trace.Options{})
	if err != nil || len(jobs) != 1 || skips["a submission before that of an earlier row"] != 1 {
		t.Errorf("%d jobs, %v, %v", len(jobs), skips, err)
	}
	jobs, skips, err = readAll("google-2011", folder, trace.Options{SkipUnfinished: true})
	if err != nil || len(jobs) != 0 || skips["its duration is not known"] != 1 {
		t.Errorf("%d jobs, %v, %v", len(jobs), skips, err)
	}
}

// TestMachinesShareTheClockOfJobs: machines that were added before the stretch
// are there when it starts, and later changes come at the pace of the jobs.
func TestMachinesShareTheClockOfJobs(t *testing.T) {
	t.Parallel()
	d, err := trace.Lookup("google-2011")
	if err != nil {
		t.Fatal(err)
	}
	folder := folderOf(map[string]string{"m.csv": "0,5,0,A,0.5,0.25\n1000000,6,0,A,1,1\n20000000,6,1,A,,\n90000000,7,0,A,1,1\n"})
	r, err := d.OpenNodes(folder, trace.Options{From: 10 * time.Second, To: 60 * time.Second, SubmitScale: 0.5, LargestCores: 64})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		node   string
		at     time.Duration
		change trace.Change
		cores  float64
	}{{"5", 0, trace.Added, 32}, {"6", 0, trace.Added, 64}, {"6", 5 * time.Second, trace.Removed, 64}}
	for _, w := range want {
		e, err := r.Next()
		if err != nil || e.Node != w.node || e.At != w.at || e.Change != w.change || e.Cores != w.cores {
			t.Errorf("got %+v, %v; want %+v", e, err, w)
		}
	}
	if n := r.Skips()["after the stretch that is read"]; n != 1 {
		t.Errorf("%d events after the stretch, want 1", n)
	}
}
