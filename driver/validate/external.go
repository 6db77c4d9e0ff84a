package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// tool is a program of another project.
type tool struct {
	command string
	install string // how to get it, on Debian and Ubuntu
}

var (
	toolFio      = tool{"fio", "apt-get install fio"}
	toolIperf    = tool{"iperf3", "apt-get install iperf3"}
	toolStressNg = tool{"stress-ng", "apt-get install stress-ng"}
)

// here returns nil where the program is installed.
func (t tool) here() error {
	if _, err := exec.LookPath(t.command); err != nil {
		return fmt.Errorf("%s is not installed: not compared (%s)", t.command, t.install)
	}
	return nil
}

// externalRuns is how often a program is run; the kernel's peak is measured
// before each run.
const externalRuns = 3

// against compares a kernel's peak with a program's, in turns.
func against(program tool, unitsPerOp float64, runs int, run func(ctx context.Context, t *team, cpus []int) (float64, error)) func(context.Context, *team, *YardstickResult) error {
	return func(ctx context.Context, t *team, out *YardstickResult) error {
		if t.pace.quick {
			out.Absent = absentQuick
			return nil
		}
		if err := program.here(); err != nil {
			out.Absent = err.Error()
			return nil
		}
		where := t.place(true)
		k, err := t.kernel(ctx, out.Source, where)
		if err != nil {
			return err
		}
		return repeated(ctx, runs, out, func() (kernel, other float64, err error) {
			if err := t.setAndSettle(ctx, k, 100); err != nil {
				return 0, 0, err
			}
			peak, err := t.wallWindow(k)(ctx, 4*t.pace.peak)
			if err = errors.Join(err, k.Set(ctx, 0)); err != nil {
				return 0, 0, err
			}
			other, err = run(ctx, t, where.CPUs)
			return peak * unitsPerOp, other, err
		})
	}
}

// execute runs a program on the CPUs and returns what it printed.
func execute(ctx context.Context, cpus []int, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := runPinned(cmd, cpus); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(complaint.String()))
	}
	return out.Bytes(), nil
}

// runPinned runs a program on the CPUs: it inherits them from the thread that
// starts it, which is not used again.
func runPinned(cmd *exec.Cmd, cpus []int) error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			ended <- err
			return
		}
		ended <- cmd.Run()
	}()
	return <-ended
}

// The load fio is given: that of the kernel.
const (
	fioThreads = 2
	fioSeconds = 1
)

func fioRead() yardstick {
	return yardstick{
		interference.StorageBandwidth, "fio", "sequential direct reads of 1 MiB blocks in the same directory, two threads",
		"B/s", true, externalRuns * (fioSeconds + 1) * time.Second,
		against(toolFio, 1, externalRuns, func(ctx context.Context, t *team, cpus []int) (float64, error) {
			dir, err := os.MkdirTemp(t.storage, ".validate-fio-")
			if err != nil {
				return 0, fmt.Errorf("fio: %w", err)
			}
			out, err := execute(ctx, cpus, toolFio.command,
				"--name=validate", "--filename="+filepath.Join(dir, "file"), "--size="+strconv.Itoa(boundStorageBytes),
				"--rw=read", "--bs=1M", "--direct=1", "--ioengine=psync", "--thread", "--numjobs="+strconv.Itoa(fioThreads),
				"--offset_increment=50%", "--group_reporting", "--time_based", "--runtime="+strconv.Itoa(fioSeconds), "--output-format=json")
			if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
				return 0, err
			}
			return parseFio(out)
		}),
	}
}

// parseFio reads the bandwidth in bytes per second. There may be notes before the
// JSON.
func parseFio(out []byte) (float64, error) {
	var report struct {
		Jobs []struct {
			Read struct {
				BytesPerSec float64 `json:"bw_bytes"`
			} `json:"read"`
		} `json:"jobs"`
	}
	start := bytes.IndexByte(out, '{')
	if start < 0 {
		return 0, errors.New("fio: it printed no JSON")
	}
	if err := json.Unmarshal(out[start:], &report); err != nil {
		return 0, fmt.Errorf("fio: %w", err)
	}
	sum := 0.0
	for _, j := range report.Jobs {
		sum += j.Read.BytesPerSec
	}
	if sum <= 0 {
		return 0, errors.New("fio: it reports no reads")
	}
	return sum, nil
}

// iperfSeconds is the length of one run.
const iperfSeconds = 1

func iperf() yardstick {
	return yardstick{
		interference.NetworkBandwidth, "iperf3", "bits per second of one TCP stream over the loopback interface, both ends on the same CPUs",
		"bit/s", true, externalRuns * (iperfSeconds + 1) * time.Second,
		against(toolIperf, 8, externalRuns, func(ctx context.Context, _ *team, cpus []int) (float64, error) {
			port, err := freePort()
			if err != nil {
				return 0, err
			}
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			served := make(chan error, 1)
			go func() {
				_, err := execute(ctx, cpus, toolIperf.command, "-s", "-1", "-B", "127.0.0.1", "-p", port)
				served <- err
			}()
			bits, err := iperfClient(ctx, cpus, port)
			cancel() // a server without a client would wait for ever
			<-served //nolint:errcheck // the client says what went wrong
			return bits, err
		}),
	}
}

// The wait for the server to listen.
const (
	iperfAttempts = 40
	iperfRetry    = 50 * time.Millisecond
)

// iperfClient runs until a server listens. Depending on its release, a client
// that was refused says so with its exit code or in its JSON.
func iperfClient(ctx context.Context, cpus []int, port string) (bitsPerSec float64, err error) {
	for range iperfAttempts {
		var out []byte
		out, err = execute(ctx, cpus, toolIperf.command, "-c", "127.0.0.1", "-p", port, "-t", strconv.Itoa(iperfSeconds), "-J")
		if err == nil {
			bitsPerSec, err = parseIperf(out)
		}
		if err == nil || ctx.Err() != nil {
			return bitsPerSec, err
		}
		time.Sleep(iperfRetry)
	}
	return 0, err
}

// parseIperf reads what arrived, in bits per second.
func parseIperf(out []byte) (float64, error) {
	var report struct {
		End struct {
			Received struct {
				BitsPerSec float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, fmt.Errorf("iperf3: %w", err)
	}
	if report.Error != "" || report.End.Received.BitsPerSec <= 0 {
		return 0, fmt.Errorf("iperf3: it reports no traffic: %s", report.Error)
	}
	return report.End.Received.BitsPerSec, nil
}

// stressSeconds is the shortest run after which the stream stressor says a
// rate (4 s is too short in release 0.15.06).
const stressSeconds = 5

func stressStream() yardstick {
	return yardstick{
		interference.MemoryBandwidth, "stress-ng --stream", "bytes read per second against bytes read and written per second by one stream stressor per CPU; writing also fetches, so a reader should be above",
		"B/s", false, (stressSeconds + 2) * time.Second,
		against(toolStressNg, 1, 1, func(ctx context.Context, t *team, cpus []int) (float64, error) {
			dir, err := os.MkdirTemp("", "ibench-validate-")
			if err != nil {
				return 0, fmt.Errorf("stress-ng: %w", err)
			}
			file := filepath.Join(dir, "metrics.yaml")
			_, err = execute(ctx, cpus, toolStressNg.command, "--stream", strconv.Itoa(len(cpus)), "--taskset", ibench.FormatCPUList(cpus),
				"--timeout", strconv.Itoa(stressSeconds)+"s", "--metrics", "--yaml", file, "--temp-path", dir)
			metrics, readErr := os.ReadFile(file)
			if err = errors.Join(err, readErr, os.RemoveAll(dir)); err != nil {
				return 0, err
			}
			return parseStress(metrics, len(cpus))
		}),
	}
}

var stressRate = regexp.MustCompile(`memory-(?:read|write)-rate-mb-per-sec: *([0-9.]+)`)

// parseStress reads the rates of its metrics file: those of reading and
// writing, in 2^20 bytes per second, the mean over the instances.
func parseStress(metrics []byte, instances int) (float64, error) {
	sum := 0.0
	for _, m := range stressRate.FindAllSubmatch(metrics, -1) {
		rate, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, fmt.Errorf("stress-ng: %w", err)
		}
		sum += rate
	}
	if sum <= 0 {
		return 0, errors.New("stress-ng: it reports no rate")
	}
	return sum * (1 << 20) * float64(instances), nil
}

// freePort finds a port of the loopback interface that no process listens on now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
