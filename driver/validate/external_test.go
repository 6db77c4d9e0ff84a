package validate

import (
	"math"
	"strings"
	"testing"
)

func TestParseFio(t *testing.T) {
	t.Parallel()
	got, err := parseFio([]byte("fio: a note\n" + `{"fio version":"fio-3.33","jobs":[{"read":{"bw_bytes":1307315532,"iops":1246.75}}]}`))
	if err != nil || got != 1307315532 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "no json", `{"jobs":[]}`, `{"jobs":`} {
		if v, err := parseFio([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, v)
		}
	}
}

func TestParseIperf(t *testing.T) {
	t.Parallel()
	got, err := parseIperf([]byte(`{"end":{"sum_sent":{"bits_per_second":25192847338.8},"sum_received":{"bits_per_second":25177340826.0}}}`))
	if err != nil || got != 25177340826 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseIperf([]byte(`{"error":"unable to connect"}`)); err == nil || !strings.Contains(err.Error(), "unable to connect") {
		t.Errorf("a refused connection: %v", err)
	}
}

func TestParseStress(t *testing.T) {
	t.Parallel()
	metrics := "metrics:\n    - stressor: stream\n      memory-read-rate-mb-per-sec: 10999.5\n      memory-write-rate-mb-per-sec: 7332.5\n      memory-rate-mflop-per-sec: 961.1\n"
	got, err := parseStress([]byte(metrics), 2)
	if want := 2 * 18332.0 * (1 << 20); err != nil || math.Abs(got-want) > 1 {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := parseStress([]byte("metrics:\n    - stressor: stream\n      bogo-ops: 26\n"), 1); err == nil {
		t.Error("bogo operations are a rate")
	}
}

func TestToolsSayHowToInstall(t *testing.T) {
	t.Parallel()
	for _, tool := range []tool{toolFio, toolIperf, toolStressNg} {
		if !strings.Contains(usageText, strings.TrimPrefix(tool.install, "apt-get install ")) {
			t.Errorf("the instructions do not mention %s", tool.command)
		}
	}
	if err := (tool{"no-such-program", "apt-get install it"}).here(); err == nil || !strings.Contains(err.Error(), "not installed: not compared") {
		t.Errorf("a program that is not there: %v", err)
	}
}
