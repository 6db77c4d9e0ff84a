package main

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// config is what the plugin and a target in a policy are configured with, together.
type config struct {
	dir, class    string
	ports         int // the first
	most          int // nodes
	binary, token string
	spinUp, drain time.Duration
	cpus          []int  // of the nodes; none: all
	memoryMB      int    // that the nodes say they have; 0: what there is
	hcl           string // merged over the nodes' agent files, with their names in place of NODE
}

// The defaults.
const (
	defaultMost  = 3
	defaultDrain = 10 * time.Second
)

// newConfig reads the settings; those of the policy win. Others are not ours.
func newConfig(plugin, policy map[string]string) (config, error) {
	all := maps.Clone(plugin)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, policy)
	r := reader{settings: all}
	c := config{
		dir: r.text("dir"), class: r.text("node_class"), ports: r.number("http_port_base", 0), most: r.number("max", defaultMost),
		binary: all["nomad_binary"], token: all["nomad_token"], spinUp: r.duration("spin_up", 0), drain: r.duration("drain_deadline", defaultDrain),
		cpus: r.numbers("cpus"), memoryMB: r.number("memory_mb", 0), hcl: r.file("hcl_file"),
	}
	if r.err == nil && c.ports == 0 {
		r.fail("http_port_base", "is missing")
	}
	return c, r.err
}

// reader reads settings and keeps the first mistake.
type reader struct {
	settings map[string]string
	err      error
}

func (r *reader) fail(key, what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: the setting %s %s", name, key, what)
	}
}

func (r *reader) text(key string) string {
	if r.settings[key] == "" {
		r.fail(key, "is missing")
	}
	return r.settings[key]
}

func (r *reader) number(key string, otherwise int) int {
	text, ok := r.settings[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.fail(key, fmt.Sprintf("is %q; want a whole number", text))
	}
	return n
}

func (r *reader) numbers(key string) []int {
	var list []int
	for _, text := range strings.FieldsFunc(r.settings[key], func(c rune) bool { return c == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			r.fail(key, fmt.Sprintf("has %q; want numbers with commas between them", text))
		}
		list = append(list, n)
	}
	return list
}

func (r *reader) duration(key string, otherwise time.Duration) time.Duration {
	text, ok := r.settings[key]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		r.fail(key, fmt.Sprintf("is %q; want a duration such as 10s", text))
	}
	return d
}

func (r *reader) file(key string) string {
	path := r.settings[key]
	if path == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		r.fail(key, err.Error())
	}
	return string(text)
}

// client describes a new node.
func (c config) client(name string) cluster.Client {
	return cluster.Client{
		Name: name, Class: c.class, CPUs: c.cpus, MemoryMB: c.memoryMB, HCL: strings.ReplaceAll(c.hcl, "NODE", name),
	}
}
