package replay

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// ErrRequest: what is to be generated is not said as it must be.
var ErrRequest = errors.New("wrong traffic request")

// Format is the version of Request.
const Format = 1

// Bounds of a request.
const (
	maxRowText  = 1 << 20 // of base64; a Nomad Variable holds 64 KiB
	maxPeers    = 4096
	minKeyBytes = 8
	maxKeyBytes = 64
)

// Request says what one machine generates.
type Request struct {
	Format int `json:"format"`
	// Row is the part of the model that this machine plays: base64 of a model file.
	Row string `json:"row"`
	// Server is whose part it is.
	Server int `json:"server"`
	// Listen is host:port at which the other machines reach this one.
	Listen string `json:"listen"`
	// Peers are the other machines, by the servers whose parts they play. What is for
	// a server without one is not sent.
	Peers []Peer `json:"peers"`
	// Key is what all machines of one job have in common. Nobody else is sent to.
	Key string `json:"key"`
	// LimitBytesPerSecond is the most that this machine sends.
	LimitBytesPerSecond float64 `json:"limit_bytes_per_s"`
	// BeginSeconds is the moment of the week at which it begins, since Monday, 00:00.
	BeginSeconds float64 `json:"begin_s"`
	Seed         uint64  `json:"seed"`
	// ExactCounts sends each kind of message as often as it was seen in a window, within the time
	// that is drawn at once: see network.Generation.
	ExactCounts bool `json:"exact_counts,omitempty"`
}

// Peer is a machine that plays a server.
type Peer struct {
	Server  int    `json:"server"`
	Address string `json:"address"` // host:port
}

// Part checks a request, and returns the part of the model that is played.
func (r Request) Part() (*network.Model, error) {
	switch {
	case r.Format != Format:
		return nil, fmt.Errorf("%w: format %d, this release reads %d", ErrRequest, r.Format, Format)
	case len(r.Row) > maxRowText:
		return nil, fmt.Errorf("%w: row: %d bytes, %d at most", ErrRequest, len(r.Row), maxRowText)
	case len(r.Key) < minKeyBytes || len(r.Key) > maxKeyBytes || strings.ContainsAny(r.Key, "\r\n"):
		return nil, fmt.Errorf("%w: key: %d to %d characters on one line", ErrRequest, minKeyBytes, maxKeyBytes)
	case !(r.LimitBytesPerSecond >= 1 && r.LimitBytesPerSecond <= maxLimit):
		return nil, fmt.Errorf("%w: limit_bytes_per_s: %g is no rate from 1 to %g; a generator without a cap there is not", ErrRequest, r.LimitBytesPerSecond, float64(maxLimit))
	case !(r.BeginSeconds >= 0 && r.BeginSeconds < aWeek.Seconds()):
		return nil, fmt.Errorf("%w: begin_s: %g is no moment of a week", ErrRequest, r.BeginSeconds)
	case len(r.Peers) > maxPeers:
		return nil, fmt.Errorf("%w: %d peers, %d at most", ErrRequest, len(r.Peers), maxPeers)
	}
	text, err := base64.StdEncoding.DecodeString(r.Row)
	if err != nil {
		return nil, fmt.Errorf("%w: row: %w", ErrRequest, err)
	}
	m, err := network.ReadModel("row", bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if most := messagesPerSecond(m); !(most <= maxMessages) {
		return nil, fmt.Errorf("%w: row: %g messages/s in a window, %d at most", ErrRequest, most, maxMessages)
	}
	return m, r.checkPlaces(m)
}

// maxMessages is how many messages a second one machine sends at most: what is drawn at once is
// held in memory.
const maxMessages = 100_000

// messagesPerSecond is the rate of the busiest window.
func messagesPerSecond(m *network.Model) float64 {
	most := 0.0
	for _, c := range m.Chains {
		count := 0.0
		for _, p := range c.Pairs {
			count += p.Count()
		}
		most = max(most, count/c.Time.Seconds())
	}
	return most
}

func (r Request) checkPlaces(m *network.Model) error {
	servers := m.Topology.Servers()
	if r.Server < 0 || r.Server >= servers {
		return fmt.Errorf("%w: server %d of %d", ErrRequest, r.Server, servers)
	}
	if _, _, err := net.SplitHostPort(r.Listen); err != nil {
		return fmt.Errorf("%w: listen: %q is not host:port", ErrRequest, r.Listen)
	}
	seen := map[int]bool{r.Server: true}
	for _, p := range r.Peers {
		_, _, err := net.SplitHostPort(p.Address)
		if err != nil || p.Server < 0 || p.Server >= servers || seen[p.Server] {
			return fmt.Errorf("%w: peers: server %d at %q: each of the %d servers but this one once, at host:port", ErrRequest, p.Server, p.Address, servers)
		}
		seen[p.Server] = true
	}
	return nil
}

// maxLimit is the fastest link that there is, 800 Gbit/s.
const maxLimit = 100e9

const aWeek = 7 * 24 * time.Hour

// Row is the text of the part of a model that a server plays.
func Row(m *network.Model, server int) (string, error) {
	part, err := m.Sender(server)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if _, err := part.WriteTo(&text); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(text.Bytes()), nil
}
