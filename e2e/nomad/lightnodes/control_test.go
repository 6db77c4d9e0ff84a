package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCommandsFailNodes(t *testing.T) {
	a, b := &lightNode{}, &lightNode{}
	lives, fails := a.untilItFails(t.Context()), b.untilItFails(t.Context())
	var said bytes.Buffer
	nodes := map[string]*lightNode{"a": a, "b": b, "joins later": {}}
	obey(strings.NewReader("{\"Fail\":\"b\"}\n{\"Fail\":\"joins later\"}\n{\"Fail\":\"c\"}\n{}\nfail\n"), nodes, newEvents(&said))
	if lives.Err() != nil || fails.Err() == nil {
		t.Errorf("a: %v, b: %v, and b was to fail", lives.Err(), fails.Err())
	}
	problems := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(problems) != 3 || !strings.Contains(problems[0], "no light node") || !strings.Contains(problems[1], errNoCommand.Error()) {
		t.Errorf("%d problems instead of 3: %s", len(problems), said.String())
	}
}
