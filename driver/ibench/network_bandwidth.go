package ibench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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

// datagramBytes is the payload of one datagram: it fits a frame of Ethernet
// even inside a tunnel, so that nothing is fragmented on the way.
const datagramBytes = 1400

// datagramsMax of them go out in one call, below the 64 KiB of a datagram.
const datagramsMax = messageBytesMax/datagramBytes - 1

// sendTimeout bounds one send, so that a peer that reads nothing cannot keep
// the kernel from its control requests.
const sendTimeout = 50 * time.Millisecond

// connectTimeout bounds the connection to the peer, and goneTimeout how long a
// peer may leave what was sent unacknowledged.
const (
	connectTimeout = 5 * time.Second
	goneTimeout    = 5 * time.Second
)

// The variants of net_bw.
const (
	networkTCP = "tcp"
	networkUDP = "udp"
)

func newNetworkBandwidth(ctx context.Context, s Setup) (*Load, error) {
	load := &Load{Threads: 1, ResidentBytes: func() int64 { return 2 * messageBytesMax }}
	peer, loopback := s.Peer, false
	closeSink := func() error { return nil }
	if peer == "" {
		sink, err := ListenSink("127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		peer, closeSink, loopback = sink.Address(), sink.Close, true
		load.Notes = []string{"no peer given: the traffic stays on the loopback interface and loads the network stack, not a link"}
	}
	sender, err := dialSender(ctx, peer, s.Variant == networkUDP)
	if err != nil {
		return nil, errors.Join(err, closeSink())
	}
	if loopback {
		if err := boundSocket(sender.file, unix.SO_SNDBUF); err != nil {
			return nil, errors.Join(err, sender.file.Close(), closeSink())
		}
	}
	echo, err := startEcho(ctx, peer)
	if err != nil {
		return nil, errors.Join(err, sender.file.Close(), closeSink())
	}
	sender.sending = echo.setSending
	if sender.udp {
		load.Notes = append(load.Notes, "over UDP: what the peer received is not known")
	}
	load.Worker = func(int) (Worker, error) { return sender, nil }
	load.Measures, load.Alerts, load.Healthy = echo.measures, echo.alerts, echo.healthy
	load.Close = func() error { return errors.Join(echo.Close(), sender.file.Close(), closeSink()) }
	return load, nil
}

// socketBytes is what may be under way to a sink of the same process. Left to
// itself the system lets it grow to megabytes, which no cache holds, and the rate
// falls by a third (measured).
const socketBytes = 256 << 10

func boundSocket(file *os.File, option int) error {
	if err := unix.SetsockoptInt(int(file.Fd()), unix.SOL_SOCKET, option, socketBytes); err != nil {
		return fmt.Errorf("socket buffer: %w", err)
	}
	return nil
}

// sender sends messages to a peer that drops them.
type sender struct {
	peer    string
	file    *os.File
	buffer  []byte
	message int // bytes
	udp     bool
	sending func(bool) // called with whether anything is to be sent
}

// dialSender connects to the peer.
func dialSender(ctx context.Context, peer string, udp bool) (*sender, error) {
	dialer := net.Dialer{Timeout: connectTimeout}
	network := networkTCP
	if udp {
		network = networkUDP
	}
	conn, err := dialer.DialContext(ctx, network, peer)
	if err != nil {
		return nil, fmt.Errorf("network peer %s: %w", peer, err)
	}
	defer closeQuietly(conn) // the duplicate below stays open
	file, err := blockingFile(conn.(duplicator))
	if err != nil {
		return nil, fmt.Errorf("network peer %s: %w", peer, err)
	}
	s := &sender{peer: peer, file: file, buffer: make([]byte, messageBytesMax), udp: udp}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("network peer %s: socket: %w", peer, err), file.Close())
	}
	return s, nil
}

// prepare bounds how long the socket may keep the kernel waiting.
func (s *sender) prepare() error {
	fd := int(s.file.Fd())
	timeout := unix.NsecToTimeval(sendTimeout.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout); err != nil {
		return err
	}
	if s.udp {
		// The kernel cuts one message into datagrams (udp(7)).
		return unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT, datagramBytes)
	}
	return unix.SetsockoptInt(fd, unix.SOL_TCP, unix.TCP_USER_TIMEOUT, int(goneTimeout.Milliseconds()))
}

// Tune keeps a share of the peak, in messages that grow with it.
func (s *sender) Tune(u, peakPerThread float64) Pace {
	s.message = messageBytesMin + int(u*float64(messageBytesMax-messageBytesMin))
	if s.udp {
		s.message = datagramBytes * max(1, int(u*datagramsMax))
	}
	s.sending(u > 0)
	return ratePace(u, peakPerThread)
}

// Work sends one message; an operation is a byte taken by the socket.
func (s *sender) Work(float64) (float64, error) {
	n, err := unix.SendmsgN(int(s.file.Fd()), s.buffer[:s.message], nil, nil, unix.MSG_NOSIGNAL)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOBUFS):
		return float64(max(n, 0)), nil // the peer or the link is slow: nothing went out in this time
	case err != nil:
		return 0, fmt.Errorf("network peer %s went away: %w", s.peer, err)
	}
	return float64(n), nil
}

// Close has nothing to free: the connection belongs to the load.
func (s *sender) Close() error { return nil }

var networkBandwidth = Descriptor{
	Source:   interference.NetworkBandwidth,
	Knob:     Rate,
	Means:    "share of the rate that one sender reaches to its peer; without a peer, to a sink on the loopback interface",
	Loads:    "link or, without a peer, network stack; some CPU time for the copies",
	Spares:   "memory and disk: one small buffer, dropped by the receiver unread",
	Unit:     "bytes",
	Variants: []string{networkTCP, networkUDP},
	Dwell:    2 * levelDwell,
	Shares:   2,
	Supported: func(m Machine) error {
		if !slices.ContainsFunc(m.NICs, func(n NIC) bool { return n.Loopback || !n.Virtual }) {
			return errors.New("the machine has no network interface")
		}
		return nil
	},
	New: newNetworkBandwidth,
}
