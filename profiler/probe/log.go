package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const (
	// maxLineBytes is the longest line that is looked at; the rest of a longer
	// one is skipped (chosen by us: bufio's own limit for lines).
	maxLineBytes = 64 << 10
	// logChunkBytes is what is asked of the Reach at once.
	logChunkBytes = 256 << 10
	// maxPatternBytes keeps a pasted file from being compiled as a pattern.
	maxPatternBytes = 4 << 10

	streamStdout = "stdout"
	streamStderr = "stderr"
)

// logReader follows one stream of a task. The offset is that of the next byte
// to read; partial holds the line begun before it; skipping is true inside a
// line that was too long.
type logReader struct {
	spec    performance.ProbeSpec
	reach   Reach
	task    string
	pattern logPattern

	offset   int64
	partial  []byte
	skipping bool
	last     string // the number of the newest match
	counted  string // its time stamp, if the pattern captures one
	matched  bool
}

func (p *logReader) Read(ctx context.Context) (performance.Reading, error) {
	_, at, err := bounded(ctx, p.spec.Timeout, p.follow)
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	if !p.matched {
		return performance.Reading{}, p.wrap(fmt.Errorf("no line matches %q yet: %w", excerpt(p.spec.Pattern), ErrNoSuchData))
	}
	v, err := parseNumber(p.last)
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	return stamped(asReading(at, v, p.spec.Mode), parseStamp(p.counted)), nil
}

// follow reads to the end of the stream. A backlog beyond MaxBodyBytes takes
// several readings; until it is worked off there is no reading, because an old
// number would be taken for the present one.
func (p *logReader) follow(ctx context.Context) (struct{}, error) {
	for read := 0; read < MaxBodyBytes; {
		data, next, err := p.reach.ReadLog(ctx, p.task, p.stream(), p.offset, logChunkBytes)
		if err != nil {
			return struct{}{}, err
		}
		if len(data) == 0 {
			p.offset = next
			return struct{}{}, nil
		}
		p.offset = next
		p.consume(data)
		read += len(data)
	}
	return struct{}{}, fmt.Errorf("more than %d bytes of new log; still reading", MaxBodyBytes)
}

// consume splits data into lines and keeps the last match.
func (p *logReader) consume(data []byte) {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		p.line(data[:end])
		data = data[end+1:]
	}
	if p.skipping {
		return
	}
	p.partial = append(p.partial, data...)
	if len(p.partial) > maxLineBytes {
		p.partial, p.skipping = nil, true
	}
}

// line handles the end of a line.
func (p *logReader) line(end []byte) {
	if p.skipping {
		p.skipping = false
		return
	}
	line := end
	if len(p.partial) > 0 {
		line = append(p.partial, end...)
		p.partial = p.partial[:0]
	}
	if len(line) > maxLineBytes {
		return
	}
	if m := p.pattern.FindSubmatch(line); m != nil {
		p.last, p.matched = string(m[p.pattern.number]), true
		if p.pattern.stamp > 0 {
			p.counted = string(m[p.pattern.stamp])
		}
	}
}

func (p *logReader) stream() string {
	if p.spec.Stream == "" {
		return streamStdout
	}
	return p.spec.Stream
}

func (p *logReader) wrap(err error) error {
	return fmt.Errorf("%s of task %s: %w", p.stream(), p.task, err)
}

// stampGroup is the name of the group around a line's time stamp.
const stampGroup = "at"

// logPattern is a pattern with the groups around its number and, if it has one,
// its time stamp.
type logPattern struct {
	*regexp.Regexp
	number, stamp int // stamp is 0 without one
}

// compilePattern wants exactly one group besides the one named at; errors say
// where in the pattern.
func compilePattern(pattern string) (logPattern, error) {
	if len(pattern) > maxPatternBytes {
		return logPattern{}, fmt.Errorf("a pattern of %d bytes, at most %d", len(pattern), maxPatternBytes)
	}
	re, err := regexp.Compile(pattern)
	var bad *syntax.Error
	if errors.As(err, &bad) {
		at := strings.Index(pattern, bad.Expr) + 1
		return logPattern{}, fmt.Errorf("%s at character %d: %q", bad.Code, max(1, at), bad.Expr)
	}
	if err != nil {
		return logPattern{}, err
	}
	p := logPattern{Regexp: re, stamp: max(0, re.SubexpIndex(stampGroup))}
	groups := 0
	for i := 1; i <= re.NumSubexp(); i++ {
		if i != p.stamp {
			p.number = i
			groups++
		}
	}
	if groups != 1 {
		return logPattern{}, fmt.Errorf("the pattern has %d groups; it needs exactly one, around the number, "+
			"and may have (?P<%s>…) around a time stamp: use (…) once and (?:…) for the rest", groups, stampGroup)
	}
	return p, nil
}

func validateLog(spec performance.ProbeSpec, target performance.Target) error {
	c := check("log", spec, target).common().progressing().noLatency().
		uses("task", "pattern", "stream", "mode").needs("pattern")
	if spec.Pattern != "" {
		if _, err := compilePattern(spec.Pattern); err != nil {
			c.fail("pattern", "%s", err)
		}
	}
	switch spec.Stream {
	case "", streamStdout, streamStderr:
	default:
		c.fail("stream", "%q is neither %q nor %q", spec.Stream, streamStdout, streamStderr)
	}
	return c.err()
}

func newLog(spec performance.ProbeSpec, reach Reach, task string) (Probe, error) {
	pattern, err := compilePattern(spec.Pattern)
	if err != nil {
		return nil, &AttributeError{"log", "pattern", err.Error()}
	}
	return &logReader{spec: spec, reach: reach, task: taskOf(spec, task), pattern: pattern}, nil
}

var logProbe = Descriptor{
	Name:     "log",
	Summary:  "reads the last number a pattern captures in the task's output",
	Validate: validateLog,
	New:      newLog,
	Progress: true,
}
