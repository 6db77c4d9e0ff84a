package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof" // the handlers that a server has
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

func TestSamplesCountForTheirInnermostGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		leafFirst []string
		group     string
	}{
		{[]string{"runtime.mallocgc", "encoding/json.Marshal", "github.com/hashicorp/nomad/command/agent.(*HTTPServer).wrap.func1"}, groupJSON},
		{[]string{"runtime.gcAssistAlloc", "runtime.mallocgc", "github.com/hashicorp/nomad/scheduler.(*GenericStack).Select"}, groupCollection},
		{[]string{"github.com/hashicorp/go-immutable-radix.(*Iterator).Next", "github.com/hashicorp/nomad/scheduler/feasible.(*X).Next"}, groupState},
		{[]string{"math.Exp", "github.com/hashicorp/nomad/scheduler/feasible.(*X).Next"}, "scheduler"},
		{[]string{"github.com/hashicorp/nomad/nomad.(*Node).GetClientAllocs"}, "nodes: heartbeats, their allocations"},
		{[]string{"github.com/hashicorp/nomad/nomad.(*Server).Leave"}, groupServer},
		{[]string{"runtime.memmove", ourModule + "placer/board.(*Board).Place"}, "placer/board"},
		{[]string{ourModule + "placer/numeric/dist.Convolve[...]"}, "placer/numeric/dist"},
		{[]string{"runtime.futex", "runtime.findRunnable", "runtime.mcall"}, groupRuntime},
		{[]string{"syscall.Syscall", "main.main"}, groupOther},
	} {
		s := &profile.Sample{}
		for _, name := range c.leafFirst {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		if got := groupOf(s); got != c.group {
			t.Errorf("%v is of %q, want %q", c.leafFirst, got, c.group)
		}
	}
}

// TestProfilesOfAServer takes a profile of this process while it works on JSON.
func TestProfilesOfAServer(t *testing.T) {
	server := httptest.NewServer(http.DefaultServeMux)
	defer server.Close()
	work, rest := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		list := make([]map[string]int, 1000)
		for i := range list {
			list[i] = map[string]int{"number": i}
		}
		for work.Err() == nil {
			_, _ = json.Marshal(list)
		}
	}()
	got, err := profileOf(t.Context(), server.URL).stop(10)
	rest()
	<-ended
	if err != nil {
		t.Fatal(err)
	}
	if got.Jobs != 10 || got.Millis[groupJSON] <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestTableOfProfiles(t *testing.T) {
	t.Parallel()
	p := Profiles{
		ServerStock:  CPUTime{Jobs: 2, Millis: map[string]float64{"scheduler": 30, groupJSON: 10}},
		ServerPlacer: CPUTime{Jobs: 2, Millis: map[string]float64{"scheduler": 199, "plans": 1}},
		Agent:        CPUTime{Jobs: 2, Millis: map[string]float64{"placer/board": 2}},
	}
	var b bytes.Buffer
	p.write(&b)
	for _, want := range []string{
		"| scheduler | 15.00 ms, 75 % | 99.50 ms, 100 % |  |",
		"| placer/board |  |  | 1.00 ms, 100 % |",
		"| each below 1 % |  | 0.50 ms, 0 % |  |",
		"| all | 20.00 ms, 100 % | 100.00 ms, 100 % | 1.00 ms, 100 % |",
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no line %q in:\n%s", want, b.String())
		}
	}
}
