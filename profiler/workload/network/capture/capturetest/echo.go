package capturetest

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// Answer serves a protocol that says how much it wants: two numbers of 8 bytes, how many
// bytes follow and how many are to be answered. It ends with the listener.
func Answer(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go answerOne(conn)
	}
}

// head is how long the two numbers are.
const head = 16

func answerOne(conn net.Conn) {
	defer conn.Close()
	var text [head]byte
	for {
		if _, err := io.ReadFull(conn, text[:]); err != nil {
			return
		}
		in, out := int64(binary.BigEndian.Uint64(text[:])), int64(binary.BigEndian.Uint64(text[8:]))
		if _, err := io.CopyN(io.Discard, conn, in); err != nil {
			return
		}
		if _, err := io.CopyN(conn, zeros{}, out); err != nil {
			return
		}
	}
}

// Exchange sends so many bytes in all, which are 16 at least, and reads so many.
func Exchange(conn net.Conn, send, receive int64) error {
	var text [head]byte
	binary.BigEndian.PutUint64(text[:], uint64(send-head))
	binary.BigEndian.PutUint64(text[8:], uint64(receive))
	if _, err := conn.Write(text[:]); err != nil {
		return err
	}
	var sent sync.WaitGroup
	var sendErr error
	sent.Go(func() { _, sendErr = io.CopyN(conn, zeros{}, send-head) })
	_, err := io.CopyN(io.Discard, conn, receive)
	sent.Wait()
	if err == nil {
		err = sendErr
	}
	return err
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
