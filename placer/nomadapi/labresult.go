package nomadapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// result reads the profile of an ended run. What was measured is returned also
// where the run failed, together with why.
func (l *labRun) result(ctx context.Context, alloc *labAlloc) (profile.Profile, error) {
	l.reportProgress(ctx, alloc.ID)
	p, err := l.readProfile(ctx, alloc.ID)
	if err == nil && p.Complete {
		return p, nil
	}
	if failed := l.workloadFailure(ctx, alloc); failed != nil {
		return p, failed
	}
	state := alloc.TaskStates[labTask]
	return p, fmt.Errorf("%s: %w", profilerEnd(state, p, err), ErrNoResult)
}

// profilerEnd says how the profiler task ended, best source first.
func profilerEnd(state labTaskState, p profile.Profile, readErr error) string {
	text := "the profiler ended early"
	for _, e := range state.Events {
		if e.Type == "Driver Failure" || e.Type == "Terminated" || e.Type == "Failed Validation" {
			text += ": " + e.DisplayMessage
		}
	}
	if readErr != nil {
		return text + " (" + readErr.Error() + ")"
	}
	if len(p.Warnings) > 0 {
		text += " (" + strings.Join(p.Warnings, "; ") + ")"
	}
	return text
}

// readProfile reads what a run has left, and takes nothing of it that it cannot have measured.
func (l *labRun) readProfile(ctx context.Context, allocID string) (profile.Profile, error) {
	b, err := l.w.readFile(ctx, l.id.Namespace, allocID, profiler.ResultFile, maxResultBytes)
	if err != nil {
		return profile.Profile{}, err
	}
	var p profile.Profile
	if err := json.Unmarshal(b, &p); err != nil {
		return profile.Profile{}, fmt.Errorf("%s: %w", profiler.ResultFile, err)
	}
	if err := CheckProfile(p, l.request); err != nil {
		return profile.Profile{}, fmt.Errorf("%s %w", profiler.ResultFile, err)
	}
	p.MemoryPeakMB, p.Ended = l.memoryPeakMB, "" // which the run cannot know
	return p, nil
}

// CheckProfile refuses what a run of the request cannot have measured; the error goes on after a
// name.
func CheckProfile(p profile.Profile, r cluster.ProfileRequest) error {
	if p.Format != profile.Format {
		return fmt.Errorf("has format %d, this placer reads %d: run nomad-placer and nomad-driver-ibench of one release", p.Format, profile.Format)
	}
	err := p.Check()
	if err == nil {
		err = belongs(p, r)
	}
	if err != nil {
		return fmt.Errorf("is not taken: %w", err)
	}
	return nil
}

// belongs compares a result with what was asked for.
func belongs(p profile.Profile, r cluster.ProfileRequest) error {
	if p.Key != r.Workload.ProfileKey {
		return errors.New("it belongs to another workload")
	}
	if p.Machine.NodeID != string(r.Node.ID) || p.Machine.Configuration != r.Node.Configuration {
		return fmt.Errorf("it is of node %q and configuration %q, and the run was on %q and %q", p.Machine.NodeID, p.Machine.Configuration, r.Node.ID, r.Node.Configuration)
	}
	for configuration := range p.Isolated {
		if configuration != r.Node.Configuration {
			return fmt.Errorf("it has a performance in isolation on configuration %q, where it did not run", configuration)
		}
	}
	if p.Provenance != nil {
		return errors.New("it says where it comes from, which only imported profiles and training rows do")
	}
	return nil
}

// Events of a task that Nomad ended because another one did.
var endedByNomad = []string{"Leader Task Dead", "Sibling Task Failed", "Killing"}

// workloadFailure returns ErrWorkloadFailed where one of the user's tasks ended by
// itself, with its exit code and its last words.
func (l *labRun) workloadFailure(ctx context.Context, alloc *labAlloc) error {
	names := make([]string, 0, len(alloc.TaskStates))
	for name := range alloc.TaskStates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		state := alloc.TaskStates[name]
		if name == labTask || state.State != "dead" {
			continue
		}
		how := ownEnd(state)
		if how == "" {
			continue
		}
		if tail := l.logTail(ctx, alloc.ID, name); tail != "" {
			how += "; its last output: " + tail
		}
		return fmt.Errorf("task %q %s: %w", name, how, cluster.ErrWorkloadFailed)
	}
	return nil
}

// ownEnd says how a task ended by itself, empty where Nomad ended it or where it
// succeeded as a task that only prepares.
func ownEnd(state labTaskState) string {
	for _, e := range state.Events {
		switch {
		case slices.Contains(endedByNomad, e.Type):
			return ""
		case e.Type == "Terminated" && !state.Failed && e.ExitCode == 0:
			return "ended with exit code 0 before it was measured"
		case e.Type == "Terminated":
			return "ended with exit code " + strconv.Itoa(e.ExitCode)
		case strings.Contains(e.Type, "Fail") && state.Failed:
			return "failed: " + e.DisplayMessage
		}
	}
	return ""
}

func (l *labRun) logTail(ctx context.Context, allocID, task string) string {
	for _, stream := range []string{"stderr", "stdout"} {
		q := api.QueryOptions{Namespace: l.id.Namespace, Params: map[string]string{
			"task": task, "type": stream, "plain": "true",
			"origin": "end", "offset": strconv.Itoa(labLogTailBytes),
		}}
		var text []byte
		err := l.w.nomad.stream(ctx, "/v1/client/fs/logs/"+url.PathEscape(allocID), q, func(r io.Reader) (err error) {
			text, err = io.ReadAll(io.LimitReader(r, labLogTailBytes))
			return err
		})
		if trimmed := strings.TrimSpace(string(text)); err == nil && trimmed != "" {
			lines := strings.Split(trimmed, "\n")
			return strings.Join(lines[max(0, len(lines)-labLogTailLines):], " | ")
		}
	}
	return ""
}
