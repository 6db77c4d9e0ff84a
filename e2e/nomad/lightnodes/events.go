package main

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/nomad/nomad/structs"
)

// event is one line of output.
type event struct {
	Kind       string    // "ready", "running", "complete" or "problem"
	At         time.Time // of a report: when the server had taken it
	Nodes      int       `json:",omitempty"` // ready so far
	Node       string    `json:",omitempty"` // its ID; its name with a problem
	Job        string    `json:",omitempty"`
	Allocation string    `json:",omitempty"`
	Problem    string    `json:",omitempty"`
}

// events writes lines; a line is whole whoever else writes.
type events struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func newEvents(w io.Writer) *events { return &events{out: bufio.NewWriter(w)} }

func (e *events) write(line event) {
	text, err := json.Marshal(line)
	if err != nil {
		return // unreachable: the fields are texts, numbers and a time
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	// A reader that is gone ends this program by SIGPIPE.
	_, _ = e.out.Write(append(text, '\n'))
	_ = e.out.Flush()
}

func (e *events) ready(nodes int) { e.write(event{Kind: "ready", At: time.Now(), Nodes: nodes}) }

func (e *events) problem(node string, err error) {
	e.write(event{Kind: "problem", At: time.Now(), Node: node, Problem: err.Error()})
}

func (e *events) allocation(a *structs.Allocation, at time.Time) {
	e.write(event{Kind: a.ClientStatus, At: at, Node: a.NodeID, Job: a.JobID, Allocation: a.ID})
}
