package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connection is what the kernel says of one TCP socket.
type connection struct {
	cookie         uint64 // its number, which is not used again
	local, remote  netip.AddrPort
	listens        bool
	sent, received uint64 // bytes of payload; 0 and 0 where it is not counted yet
}

// Of linux/sock_diag.h, linux/inet_diag.h and linux/tcp_states.h.
const (
	byFamily        = 20 // SOCK_DIAG_BY_FAMILY
	requestBytes    = 56 // inet_diag_req_v2
	messageBytes    = 72 // inet_diag_msg
	attributeInfo   = 2  // INET_DIAG_INFO
	tcp4Destroyed   = 1  // SKNLGRP_INET_TCP_DESTROY
	tcp6Destroyed   = 3  // SKNLGRP_INET6_TCP_DESTROY
	stateListen     = 10
	listenStates    = 1 << stateListen
	connectedStates = 1<<1 | 1<<4 | 1<<5 | 1<<8 | 1<<9 | 1<<11 // established, and on the way to their end
)

// Where the counters are in what the kernel writes of a connection.
const (
	atAcked         = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_acked))
	atReceived      = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_received))
	atSent          = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_sent))
	atRetransmitted = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_retrans))
)

const (
	// dumpBuffer is what the kernel fills at most with one part of a list.
	dumpBuffer = 1 << 16
	// noticeQueue is how many bytes of notices the kernel keeps between two
	// readings: about 8,000 connections.
	noticeQueue = 8 << 20
	// patience is how long the kernel may take for one part of a list.
	patience = 5 * time.Second
)

// diagnostics are two sockets to the kernel in one network namespace: one that asks,
// one that is told of ended connections.
type diagnostics struct {
	asks, notices int
	buffer        []byte
}

// openDiagnostics opens both in the network namespace of the calling thread.
func openDiagnostics() (*diagnostics, error) {
	asks, err := diagSocket(0)
	if err != nil {
		return nil, fmt.Errorf("socket diagnostics: %w", err)
	}
	notices, err := diagSocket(1<<(tcp4Destroyed-1) | 1<<(tcp6Destroyed-1))
	if err != nil {
		unix.Close(asks)
		return nil, fmt.Errorf("notices of ended connections: %w", err)
	}
	d := &diagnostics{asks: asks, notices: notices, buffer: make([]byte, dumpBuffer)}
	limit := unix.NsecToTimeval(patience.Nanoseconds())
	if err := errors.Join(
		unix.SetsockoptTimeval(asks, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.SetsockoptInt(notices, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, noticeQueue),
	); err != nil {
		d.close()
		return nil, fmt.Errorf("socket diagnostics: %w", err)
	}
	return d, nil
}

func diagSocket(groups uint32) (int, error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(s, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		unix.Close(s)
		return -1, err
	}
	return s, nil
}

func (d *diagnostics) close() {
	unix.Close(d.asks)
	unix.Close(d.notices)
}

// list gives every TCP socket that is in one of the states.
func (d *diagnostics) list(states uint32, each func(connection)) error {
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := d.ask(family, states); err != nil {
			return fmt.Errorf("asking for connections: %w", err)
		}
		for done := false; !done; {
			n, _, err := unix.Recvfrom(d.asks, d.buffer, 0)
			if errors.Is(err, unix.EINTR) {
				continue // the runtime's own signals; a socket with a timeout is not restarted
			}
			if err == nil {
				done, err = readMessages(d.buffer[:n], each)
			}
			if err != nil {
				return fmt.Errorf("reading connections: %w", err)
			}
		}
	}
	return nil
}

func (d *diagnostics) ask(family byte, states uint32) error {
	var request [unix.NLMSG_HDRLEN + requestBytes]byte
	native := binary.NativeEndian
	native.PutUint32(request[0:], uint32(len(request)))
	native.PutUint16(request[4:], byFamily)
	native.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.NLMSG_HDRLEN:]
	body[0], body[1], body[2] = family, unix.IPPROTO_TCP, 1<<(attributeInfo-1)
	native.PutUint32(body[4:], states)
	return unix.Sendto(d.asks, request[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// ended gives every connection that ended since it was called last. lost is how often
// the kernel had more notices than it keeps.
func (d *diagnostics) ended(each func(connection)) (lost int, err error) {
	for {
		n, _, err := unix.Recvfrom(d.notices, d.buffer, unix.MSG_DONTWAIT)
		switch {
		case err == nil:
			_, err = readMessages(d.buffer[:n], each)
		case errors.Is(err, unix.EAGAIN):
			return lost, nil
		case errors.Is(err, unix.ENOBUFS):
			lost, err = lost+1, nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return lost, fmt.Errorf("reading ended connections: %w", err)
		}
	}
}

// errMessage: what the kernel wrote is not as it should be.
var errMessage = errors.New("malformed message of the kernel")

// readMessages reads one part of an answer; done is its end.
func readMessages(text []byte, each func(connection)) (done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(text)
	if err != nil {
		return false, err
	}
	for _, m := range messages {
		switch m.Header.Type {
		case unix.NLMSG_DONE:
			return true, nil
		case unix.NLMSG_ERROR:
			if len(m.Data) < 4 {
				return false, errMessage
			}
			if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
				return false, unix.Errno(-code)
			}
		case byFamily:
			c, ok := readConnection(m.Data)
			if !ok {
				return false, errMessage
			}
			each(c)
		}
	}
	return false, nil
}

// readConnection reads one inet_diag_msg with its attributes.
func readConnection(text []byte) (c connection, ok bool) {
	if len(text) < messageBytes {
		return c, false
	}
	local, remote := text[8:24], text[24:40]
	if text[0] == unix.AF_INET {
		local, remote = local[:4], remote[:4]
	}
	network := binary.BigEndian
	from, _ := netip.AddrFromSlice(local)
	to, _ := netip.AddrFromSlice(remote)
	c.local = netip.AddrPortFrom(from.Unmap(), network.Uint16(text[4:]))
	c.remote = netip.AddrPortFrom(to.Unmap(), network.Uint16(text[6:]))
	c.listens = text[1] == stateListen
	c.cookie = binary.NativeEndian.Uint64(text[44:])
	c.sent, c.received, ok = readCounts(text[messageBytes:])
	return c, ok
}

// readCounts finds the counters among the attributes; 0 where there are none.
func readCounts(attributes []byte) (sent, received uint64, ok bool) {
	native := binary.NativeEndian
	for len(attributes) >= unix.NLA_HDRLEN {
		length, kind := int(native.Uint16(attributes)), native.Uint16(attributes[2:])
		if length < unix.NLA_HDRLEN || length > len(attributes) {
			return 0, 0, false
		}
		value := attributes[unix.NLA_HDRLEN:length]
		if kind == attributeInfo {
			if len(value) < atReceived+8 {
				return 0, 0, false // a kernel before 4.1 does not count
			}
			sent, received = native.Uint64(value[atAcked:]), native.Uint64(value[atReceived:])
			if len(value) >= atRetransmitted+8 {
				sent = native.Uint64(value[atSent:]) - native.Uint64(value[atRetransmitted:])
			}
			return sent, received, true
		}
		attributes = attributes[min((length+3)&^3, len(attributes)):]
	}
	return 0, 0, true
}
