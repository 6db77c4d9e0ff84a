package network

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Format is the version of model files that this version writes, and the newest
// that it reads.
const Format = 1

// modelKind is the first thing in a model file, so that another file is known at
// once.
const modelKind = "network traffic model"

// maxModelBytes bounds a model file, unpacked: a hundred times the target of the
// study's cluster.
const maxModelBytes = 5 << 30

// How many numbers stand for a transition, and for each of its features.
const numbersOfPair, numbersOfFeature = 3, 8

// fileHead is the first line of a model file; the chains follow, one a line.
type fileHead struct {
	Kind     string          `json:"kind"`
	Format   int             `json:"format"`
	Topology fileTopology    `json:"topology"`
	Levels   int             `json:"levels"`
	Flat     bool            `json:"flat,omitempty"`
	Windows  int             `json:"windows"`
	Capture  fileCapture     `json:"capture"`
	Servers  []Superposition `json:"servers,omitempty"`
}

type fileTopology struct {
	RacksPerGroup  []int `json:"racks_per_group"`
	ServersPerRack []int `json:"servers_per_rack"`
	Cloud          bool  `json:"cloud,omitempty"`
}

type fileCapture struct {
	FromSeconds float64 `json:"from_s"`
	ToSeconds   float64 `json:"to_s"`
	BinSeconds  float64 `json:"bin_s"`
	MissingBins int     `json:"missing_bins"`
	Method      string  `json:"method,omitempty"`
}

type fileChain struct {
	Window       string       `json:"window"`
	Seconds      float64      `json:"seconds"`
	Bytes        float64      `json:"bytes"`
	DroppedBytes float64      `json:"dropped_bytes"`
	LargestLoss  float64      `json:"largest_loss"`
	Shares       []fileShares `json:"shares"`
	// Pairs are level, source, destination, and for each feature size class, gap
	// class, direction, count, bytes, gap in seconds, and the two coefficients of
	// variation.
	Pairs [][]float64 `json:"pairs"`
}

type fileShares struct {
	Level         int       `json:"level"`
	SentCount     []float64 `json:"sent_count"`
	SentBytes     []float64 `json:"sent_bytes"`
	ReceivedCount []float64 `json:"received_count"`
	ReceivedBytes []float64 `json:"received_bytes"`
}

// WriteTo writes a model: gzip over JSON, a line for what all windows share and one
// for each window. The same model gives the same bytes.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	counted := &countingWriter{to: w}
	zip := gzip.NewWriter(counted)
	out := bufio.NewWriterSize(zip, 1<<16)
	encoder := json.NewEncoder(out)
	err := encoder.Encode(fileHead{
		Kind: modelKind, Format: Format, Levels: int(m.Levels), Flat: m.Flat, Windows: len(m.Chains), Servers: m.Servers,
		Topology: fileTopology{m.Topology.racksPerGroup, m.Topology.serversPerRack, m.Topology.cloud},
		Capture: fileCapture{
			m.Capture.From.Seconds(), m.Capture.To.Seconds(), m.Capture.Bin.Seconds(), m.Capture.MissingBins, m.Capture.Method,
		},
	})
	for i := range m.Chains {
		if err == nil {
			err = encoder.Encode(m.Chains[i].file())
		}
	}
	if err = errors.Join(err, out.Flush(), zip.Close()); err != nil {
		return counted.n, fmt.Errorf("write the traffic model: %w", err)
	}
	return counted.n, nil
}

type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *Chain) file() fileChain {
	out := fileChain{
		Window: c.Window.String(), Seconds: c.Time.Seconds(), Bytes: c.Bytes, DroppedBytes: c.DroppedBytes, LargestLoss: c.LargestLoss,
		Shares: []fileShares{}, Pairs: make([][]float64, len(c.Pairs)),
	}
	for l, s := range c.Shares {
		if !s.empty() {
			out.Shares = append(out.Shares, fileShares{l, s.SentCount, s.SentBytes, s.ReceivedCount, s.ReceivedBytes})
		}
	}
	for i, p := range c.Pairs {
		row := make([]float64, 0, numbersOfPair+numbersOfFeature*len(p.Features))
		row = append(row, float64(p.Level), float64(p.From), float64(p.To))
		for _, f := range p.Features {
			row = append(row, float64(f.Size), float64(f.Gap), float64(f.Direction), f.Count, f.Bytes, f.GapSeconds, f.SizeCV, f.GapCV)
		}
		out.Pairs[i] = row
	}
	return out
}

// IsModel reports that a file begins like a model, of any version.
func IsModel(r io.Reader) bool {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return false
	}
	begin := make([]byte, len(modelBegin))
	_, err = io.ReadFull(zip, begin)
	return err == nil && string(begin) == modelBegin
}

// modelBegin is how the first line of a model's file begins.
const modelBegin = `{"kind":"` + modelKind + `"`

// ReadModel reads what WriteTo wrote, and checks it. name is the file's, for errors.
func ReadModel(name string, r io.Reader) (*Model, error) {
	bad := func(line int, problem, hint string, err error) error {
		return &FormatError{File: name, Line: line, Problem: problem, Hint: hint, Err: err}
	}
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, bad(0, "this is no traffic model", "traffic fit writes one", err)
	}
	decoder := json.NewDecoder(bufio.NewReaderSize(io.LimitReader(zip, maxModelBytes), 1<<16))
	var head fileHead
	if err := decoder.Decode(&head); err != nil {
		return nil, bad(1, "this is no traffic model, or it is cut short", "traffic fit writes one", err)
	}
	switch {
	case head.Kind != modelKind:
		return nil, bad(1, fmt.Sprintf("this is no traffic model, but a %.40q", head.Kind), "traffic fit writes one", nil)
	case head.Format > Format:
		return nil, bad(1, fmt.Sprintf("the model has format %d, and this version reads up to %d", head.Format, Format), "update nomad-placer, or fit the model again with this version", nil)
	case head.Format < 1:
		return nil, bad(1, fmt.Sprintf("there is no format %d", head.Format), "traffic fit writes one", nil)
	}
	m, err := head.model()
	if err != nil {
		return nil, bad(1, "the model is damaged", "fit it again", err)
	}
	for line := 2; line < 2+head.Windows; line++ {
		var chain fileChain
		if err := decoder.Decode(&chain); err != nil {
			return nil, bad(line, fmt.Sprintf("the model is cut short: %d windows of %d", line-2, head.Windows), "copy the file again", err)
		}
		c, err := chain.chain()
		if err != nil {
			return nil, bad(line, "the window is damaged", "fit the model again", err)
		}
		m.Chains = append(m.Chains, c)
	}
	if decoder.More() {
		return nil, bad(2+head.Windows, "there is more in the file than its windows", "copy the file again", nil)
	}
	if err := m.Check(); err != nil {
		return nil, bad(0, "the model is damaged", "fit it again", err)
	}
	return m, nil
}

func (h fileHead) model() (*Model, error) {
	t, err := NewTopology(h.Topology.RacksPerGroup, h.Topology.ServersPerRack, h.Topology.Cloud)
	if err != nil {
		return nil, err
	}
	if h.Levels < 0 || h.Levels > int(ServerLevel) {
		return nil, fmt.Errorf("%w: %d levels", ErrModel, h.Levels)
	}
	c := h.Capture
	for _, seconds := range []float64{c.FromSeconds, c.ToSeconds, c.BinSeconds} {
		if !(seconds >= 0 && seconds <= maxSeconds) {
			return nil, fmt.Errorf("%w: a capture of %g s", ErrModel, seconds)
		}
	}
	return &Model{
		Topology: t, Levels: Level(h.Levels), Flat: h.Flat, Servers: h.Servers,
		Capture: Capture{spanOf(c.FromSeconds), spanOf(c.ToSeconds), spanOf(c.BinSeconds), c.MissingBins, c.Method},
	}, nil
}

// spanOf turns seconds into a span.
func spanOf(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

func (f fileChain) chain() (Chain, error) {
	w, err := parseWindow(f.Window)
	if err != nil {
		return Chain{}, err
	}
	if !(f.Seconds > 0 && f.Seconds <= maxSeconds) {
		return Chain{}, fmt.Errorf("%w: a window of %g s", ErrModel, f.Seconds)
	}
	c := Chain{Window: w, Time: spanOf(f.Seconds), Bytes: f.Bytes, DroppedBytes: f.DroppedBytes, LargestLoss: f.LargestLoss, Pairs: make([]Pair, len(f.Pairs))}
	for _, s := range f.Shares {
		if s.Level < 0 || s.Level >= int(ServerLevel) {
			return Chain{}, fmt.Errorf("%w: shares at level %d", ErrModel, s.Level)
		}
		c.Shares[s.Level] = Shares{s.SentCount, s.SentBytes, s.ReceivedCount, s.ReceivedBytes}
	}
	for i, row := range f.Pairs {
		if c.Pairs[i], err = pairOf(row); err != nil {
			return Chain{}, err
		}
	}
	return c, nil
}

func pairOf(row []float64) (Pair, error) {
	n := (len(row) - numbersOfPair) / numbersOfFeature
	if n < 1 || len(row) != numbersOfPair+n*numbersOfFeature {
		return Pair{}, fmt.Errorf("%w: %d numbers for a transition", ErrModel, len(row))
	}
	whole := func(v float64, most int) int {
		if v >= 0 && v <= float64(most) && v == float64(int(v)) {
			return int(v)
		}
		return -1
	}
	level, from, to := whole(row[0], int(ServerLevel)), whole(row[1], maxServers), whole(row[2], maxServers)
	if level < 0 || from < 0 || to < 0 {
		return Pair{}, fmt.Errorf("%w: a transition %v", ErrModel, row[:numbersOfPair])
	}
	p := Pair{Level: Level(level), From: int32(from), To: int32(to), Features: make([]Feature, n)}
	for i := range p.Features {
		f := row[numbersOfPair+i*numbersOfFeature:]
		size, gap, direction := whole(f[0], 64), whole(f[1], 64), whole(f[2], int(Read))
		if size < 0 || gap < 0 || direction < 0 {
			return Pair{}, fmt.Errorf("%w: a class %v", ErrModel, f[:3])
		}
		p.Features[i] = Feature{uint8(size), uint8(gap), Direction(direction), f[3], f[4], f[5], f[6], f[7]}
	}
	return p, nil
}

// Fits refuses traffic of another cluster: of other sizes.
func (m *Model) Fits(t Topology) error {
	if !m.Topology.Equal(t) {
		return fmt.Errorf("%w: the model is of %s, the traffic of %s", ErrTopology, m.Topology, t)
	}
	return nil
}

// Bytes is how large the model's file is.
func (m *Model) Bytes() (int64, error) {
	return m.WriteTo(io.Discard)
}

// Encode is the model's file in memory.
func (m *Model) Encode() ([]byte, error) {
	var out bytes.Buffer
	if _, err := m.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
