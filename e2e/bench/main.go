// Command bench runs the benchmarks that have a target and prints one
// tab-separated row for each: name, value, unit, target, and ok or MISS. It exits
// 1 if a target is missed or has no value: a benchmark that does not run proves
// nothing.
//
//	go run ./e2e/bench [-list]
//
// The targets are the table in targets.go.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	onlyList := flag.Bool("list", false, "print the targets without running the benchmarks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *onlyList {
		for _, t := range targets {
			fmt.Printf("%s\t%s\tBenchmark%s\t< %g %s\n", t.name, t.pkg, t.benchmark, t.most, t.unit)
		}
		return
	}
	if err := run(ctx, os.Stdout, targets, goTest); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runner runs one benchmark and returns what go test printed.
type runner func(ctx context.Context, t target) (string, error)

// goTest runs the one benchmark of a target. Its output goes to no terminal: the
// table is the result.
func goTest(ctx context.Context, t target) (string, error) {
	args := []string{"test", "-run", "^$", "-bench", pattern(t.benchmark), "-timeout", "10m"}
	if t.benchtime != "" {
		args = append(args, "-benchtime", t.benchtime)
	}
	if t.tags != "" {
		args = append(args, "-tags", t.tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, t.pkg)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, output.String())
	}
	return output.String(), nil
}

// pattern matches exactly one benchmark: go test matches each element of the name
// on its own.
func pattern(benchmark string) string {
	elements := strings.Split("Benchmark"+benchmark, "/")
	for i, e := range elements {
		elements[i] = "^" + e + "$"
	}
	return strings.Join(elements, "/")
}

// run prints the table. Rows without a value say why on the error output.
func run(ctx context.Context, out io.Writer, targets []target, runOne runner) error {
	var errs []error
	for _, t := range targets {
		value, err := measure(ctx, t, runOne)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.name, err))
			fmt.Fprintf(out, "%s\t-\t%s\t< %g\tMISS\n", t.name, t.unit, t.most)
			continue
		}
		verdict := "ok"
		// Written so that NaN is a miss.
		if !(value < t.most) {
			verdict = "MISS"
			errs = append(errs, fmt.Errorf("%s: %.3g %s, want less than %g", t.name, value, t.unit, t.most))
		}
		fmt.Fprintf(out, "%s\t%.4g\t%s\t< %g\t%s\n", t.name, value, t.unit, t.most, verdict)
	}
	return errors.Join(errs...)
}

func measure(ctx context.Context, t target, runOne runner) (float64, error) {
	output, err := runOne(ctx, t)
	if err != nil {
		return 0, err
	}
	value, err := find(output, t)
	return value * t.scale, err
}

// find reads the metric from the lines of go test: name, iterations, and pairs
// of value and unit (https://go.dev/design/14313-benchmark-format).
func find(output string, t target) (float64, error) {
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !isBenchmark(fields[0], t.benchmark) {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if fields[i+1] == t.metric {
				return strconv.ParseFloat(fields[i], 64)
			}
		}
		return 0, fmt.Errorf("no %s in %q", t.metric, strings.TrimSpace(line))
	}
	return 0, fmt.Errorf("%s: no benchmark %s ran", t.pkg, t.benchmark)
}

// isBenchmark compares a printed name with a wanted one. go test appends the
// number of CPUs, unless it is 1.
func isBenchmark(printed, benchmark string) bool {
	rest, ok := strings.CutPrefix(printed, "Benchmark"+benchmark)
	if !ok || rest == "" {
		return ok
	}
	cpus, ok := strings.CutPrefix(rest, "-")
	_, err := strconv.Atoi(cpus)
	return ok && err == nil
}
