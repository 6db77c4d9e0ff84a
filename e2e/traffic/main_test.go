//go:build e2e

package traffic

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// What the test's own executable does when it is started in a network namespace, by its first
// argument.
const (
	answers = "answer" // who asks at an address
	asks    = "ask"    // who answers at an address, for ever
	plays   = "play"   // the part of a model that a file has
	churns  = "churn"  // with an address: 1,000 connections a second to it, until it is ended
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	do := map[string]func(string) error{answers: answer, asks: ask, plays: play, churns: churn}
	if len(os.Args) == 3 && do[os.Args[1]] != nil {
		if err := do[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func answer(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	capturetest.Answer(l)
	return nil
}

// What is asked for so often, in bytes: some 2 MB a second.
const (
	askEvery   = 100 * time.Millisecond
	askBytes   = 20_000
	answerSize = 200_000
)

func ask(address string) error {
	for {
		conn, err := net.Dial("tcp", address)
		for err == nil {
			err = capturetest.Exchange(conn, askBytes, answerSize)
			time.Sleep(askEvery)
		}
		if conn != nil {
			conn.Close()
		}
		time.Sleep(askEvery)
	}
}

// connectionsPerSecond is what churn makes, a few at a time.
const (
	connectionsPerSecond = 1000
	connectionsAtOnce    = 10
)

// churn makes connection after connection, each with one exchange. It says how many there were
// when its input ends.
func churn(address string) error {
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the pipe is closed
		close(over)
	}()
	var made atomic.Int64
	for next := time.Now(); ; next = next.Add(time.Second * connectionsAtOnce / connectionsPerSecond) {
		select {
		case <-over:
			fmt.Println(made.Load())
			return nil
		case <-time.After(time.Until(next)): // what a busy machine missed is made up for
		}
		for range connectionsAtOnce {
			go func() {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer conn.Close()
				if capturetest.Exchange(conn, 100, 100) == nil {
					made.Add(1)
				}
			}()
		}
	}
}

// play says when it listens, plays from the first line that it is told until there are no more,
// and says what it has sent.
func play(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r replay.Request
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	part, err := r.Part()
	if err != nil {
		return err
	}
	l, err := replay.Listen(r.Listen, r.Key)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("listening")
	told := bufio.NewReader(os.Stdin)
	if _, err := told.ReadString('\n'); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, told) // until the pipe is closed
		stop()
	}()
	p := replay.New(r, part)
	if err := p.Play(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(p.Report())
}
