package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// The exit codes of virtual commands.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// usage is what `nomad alloc exec … help` prints.
const usage = `commands of an ibench task:
  set PERCENT [SOURCE]   change the intensity, 0 to 100
  add PERCENT [SOURCE]   change it by that much, for example: add -10
  ramp FROM TO STEP DWELL [SOURCE]
                         walk from one intensity to another, for example:
                         ramp 0 100 10 2s
  pause [SOURCE]         exert no pressure
  resume [SOURCE]        go on at the same intensity
  stats [SOURCE] [-json] what the kernels do, how far a profiling run is, or what a reservation transfer holds
  help                   this text
Without SOURCE a command is for all kernels of the task.
`

// virtual is a parsed virtual command.
type virtual struct {
	request executor.Request
	json    bool
	help    bool
}

// parseCommand parses the words of a virtual command. There is no shell.
func parseCommand(words []string) (virtual, error) {
	var v virtual
	var rest []string
	for _, w := range words {
		if w == "-json" || w == "--json" {
			v.json = true
			continue
		}
		rest = append(rest, w)
	}
	if len(rest) == 0 {
		v.help = true
		return v, nil
	}
	v.request.Command, rest = executor.Command(rest[0]), rest[1:]
	var err error
	switch v.request.Command {
	case "help", "-h", "--help":
		v.help = true
		return v, nil
	case executor.CommandSet, executor.CommandAdd:
		if len(rest) == 0 {
			return v, fmt.Errorf("%s needs a percentage", v.request.Command)
		}
		v.request.Percent, err = parsePercent(rest[0], v.request.Command == executor.CommandAdd)
		rest = rest[1:]
	case executor.CommandRamp:
		v.request.Ramp, err = parseRamp(rest)
		rest = rest[min(rampWords, len(rest)):]
	case executor.CommandPause, executor.CommandResume, executor.CommandStats:
	default:
		return v, fmt.Errorf("unknown command %q%s", v.request.Command,
			suggest(string(v.request.Command), []string{"set", "add", "ramp", "pause", "resume", "stats", "help"}))
	}
	if err != nil {
		return v, err
	}
	if len(rest) > 1 {
		return v, fmt.Errorf("too many arguments: %s", strings.Join(rest, " "))
	}
	if len(rest) == 1 {
		v.request.Source, err = source("SOURCE", rest[0])
	}
	return v, err
}

// rampWords are the words of a ramp: FROM TO STEP DWELL.
const rampWords = 4

func parseRamp(words []string) (*executor.Ramp, error) {
	if len(words) < rampWords {
		return nil, errors.New("ramp needs FROM TO STEP DWELL, for example: ramp 0 100 10 2s")
	}
	var r executor.Ramp
	var errs [4]error
	r.FromPercent, errs[0] = parsePercent(words[0], false)
	r.ToPercent, errs[1] = parsePercent(words[1], false)
	r.StepPercent, errs[2] = parsePercent(words[2], false)
	if r.Dwell, errs[3] = time.ParseDuration(words[3]); errs[3] != nil {
		errs[3] = fmt.Errorf("%q is not a duration such as 2s or 500ms", words[3])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("ramp: %w", err)
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("ramp: %w", err)
	}
	return &r, nil
}

func parsePercent(text string, relative bool) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	low := 0.0
	if relative {
		low = -100
	}
	// The comparison is false for NaN, too.
	if err != nil || !(v >= low && v <= 100) {
		return 0, fmt.Errorf("%q is not a percentage from %.0f to 100", text, low)
	}
	return v, nil
}

// signalStep is what SIGUSR1 adds and SIGUSR2 takes, in percent.
const signalStep = 10

// signalHelp lists what SignalTask understands.
const signalHelp = "SIGUSR1 (+10), SIGUSR2 (-10), SIGSTOP or SIGTSTP (pause), SIGCONT (resume), IBENCH=PERCENT, SET=PERCENT, SOURCE=PERCENT (for example mem_bw=40), ADVICE=SOURCE:SOURCE,… (to a profiling run: leave the first, then measure the others)"

// parseSignal turns the text of a signal into a request. Nomad's client passes
// the text on unchanged, so a level fits into it, and advice to a profiling run.
func parseSignal(text string) (executor.Request, error) {
	if advice, ok, err := profiler.ParseAdvice(text); ok {
		return executor.Request{Command: executor.CommandAdvise, Advice: &advice}, err
	}
	switch strings.TrimPrefix(strings.ToUpper(text), "SIG") {
	case "USR1":
		return executor.Request{Command: executor.CommandAdd, Percent: signalStep}, nil
	case "USR2":
		return executor.Request{Command: executor.CommandAdd, Percent: -signalStep}, nil
	case "STOP", "TSTP":
		return executor.Request{Command: executor.CommandPause}, nil
	case "CONT":
		return executor.Request{Command: executor.CommandResume}, nil
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return executor.Request{}, fmt.Errorf("signal %q is not supported; supported: %s", text, signalHelp)
	}
	percent, err := parsePercent(value, false)
	if err != nil {
		return executor.Request{}, fmt.Errorf("signal %q: %w", text, err)
	}
	r := executor.Request{Command: executor.CommandSet, Percent: percent}
	if upper := strings.ToUpper(name); upper != "IBENCH" && upper != "SET" {
		if r.Source, err = source("signal", strings.ToLower(name)); err != nil {
			return executor.Request{}, fmt.Errorf("%w; supported: %s", err, signalHelp)
		}
	}
	return r, nil
}

// render prints the answer to a virtual command.
func render(answer executor.Response, asJSON bool) (string, error) {
	if asJSON {
		data, err := json.MarshalIndent(answer, "", "  ")
		if err != nil {
			return "", fmt.Errorf("print the answer: %w", err)
		}
		return string(data) + "\n", nil
	}
	var b strings.Builder
	if p := answer.Progress; p != nil {
		fmt.Fprintf(&b, "%s, %.0f %% done, %.0f s remaining: %s\n", p.Phase, p.Fraction*100, p.RemainingSeconds, p.Message)
	}
	if answer.Transfer != nil {
		fmt.Fprintln(&b, answer.Transfer)
	}
	if answer.Traffic != nil {
		fmt.Fprintln(&b, answer.Traffic)
	}
	for _, k := range answer.Kernels {
		fmt.Fprintln(&b, kernelLine(k))
	}
	return b.String(), nil
}

// kernelLine describes a kernel on one line.
func kernelLine(k executor.KernelStatus) string {
	name, state := string(k.Source), ""
	if k.Variant != "" {
		name += " " + k.Variant
	}
	switch {
	case k.Paused:
		state = ", paused"
	case k.Ramp:
		state = ", on a ramp"
	}
	return fmt.Sprintf("%s: %.4g %% on CPUs %s (%s)%s, achieved %s, speed %s, %.4g %s in %.1f s",
		name, k.IntensityPct, k.CPUs, k.Placement, state, achieved(k), speed(k), k.Ops, k.Unit, k.WallNanoseconds/1e9)
}

// achieved is the intensity reached of late, or since the start where nothing
// newer is known; a kernel that was asked for nothing has none.
func achieved(k executor.KernelStatus) string {
	switch {
	case k.AchievedPercent != nil:
		return strconv.FormatFloat(*k.AchievedPercent, 'f', 0, 64) + " %"
	case k.DemandOps > 0:
		return strconv.FormatFloat(100*k.Ops/k.DemandOps, 'f', 0, 64) + " % of what was asked"
	}
	return "-"
}

func speed(k executor.KernelStatus) string {
	if k.SpeedOpsPerSec == nil {
		return "-"
	}
	return strconv.FormatFloat(*k.SpeedOpsPerSec, 'g', 4, 64) + " " + k.Unit + "/s"
}
