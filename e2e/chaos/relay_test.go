package main

import (
	"bufio"
	"net"
	"os"
	"testing"
	"time"
)

// A link that is cut delivers nothing until it is whole again, and other peers' links go on.
func TestARelayCutsOnePeer(t *testing.T) {
	t.Parallel()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for s := bufio.NewScanner(c); s.Scan(); {
					if _, err := c.Write([]byte(s.Text() + "\n")); err != nil {
						return
					}
				}
			}()
		}
	}()
	peers := make(chan string)
	r, err := newRelay(0, echo.Addr().String(), func(port int) string {
		if !ownsPort(os.Getpid(), port) {
			t.Errorf("port %d is not found to be of this process", port)
		}
		return <-peers
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	dial := func(peer string) net.Conn {
		c, err := net.Dial("tcp", r.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		peers <- peer
		return c
	}
	say := func(c net.Conn, within time.Duration) error {
		if _, err := c.Write([]byte("hello\n")); err != nil {
			return err
		}
		if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
			return err
		}
		_, err := bufio.NewReader(c).ReadString('\n')
		return err
	}
	one, other := dial("one"), dial("other")
	defer one.Close()
	defer other.Close()
	if err := say(one, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	r.set("one", link{cut: true})
	if err := say(one, 100*time.Millisecond); err == nil {
		t.Error("a cut link delivers")
	}
	if err := say(other, 10*time.Second); err != nil {
		t.Errorf("the link of another peer: %v", err)
	}
	r.set("one", link{})
	again := dial("one")
	defer again.Close()
	if err := say(again, 10*time.Second); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}
