package training

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// ErrPair: a line of the pair table cannot be used.
var ErrPair = errors.New("not a measured pair")

// maxPairBytes bounds a line of the pair table.
const maxPairBytes = 64 << 10

// LoadPairs reads the shipped pair table, in the order it was measured.
func LoadPairs() (pairs []profile.Pair, err error) {
	f, err := shipped.Open(PairsFolder + "/" + PairsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // none were measured yet
	}
	if err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ReadPairs(f)
}

// cpuFile has the CPU time, in CPUs, that applications of the pairs used in isolation: of those that
// wait for a disk rows have none.
const cpuFile = "cpu.csv"

// LoadPairCPUs reads it, by application.
func LoadPairCPUs() (map[string]float64, error) {
	text, err := fs.ReadFile(shipped, PairsFolder+"/"+cpuFile)
	if err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("pairs: %s: %w", cpuFile, err)
	}
	out := map[string]float64{}
	for _, line := range lines[1:] { // the first has names
		if out[line[0]], err = strconv.ParseFloat(line[1], 64); err != nil {
			return nil, fmt.Errorf("pairs: %s: %w", cpuFile, err)
		}
	}
	return out, nil
}

// LoadPairsFrom reads a pair table; one that is not there is empty.
func LoadPairsFrom(path string) ([]profile.Pair, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	defer f.Close()
	return ReadPairs(f)
}

// ReadPairs reads one pair a line. One bad line is an error: a table is taken
// whole or not at all.
func ReadPairs(r io.Reader) ([]profile.Pair, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPairBytes)
	var out []profile.Pair
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var p profile.Pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("pairs: line %d: %w: %w", n, ErrPair, err)
		}
		if err := CheckPair(p); err != nil {
			return nil, fmt.Errorf("pairs: line %d: %w", n, err)
		}
		out = append(out, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	return out, nil
}

// CheckPair says what a pair lacks.
func CheckPair(p profile.Pair) error {
	switch {
	case p.Format != profile.PairFormat:
		return fmt.Errorf("%w: format %d, this version reads %d", ErrPair, p.Format, profile.PairFormat)
	case p.Placement != "same" && p.Placement != "beside":
		return fmt.Errorf("%w: placement %q", ErrPair, p.Placement)
	case p.Taken.IsZero() || p.Machine.CPUModel == "" && p.DataSet == nil:
		return fmt.Errorf("%w: taken and machine are needed", ErrPair)
	}
	for _, s := range []profile.PairSide{p.A, p.B} {
		if s.Key == "" || s.Application == "" || !(s.Ratio >= 0) || !(s.Isolated.Value > 0) {
			return fmt.Errorf("%w: a side needs key, application, ratio and speed in isolation", ErrPair)
		}
		if s.Low > s.Ratio || s.High < s.Ratio {
			return fmt.Errorf("%w: %s: the ratio %v is outside its interval", ErrPair, s.Application, s.Ratio)
		}
	}
	return nil
}
