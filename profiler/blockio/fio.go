package blockio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Errors of fio.
var (
	ErrNoFio  = errors.New("fio is missing")
	ErrOldFio = errors.New("this fio is too old")
	ErrFio    = errors.New("fio failed")
)

const (
	// From this version on fio reads logs with times in microseconds (version 3).
	fioMajor, fioMinor = 3, 31
	// queueDepth is how many I/Os may be outstanding before a log falls behind its times
	// (chosen by us: the text has an open loop, fio needs a bound).
	queueDepth = 256
	// endsWithin is how long fio has to end after an interrupt.
	endsWithin = 5 * time.Second
)

// Player runs fio.
type Player struct {
	program string
	Version string
}

// NewPlayer looks for fio, by name or path.
func NewPlayer(ctx context.Context, program string) (*Player, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoFio, err)
	}
	p := &Player{program: path}
	output, err := p.run(ctx, "--version")
	if err != nil {
		return nil, err
	}
	p.Version = strings.TrimSpace(string(output))
	major, minor, ok := version(p.Version)
	if !ok || major < fioMajor || (major == fioMajor && minor < fioMinor) {
		return nil, fmt.Errorf("%w: %s says %q, and %d.%d or newer is needed", ErrOldFio, path, p.Version, fioMajor, fioMinor)
	}
	return p, nil
}

// version reads fio-3.33 or fio-3.35-12-gabcd.
func version(text string) (major, minor int, ok bool) {
	text, ok = strings.CutPrefix(text, "fio-")
	if !ok {
		return 0, 0, false
	}
	first, rest, _ := strings.Cut(text, ".")
	second := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if len(second) == 0 {
		return 0, 0, false
	}
	major, err := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(second[0])
	return major, minor, err == nil && err2 == nil
}

// Played is what a device did with load.
type Played struct {
	IOs         int64   `json:"ios"`
	ReadIOs     int64   `json:"read_ios"`
	Seconds     float64 `json:"seconds"`
	IOPS        float64 `json:"iops"`
	BytesPerSec float64 `json:"bytes_per_second"`
	// Latencies are from the submission of an I/O to its end, of reads and writes together.
	MeanMilliseconds float64 `json:"mean_milliseconds"`
	P50Milliseconds  float64 `json:"p50_milliseconds"`
	P95Milliseconds  float64 `json:"p95_milliseconds"`
	P99Milliseconds  float64 `json:"p99_milliseconds"`
}

// Log plays a log of I/Os at their times, past the page cache. Without polling (both bounds
// of a batch 0) fio looks for ends of I/Os only when its queue is full, and all latencies are
// those of a full queue.
func (p *Player) Log(ctx context.Context, log string) (*Played, error) {
	return p.play(ctx, "--read_iolog="+log, "--iodepth="+strconv.Itoa(queueDepth), "--iodepth_batch_complete_min=0", "--iodepth_batch_complete_max=0")
}

// ratedIOBytes and ratedDepth are the load that a device is rated by: long sequential
// reads, always some of them outstanding (chosen by us).
const (
	ratedIOBytes = 1 << 20
	ratedDepth   = 32
)

// Rated measures the device's bandwidth: that of sequential reads.
func (p *Player) Rated(ctx context.Context, s *Scratch, length time.Duration) (*Played, error) {
	return p.play(ctx, "--filename="+s.Path, "--size="+strconv.FormatInt(s.Bytes, 10), "--rw=read", "--bs="+strconv.Itoa(ratedIOBytes),
		"--iodepth="+strconv.Itoa(ratedDepth), "--time_based=1", "--runtime="+strconv.Itoa(int(length.Milliseconds()))+"ms")
}

func (p *Player) play(ctx context.Context, args ...string) (*Played, error) {
	output, err := p.run(ctx, append([]string{
		"--name=twin", "--ioengine=libaio", "--direct=1", "--thread=1", "--output-format=json",
		"--unified_rw_reporting=both", "--clat_percentiles=0", "--lat_percentiles=1", "--percentile_list=50:95:99",
	}, args...)...)
	if err != nil {
		return nil, err
	}
	return parsePlayed(output)
}

// run runs fio to its end, which is ours too: it is killed when this process dies.
func (p *Player) run(ctx context.Context, args ...string) ([]byte, error) {
	// The parent of Pdeathsig is a thread: it must live as long as fio does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = endsWithin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w: %s", ErrFio, err, lastLines(complaints.String()+out.String()))
	}
	return out.Bytes(), nil
}

// lastLines are the end of what fio says, which is where it says what is wrong.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	const most = 3
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}

// fioReport is what is read of fio's JSON.
type fioReport struct {
	Jobs []struct {
		Error   int       `json:"error"`
		Runtime int64     `json:"job_runtime"` // ms
		Read    fioResult `json:"read"`
		Mixed   fioResult `json:"mixed"`
	} `json:"jobs"`
}

type fioResult struct {
	IOs     int64 `json:"total_ios"`
	Bytes   int64 `json:"io_bytes"`
	Latency struct {
		Mean        float64            `json:"mean"`
		Percentiles map[string]float64 `json:"percentile"`
	} `json:"lat_ns"`
}

func parsePlayed(output []byte) (*Played, error) {
	// fio may write a note before its report.
	if i := bytes.IndexByte(output, '{'); i > 0 {
		output = output[i:]
	}
	var report fioReport
	if err := json.Unmarshal(output, &report); err != nil {
		return nil, fmt.Errorf("%w: its report: %w", ErrFio, err)
	}
	if len(report.Jobs) != 1 {
		return nil, fmt.Errorf("%w: its report has %d jobs", ErrFio, len(report.Jobs))
	}
	j := report.Jobs[0]
	switch {
	case j.Error != 0:
		return nil, fmt.Errorf("%w: %w", ErrFio, syscall.Errno(j.Error))
	case j.Mixed.IOs == 0 || j.Runtime == 0:
		return nil, fmt.Errorf("%w: it did no I/O", ErrFio)
	}
	seconds := float64(j.Runtime) / 1e3
	at := func(percentile string) float64 { return j.Mixed.Latency.Percentiles[percentile] / 1e6 }
	return &Played{
		IOs: j.Mixed.IOs, ReadIOs: j.Read.IOs, Seconds: seconds, IOPS: float64(j.Mixed.IOs) / seconds, BytesPerSec: float64(j.Mixed.Bytes) / seconds,
		MeanMilliseconds: j.Mixed.Latency.Mean / 1e6, P50Milliseconds: at("50.000000"), P95Milliseconds: at("95.000000"), P99Milliseconds: at("99.000000"),
	}, nil
}
