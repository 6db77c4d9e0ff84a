package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// command is one line of input.
type command struct {
	Fail string // the ID of a node that fails, for good
}

// obey carries out the commands that are read, until there are no more.
func obey(in io.Reader, nodes map[string]*lightNode, out *events) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := carryOut(lines.Bytes(), nodes); err != nil {
			out.problem("", fmt.Errorf("command %q: %w", lines.Text(), err))
		}
	}
}

var errNoCommand = errors.New("it asks for nothing")

func carryOut(line []byte, nodes map[string]*lightNode) error {
	var c command
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	if c.Fail == "" {
		return errNoCommand
	}
	n, ok := nodes[c.Fail]
	if !ok {
		return fmt.Errorf("no light node %q", c.Fail)
	}
	n.fail()
	return nil
}
