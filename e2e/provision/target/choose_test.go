package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	all := []candidate{
		{name: "busy", id: "1", allocations: 2}, {name: "idle", id: "2"}, {name: "draining", id: "3", leaving: true},
		{name: "coming"}, {name: "busy too", id: "5", allocations: 1},
	}
	for _, c := range []struct {
		count int
		named []string
		want  []string
		fails string
	}{
		{1, nil, []string{"coming"}, ""},
		{2, nil, []string{"coming", "draining"}, ""},
		{3, nil, []string{"coming", "draining", "idle"}, ""},
		{5, nil, []string{"coming", "draining", "idle"}, ""}, // jobs run on
		{1, []string{"1"}, []string{"busy"}, ""},
		{2, []string{"2"}, []string{"idle"}, ""},      // no others
		{1, []string{"2", "1"}, []string{"busy"}, ""}, // the other one is to go later
		{1, []string{"9", "2"}, []string{"idle"}, ""}, // the first is gone already
		{2, []string{"2", "2"}, []string{"idle"}, ""},
		{1, []string{"9"}, nil, ""},
		{1, []string{""}, nil, ""}, // not the one that Nomad does not know
	} {
		got, err := choose(all, c.count, c.named)
		var names []string
		for _, g := range got {
			names = append(names, g.name)
		}
		if !slices.Equal(names, c.want) || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%d of %v: %v, %v, want %v, %q", c.count, c.named, names, err, c.want, c.fails)
		}
	}
	if _, err := choose(all[:1], 1, nil); err == nil {
		t.Error("a node with jobs was ended")
	}
}

func TestNamedNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		meta, fails string
		want        []string
	}{
		{"", "", nil},
		{`{"nomad_policy_id": "burst-4"}`, "", nil},
		{`{"nomad_placer_nodes": "a,b"}`, "", []string{"a", "b"}},
		{`{"nomad_placer_nodes": ["a"]}`, "want Nomad IDs", nil},
		{`{"nomad_placer_nodes": ""}`, "want Nomad IDs", nil},
		{`[1]`, "the action's meta", nil},
	} {
		got, err := namedNodes([]byte(c.meta))
		if !slices.Equal(got, c.want) || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, %v, want %v, %q", c.meta, got, err, c.want, c.fails)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	plugin := map[string]string{"dir": "/tmp/run", "http_port_base": "19600", "max": "2", "nomad_address": "http://127.0.0.1:4646"}
	c, err := newConfig(plugin, map[string]string{"node_class": "burst-4", "max": "5", "spin_up": "2s", "node_purge": "true", "cpus": "0,1"})
	if err != nil || c.most != 5 || c.ports != 19600 || c.spinUp != 2*time.Second || c.drain != defaultDrain || !slices.Equal(c.cpus, []int{0, 1}) {
		t.Errorf("%+v, %v", c, err)
	}
	for key, value := range map[string]string{"dir": "", "node_class": "", "http_port_base": "first", "max": "-1", "spin_up": "soon", "drain_deadline": "-1s", "cpus": "0,x", "hcl_file": "/missing"} {
		if _, err := newConfig(plugin, map[string]string{"node_class": "burst-4", key: value}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s = %q: %v", key, value, err)
		}
	}
	if _, err := newConfig(nil, nil); err == nil {
		t.Error("no settings at all were taken")
	}
}

func TestNewName(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	first := newName("burst-4", nil, now)
	second := newName("burst-4", []cluster.Rented{{Name: first}}, now)
	if first == second || !strings.HasPrefix(second, "burst-4-") || len(second) > len("burst-4-12345") {
		t.Errorf("%q, %q", first, second)
	}
}
