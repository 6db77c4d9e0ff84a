package main

import (
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

func TestOnLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:9464": true, "127.3.2.1:9464": true, "[::1]:9464": true, "http://localhost:1": true, ":9464": true, "0.0.0.0:9464": true, "[::]:9464": true,
		"http://10.0.0.1:9464": false, "https://placer.example/pages": false, "placer.example:9464": false, "[2001:db8::1]:9464": false,
	} {
		if got := onLoopback(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}

// A loopback address is the leader's on its own host only: elsewhere, whoever listens
// there would be sent jobs, and asked to decide on them.
func TestALoopbackAddressOfAnotherHostIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said nomadapi.Leader
		want string // "" means that it is not used
	}{
		{nomadapi.Leader{Address: "http://127.0.0.1:9464", Loopback: "here"}, "http://127.0.0.1:9464"},
		{nomadapi.Leader{Address: "127.0.0.1:9464", Loopback: "here"}, "http://127.0.0.1:9464"},
		{nomadapi.Leader{Address: "http://127.0.0.1:9464", Loopback: "elsewhere"}, ""},
		{nomadapi.Leader{Address: "0.0.0.0:9464", Loopback: "elsewhere"}, ""},
		{nomadapi.Leader{Address: "http://127.0.0.1:9464"}, ""},
		{nomadapi.Leader{Address: "https://placer.example", Loopback: ""}, "https://placer.example"},
		{nomadapi.Leader{}, ""},
	} {
		l := &leader{loopback: "here"}
		found, err := l.locate(c.said)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%+v: used as %s", c.said, found)
		case c.want != "" && (err != nil || found.String() != c.want):
			t.Errorf("%+v: %v, %v", c.said, found, err)
		case c.want == "" && c.said.Address != "" && !strings.Contains(err.Error(), "-dashboard-url"):
			t.Errorf("%+v: no hint in %v", c.said, err)
		}
	}
	if _, err := (&leader{}).locate(nomadapi.Leader{Address: "127.0.0.1:1"}); err == nil {
		t.Error("two unknown networks count as one")
	}
}
