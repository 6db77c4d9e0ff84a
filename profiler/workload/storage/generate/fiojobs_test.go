package generate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

func jobFile(t *testing.T, m *model.Model, o generate.JobOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := generate.WriteJobs(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sections are the jobs of a file, each as its lines.
func sections(file string) map[string]map[string]string {
	out := map[string]map[string]string{}
	name := ""
	for line := range strings.SplitSeq(file, "\n") {
		switch key, value, ok := strings.Cut(line, "="); {
		case strings.HasPrefix(line, "["):
			name = strings.Trim(line, "[]")
			out[name] = map[string]string{}
		case ok && !strings.HasPrefix(line, ";"):
			out[name][key] = value
		}
	}
	return out
}

// The jobs of a file have together the rate of the model, each of its own size and
// direction, and shares of addresses that add up to 100 and to the device.
func TestJobFiles(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(100_000, 2), model.Options{Levels: 5})
	file := jobFile(t, m, generate.JobOptions{Data: "/scratch/x", Runtime: time.Minute})
	all := sections(file)
	global := all["global"]
	if global["runtime"] != "60" || global["size"] != fmt.Sprint(m.Device.Bytes) || global["direct"] != "1" {
		t.Errorf("global %v", global)
	}
	delete(all, "global")
	if len(all) < 6 || len(all) > len(m.Categories)*len(m.Types) {
		t.Fatalf("%d jobs of %d categories and %d types", len(all), len(m.Categories), len(m.Types))
	}
	rate := 0.0
	zone := regexp.MustCompile(`(\d+)/(\d+)`)
	for name, job := range all {
		if job["filename"] != "/scratch/x" || !strings.HasSuffix(name, "-"+job["bs"]) {
			t.Errorf("%s: %v", name, job)
		}
		if v, err := strconv.ParseFloat(job["rate_iops"], 64); err == nil {
			rate += v
		} else {
			wait, err := strconv.ParseFloat(job["thinktime"], 64)
			if err != nil {
				t.Fatalf("%s has neither a rate nor a wait", name)
			}
			rate += 1e6 / wait
		}
		if strings.Contains(name, "-sequential-") {
			if strings.HasPrefix(job["rw"], "rand") || job["offset"] == "" {
				t.Errorf("%s: %v", name, job)
			}
			continue
		}
		percents, bytes := 0, int64(0)
		zones := zone.FindAllStringSubmatch(job["random_distribution"], -1)
		for _, z := range zones {
			p, err1 := strconv.Atoi(z[1])
			n, err2 := strconv.ParseInt(z[2], 10, 64)
			if err := errors.Join(err1, err2); err != nil || p < 1 || n < 1 {
				t.Fatalf("%s: zone %v: %v", name, z, err)
			}
			percents, bytes = percents+p, bytes+n
		}
		if percents != 100 || bytes != m.Device.Bytes || len(zones) > 256 || !strings.HasPrefix(job["rw"], "rand") {
			t.Errorf("%s: %d zones, %d %%, %d bytes: %v", name, len(zones), percents, bytes, job)
		}
	}
	if want := float64(m.IOs()) / m.Capture.Seconds; math.Abs(rate/want-1) > 0.05 {
		t.Errorf("all jobs have %.1f IOPS, the model %.1f", rate, want)
	}
	for _, want := range []string{"; - which state follows which", "never name a device with data"} {
		if !strings.Contains(file, want) {
			t.Errorf("the head does not say %q", want)
		}
	}
	if again := jobFile(t, m, generate.JobOptions{Data: "/scratch/x", Runtime: time.Minute}); again != file {
		t.Error("written twice, it is another file")
	}
}

func TestJobFilesOfIntervals(t *testing.T) {
	t.Parallel()
	m := fit(t, mixed(400_000, 8), model.Options{Levels: 2})
	sum := func(o generate.JobOptions) (iops, runtime float64) {
		for name, job := range sections(jobFile(t, m, o)) {
			if name == "global" {
				runtime, _ = strconv.ParseFloat(job["runtime"], 64)
			}
			if v, err := strconv.ParseFloat(job["rate_iops"], 64); err == nil {
				iops += v
			} else if v, err := strconv.ParseFloat(job["thinktime"], 64); err == nil {
				iops += 1e6 / v
			}
		}
		return iops, runtime
	}
	fast, runtime := sum(generate.JobOptions{Data: "x", Interval: 1})
	slow, _ := sum(generate.JobOptions{Data: "x", Interval: 3})
	half, _ := sum(generate.JobOptions{Data: "x", Interval: 1, Intensity: 2})
	of := func(interval int) (rate float64) {
		for _, t := range m.Types {
			rate += float64(t.Intervals[interval-1].IOs) / t.Intervals[interval-1].Seconds
		}
		return rate
	}
	if of(1) < 2*of(3) {
		t.Fatalf("the trace has %g IOPS, then %g: no difference to see", of(1), of(3))
	}
	if runtime != 1800 || math.Abs(fast/of(1)-1) > 0.05 || math.Abs(slow/of(3)-1) > 0.05 || math.Abs(fast/half-2) > 0.1 {
		t.Errorf("%g IOPS, then %g, and %g with longer gaps; for %g s", fast, slow, half, runtime)
	}
	if deep := jobFile(t, m, generate.JobOptions{Data: "x", Depth: 8}); !strings.Contains(deep, "iodepth=8\n") || strings.Contains(deep, "rate_iops") {
		t.Error("a depth and a rate exclude each other")
	}
	for name, o := range map[string]generate.JobOptions{
		"interval": {Data: "x", Interval: 99}, "negative": {Data: "x", Interval: -1}, "intensity": {Data: "x", Intensity: -1},
	} {
		if err := generate.WriteJobs(&bytes.Buffer{}, m, o); !errors.Is(err, generate.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
