package ibench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Messages grow with the intensity, as the requests of SoI5 do (Delimitrou
// 2015, §5.3).
const (
	messageBytesMin = 1 << 10
	messageBytesMax = 64 << 10
)

// sendTimeout bounds one send, so that a peer that reads nothing cannot keep
// the kernel from its control requests.
const sendTimeout = 50 * time.Millisecond

// connectTimeout bounds the connection to the peer.
const connectTimeout = 5 * time.Second

func newNetworkBandwidth(ctx context.Context, s Setup) (*Load, error) {
	load := &Load{Threads: 1, ResidentBytes: func() int64 { return 2 * messageBytesMax }}
	peer := s.Peer
	if peer == "" {
		sink, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("open a sink: %w", err)
		}
		peer = sink.Addr().String()
		load.Close = sink.Close
		load.Notes = []string{"no peer given: the traffic stays on the loopback interface and presses on the network stack, not on a link"}
		go acceptSinks(sink)
	}
	var dialer net.Dialer
	dialer.Timeout = connectTimeout
	load.Worker = func(int) (Worker, error) { return newSender(ctx, &dialer, peer) }
	return load, nil
}

// acceptSinks drops what every connection receives.
func acceptSinks(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			drop(conn)
		}()
	}
}

// drop reads a connection without copying the data: on TCP sockets MSG_TRUNC
// discards it (tcp(7)).
func drop(conn net.Conn) {
	defer conn.Close()
	file, err := blockingFile(conn)
	if err != nil {
		return
	}
	defer file.Close()
	buffer := make([]byte, messageBytesMax)
	for {
		n, _, err := unix.Recvfrom(int(file.Fd()), buffer, unix.MSG_TRUNC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// blockingFile returns the connection's socket in blocking mode: a thread that
// waits in the kernel costs nothing, the runtime's poller does.
func blockingFile(conn net.Conn) (*os.File, error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("connection to %v is not TCP", conn.RemoteAddr())
	}
	file, err := tcp.File()
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	if err := unix.SetNonblock(int(file.Fd()), false); err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), file.Close())
	}
	return file, nil
}

// sender sends messages to a peer that drops them.
type sender struct {
	peer    string
	file    *os.File
	buffer  []byte
	message int // bytes
}

func newSender(ctx context.Context, dialer *net.Dialer, peer string) (*sender, error) {
	conn, err := dialer.DialContext(ctx, "tcp", peer)
	if err != nil {
		return nil, fmt.Errorf("network peer %s: %w", peer, err)
	}
	defer conn.Close() // the duplicate below stays open
	file, err := blockingFile(conn)
	if err != nil {
		return nil, fmt.Errorf("network peer %s: %w", peer, err)
	}
	timeout := unix.NsecToTimeval(sendTimeout.Nanoseconds())
	if err := unix.SetsockoptTimeval(int(file.Fd()), unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout); err != nil {
		return nil, errors.Join(fmt.Errorf("network peer %s: %w", peer, err), file.Close())
	}
	return &sender{peer: peer, file: file, buffer: make([]byte, messageBytesMax), message: messageBytesMin}, nil
}

// Tune keeps a share of the peak, in messages that grow with it.
func (s *sender) Tune(u, peakPerThread float64) Pace {
	s.message = messageBytesMin + int(u*float64(messageBytesMax-messageBytesMin))
	return ratePace(u, peakPerThread)
}

// Work sends one message; an operation is a byte taken by the socket.
func (s *sender) Work(float64) (float64, error) {
	n, err := unix.SendmsgN(int(s.file.Fd()), s.buffer[:s.message], nil, nil, unix.MSG_NOSIGNAL)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return float64(max(n, 0)), nil // the peer is slow: nothing went out in this time
	}
	if err != nil {
		return 0, fmt.Errorf("network peer %s: %w", s.peer, err)
	}
	return float64(n), nil
}

// Close ends the connection.
func (s *sender) Close() error { return s.file.Close() }

var networkBandwidth = Descriptor{
	Source: interference.NetworkBandwidth,
	Knob:   Rate,
	Means:  "share of the rate that one TCP sender reaches to its peer; without a peer, to a sink on the loopback interface",
	Loads:  "link or, without a peer, network stack; some CPU time for the copies",
	Spares: "memory and disk: one small buffer, dropped by the receiver unread",
	Unit:   "bytes",
	Dwell:  levelDwell,
	Supported: func(m Machine) error {
		if !slices.ContainsFunc(m.NICs, func(n NIC) bool { return n.Loopback || !n.Virtual }) {
			return errors.New("the machine has no network interface")
		}
		return nil
	},
	New: newNetworkBandwidth,
}
