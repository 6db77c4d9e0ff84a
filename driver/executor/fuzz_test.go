package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
)

// peer is the other end of a control socket: it writes its lines, and hangs up after so
// many answers.
type peer struct {
	net.Conn
	in   io.Reader
	out  bytes.Buffer
	left int
}

func (p *peer) Read(to []byte) (int, error) { return p.in.Read(to) }
func (p *peer) Close() error                { return nil }

func (p *peer) Write(data []byte) (int, error) {
	if p.left--; p.left < 0 {
		return 0, errors.New("hung up")
	}
	return p.out.Write(data)
}

// commanded keeps the commands it is given.
type commanded struct{ got []Request }

func (h *commanded) handle(_ context.Context, r Request) Response {
	h.got = append(h.got, r)
	return Response{}
}

func (h *commanded) events() (<-chan Event, func()) {
	endless := make(chan Event)
	close(endless)
	return endless, func() {}
}

// FuzzControl: whatever is written to the socket of a task, each line is one command with
// one answer, what is no command ends the connection, and a ramp that is taken has
// bounded levels.
func FuzzControl(f *testing.F) {
	f.Add([]byte(`{"command":"set","percent":30}` + "\n" + `{"command":"stats"}` + "\n"))
	f.Add([]byte(`{"command":"ramp","ramp":{"from_percent":0,"to_percent":100,"step_percent":0.1,"dwell":1}}` + "\n"))
	f.Add([]byte(`{"command":"events"}` + "\n" + `{"command":"set"}` + "\n"))
	f.Add([]byte("\x00\n{}\n"))
	f.Add(bytes.Repeat([]byte("x"), maxLine+1))
	f.Fuzz(func(t *testing.T, lines []byte) {
		const patience = 1000
		p, h := &peer{in: bytes.NewReader(lines), left: patience}, &commanded{}
		serveConn(t.Context(), p, h)
		if most := bytes.Count(lines, []byte("\n")) + 1; len(h.got) > most {
			t.Fatalf("%d commands in %d lines", len(h.got), most)
		}
		answers := 0
		for in := json.NewDecoder(&p.out); ; answers++ {
			var r Response
			if err := in.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("an answer that is none: %v", err)
			}
		}
		if answers < min(len(h.got), patience) {
			t.Fatalf("%d answers to %d commands", answers, len(h.got))
		}
		for _, r := range h.got {
			if r.Ramp != nil && r.Ramp.Check() == nil && len(r.Ramp.Levels()) > MaxRampLevels+1 {
				t.Fatalf("%+v has %d levels", *r.Ramp, len(r.Ramp.Levels()))
			}
		}
	})
}
