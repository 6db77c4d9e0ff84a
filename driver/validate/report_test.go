package validate

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// canned is a report of every kind of result.
func canned() Report {
	interval := func(c, low, high Number) Interval { return Interval{c, low, high, 0.96875, 6} }
	none := Interval{unknown, unknown, unknown, unknown, 0}
	line := func(s interference.Source, bend Number) Linearity {
		l := Linearity{Source: s, Placement: placementBeside, Measure: measurePeak, PeakOps: 17.33e9, Unit: "bytes"}
		for _, down := range []bool{false, true} {
			for x := 0.0; x <= 100; x += 20 {
				l.Points = append(l.Points, LinearPoint{x, Number(x) + bend*Number(x*(100-x)/2500), down})
			}
		}
		l.RSquared, l.MaxGap = straightness(l.Points)
		return l
	}
	curve := VictimCurve{Source: interference.MemoryBandwidth, Victim: "memchr", Does: "reads <all> of it", Placement: placementBeside}
	for x := 10.0; x <= 100; x += 10 {
		n := Number(x) / 3
		curve.Points = append(curve.Points, VictimPoint{x, interval(n, n-1, n+1)})
	}
	curve.judge()
	return Report{
		Format: ReportFormat, CommandLine: "nomad-driver-ibench validate -report out.html", Program: "0123456789abcdef",
		Machine: MachineRecord{
			Key:  ibench.MachineKey{CPUModel: "Fake CPU", KernelRelease: "6.1.0", Virtual: true, CPUs: "0-1"},
			CPUs: 2, MemoryBytes: 8 << 30, VictimCPU: 1, BesideCPUs: []int{0}, CalibrationID: "abc",
			Caches: []ibench.Cache{{Level: 1, Type: ibench.CacheData, SizeBytes: 32 << 10, SharedCPUs: []int{0}}},
		},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ended: time.Date(2026, 1, 2, 3, 14, 5, 0, time.UTC),
		MeasuredSeconds: 512.25, Seed: 7,
		Sources: []SourceRecord{
			{Source: interference.MemoryBandwidth, Status: ibench.StatusSupported, Knob: ibench.Rate},
			{Source: interference.L1Data, Status: ibench.StatusNonlinear, Reason: "off by 8 points", Knob: ibench.Footprint},
			{Source: interference.StorageCapacity, Status: ibench.StatusUnsupported, Reason: "needs a path | a directory"},
		},
		Linearity: []Linearity{line(interference.MemoryBandwidth, 1), line(interference.L1Data, 8)},
		Victims: []VictimCurve{curve, {
			Source: interference.L1Data, Victim: "chase", Placement: placementSame, RiseViolation: unknown, Verdict: verdictNoEffect,
			Points: []VictimPoint{{100, none}},
		}},
		Displacements: []Displacement{{
			Source: interference.L1Data, Probe: "probe", Placement: placementSame, UnitBytes: 24 << 10, QuietNs: 1.5, FullNs: 4,
			Points: []LinearPoint{{0, 0, false}, {100, 80, false}}, RSquared: 0.92, MaxGap: 20, Verdict: "80 % of the unit displaced at 100",
		}},
		CrossTalk: []CrossTalk{
			{interference.MemoryBandwidth, interference.L1Data, PairLoss{placementBeside, interval(30, 25, 35), VerdictMiss, ""}},
			{interference.L1Data, interference.MemoryBandwidth, PairLoss{placementBeside, interval(-1, -2, 0.5), VerdictOK, ""}},
		},
		OffTarget: []OffTarget{
			{interference.MemoryBandwidth, interference.L1Data, PairLoss{placementSame, interval(50, 45, 55), VerdictExpected, "both share one CPU"}},
			{interference.L1Data, interference.MemoryBandwidth, PairLoss{placementBeside, none, VerdictMiss, "nothing was measured"}},
		},
		Yardsticks: []YardstickResult{
			{Source: interference.MemoryBandwidth, Yardstick: "memchr", Compares: "bytes", Unit: "B/s", Kernel: 19e9, Other: 20e9, Ratio: interval(0.95, 0.94, 0.97), Counts: true},
			{Source: interference.MemoryBandwidth, Yardstick: "STREAM copy", Compares: "bytes", Unit: "B/s", Kernel: 19e9, Other: 40e9, Ratio: interval(0.475, 0.45, 0.5), Counts: true},
			{Source: interference.L1Data, Yardstick: "fio", Compares: "bytes", Unit: "B/s", Kernel: unknown, Other: unknown, Ratio: none, Absent: "fio is not installed: not compared (apt-get install fio)", Counts: true},
		},
		Failures: []Failure{{Cell: "l1d against it", Reason: "it ended <before> it was ready"}},
		Notes:    []string{"no cgroup could be made"},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	r := canned()
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"report.html": string(page), "report.md": r.Markdown(), "summary.txt": r.Summary(false),
	} {
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s; run the test with -update and read the diff", name, path)
		}
	}
}

func TestHTMLStandsAlone(t *testing.T) {
	t.Parallel()
	page, err := canned().HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, no := range []string{"http://", "https://", "<script", "@import", "NaN", "<all>"} {
		if strings.Contains(strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, ""), no) {
			t.Errorf("the page holds %q", no)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "MISS", "Fake CPU", "<svg", "published"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// The page is not XHTML, but every picture in it is well-formed.
	for rest := text; ; {
		start := strings.Index(rest, "<svg")
		if start < 0 {
			return
		}
		end := start + strings.Index(rest[start:], "</svg>") + len("</svg>")
		for d := xml.NewDecoder(strings.NewReader(rest[start:end])); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rest = rest[end:]
	}
}

func TestReportJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(canned())
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Yardsticks[2].Kernel.Known() || back.Yardsticks[0].Kernel != 19e9 {
		t.Error("unknown numbers do not survive")
	}
}

func TestSummaryColours(t *testing.T) {
	t.Parallel()
	if strings.Contains(canned().Summary(false), "\x1b[") || !strings.Contains(canned().Summary(true), "\x1b[31m") {
		t.Error("colours where none are asked for, or the other way round")
	}
}
