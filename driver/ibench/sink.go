package ibench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// sinkConnectionsMax bounds what one sink serves at once; more are refused.
const sinkConnectionsMax = 256

// echoHello opens a connection whose 64-byte messages are sent back. What comes
// over any other connection is dropped unread, so that every sender of bytes
// can use a sink.
const echoHello = "ibecho1\n"

// echoBytes is the size of one message of an echo connection.
const echoBytes = 64

// Sink is the peer of net_bw: it drops what it gets over TCP and UDP, and
// answers the kernel's echoes. It sends nothing to anybody who did not open a
// TCP connection to it.
type Sink struct {
	tcp *net.TCPListener
	udp *net.UDPConn

	serving sync.WaitGroup
	mu      sync.Mutex
	conns   map[*net.TCPConn]struct{} // nil once closed
}

// ListenSink opens a sink at host:port, for TCP and UDP alike, and serves it
// until Close. Port 0 takes a free one.
func ListenSink(address string) (*Sink, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open a sink: %w", err)
	}
	tcp := listener.(*net.TCPListener)
	at := tcp.Addr().(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port, Zone: at.Zone})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a sink: %w", err), tcp.Close())
	}
	s := &Sink{tcp: tcp, udp: udp, conns: map[*net.TCPConn]struct{}{}}
	s.serving.Add(2)
	go s.accept()
	go s.dropDatagrams()
	return s, nil
}

// Address is host:port of the sink.
func (s *Sink) Address() string { return s.tcp.Addr().String() }

// Close ends every connection and waits for their ends.
func (s *Sink) Close() error {
	err := errors.Join(s.tcp.Close(), s.udp.Close())
	s.mu.Lock()
	for conn := range s.conns {
		// Only this wakes a thread that reads its duplicate of the socket.
		_ = conn.CloseRead() // the peer may have gone first
	}
	s.conns = nil
	s.mu.Unlock()
	s.serving.Wait()
	return err
}

func (s *Sink) accept() {
	defer s.serving.Done()
	for {
		conn, err := s.tcp.AcceptTCP()
		if err != nil {
			return
		}
		if !s.add(conn) {
			closeQuietly(conn)
			continue
		}
		go func() {
			defer s.remove(conn)
			serveSink(conn)
		}()
	}
}

// add takes a connection on, unless there are too many.
func (s *Sink) add(conn *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil || len(s.conns) >= sinkConnectionsMax {
		return false
	}
	s.conns[conn] = struct{}{}
	s.serving.Add(1)
	return true
}

func (s *Sink) remove(conn *net.TCPConn) {
	closeQuietly(conn)
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	s.serving.Done()
}

// serveSink echoes or drops, as the first bytes of the connection say.
func serveSink(conn *net.TCPConn) {
	hello := make([]byte, len(echoHello))
	if _, err := io.ReadFull(conn, hello); err != nil {
		return
	}
	if string(hello) != echoHello {
		drop(conn)
		return
	}
	message := make([]byte, echoBytes)
	for {
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		if _, err := conn.Write(message); err != nil {
			return
		}
	}
}

// drop reads a connection without copying the data: on TCP sockets MSG_TRUNC
// discards it (tcp(7)). It keeps a thread of its own, blocked in the kernel:
// the runtime's poller would cost more.
func drop(conn *net.TCPConn) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	file, err := blockingFile(conn)
	if err != nil {
		return
	}
	defer closeQuietly(file)
	if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		_ = boundSocket(file, unix.SO_RCVBUF) // it only is slower without
	}
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

// dropDatagrams empties the UDP socket. One byte of each is enough to take it.
func (s *Sink) dropDatagrams() {
	defer s.serving.Done()
	one := make([]byte, 1)
	for {
		_, _, err := s.udp.ReadFromUDPAddrPort(one)
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// duplicator is a connection that hands out a duplicate of its socket.
type duplicator interface {
	File() (*os.File, error)
}

// blockingFile returns a duplicate of the connection's socket in blocking mode:
// a thread that waits in the kernel costs nothing, the runtime's poller does.
func blockingFile(conn duplicator) (*os.File, error) {
	file, err := conn.File()
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	if err := unix.SetNonblock(int(file.Fd()), false); err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), file.Close())
	}
	return file, nil
}

// SinkMain is the main function of a sink on another host: it serves one at
// the address of -listen until SIGINT or SIGTERM, and returns the process's
// exit code.
func SinkMain(args []string, stdout, stderr io.Writer) int {
	ctx, cancel := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer cancel()
	return sinkMain(ctx, args, stdout, stderr)
}

func sinkMain(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	flags.SetOutput(stderr)
	address := flags.String("listen", "", "host:port to listen on, TCP and UDP (required); anyone who can reach it can send to it")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return ExitStopped
	case err != nil:
		return ExitUsage
	case *address == "" || flags.NArg() > 0:
		fmt.Fprintln(stderr, "sink: needs -listen host:port, and nothing else")
		return ExitUsage
	}
	sink, err := ListenSink(*address)
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return ExitFailed
	}
	fmt.Fprintln(stdout, "listening on", sink.Address())
	<-ctx.Done()
	if err := sink.Close(); err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return ExitFailed
	}
	return ExitStopped
}
