package nomadapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// KernelSpeeds runs kernels on a node as a batch job of our own and returns how fast each was, in
// operations per second and thread; one that could not be measured is not there. The job is removed
// at the end, however that comes.
func (w *World) KernelSpeeds(ctx context.Context, r cluster.KernelRequest) (map[interference.Source]float64, error) {
	if !r.Node.Kernels {
		return nil, fmt.Errorf("node %s: %w", r.Node.Name, cluster.ErrNoKernels)
	}
	if why := w.refusesKey(&r.Node); why != "" {
		return nil, fmt.Errorf("%s: %w", why, cluster.ErrNoKernels)
	}
	deadline := w.serverTime.Now().Add(r.Within)
	job, err := kernelJob(r, deadline, w.opts.Owner, cmp.Or(w.opts.RecordsNamespace, defaultNamespace))
	if err != nil {
		return nil, err
	}
	w.sign(job, r.Node.ID, deadline, func(task string) bool { return task == labTask })
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	w.kernelRuns.add(r.ID)
	defer w.kernelRuns.drop(r.ID)
	run := &labRun{w: w, id: jobIDOf(job), request: cluster.ProfileRequest{ID: r.ID, Node: r.Node}}
	err = run.start(ctx, job)
	if run.ours {
		defer run.remove(ctx)
	}
	if err != nil {
		return nil, err
	}
	return run.speeds(ctx, r.Sources)
}

// kernelRuns are the runs of kernels that are under way here.
type kernelRuns struct {
	mu    sync.Mutex
	under map[string]bool
}

func (k *kernelRuns) add(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.under[id] = true
}

func (k *kernelRuns) drop(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.under, id)
}

func (k *kernelRuns) has(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.under[id]
}

// defaultNamespace is Nomad's.
const defaultNamespace = "default"

// kernelShare of a run's time is for the kernels; the rest is for the start of the allocation and for
// reading what it leaves.
const kernelShare = 0.5

// kernelJob has the profiler task alone, on one node.
func kernelJob(r cluster.KernelRequest, deadline time.Time, owner, namespace string) (object, error) {
	request, err := requestText(profiler.Request{
		Format: profiler.RequestFormat, Machine: true, Configuration: r.Node.Configuration, NodeID: string(r.Node.ID), NodeName: r.Node.Name,
		Sources: r.Sources, Seconds: max(1, int(kernelShare*r.Within.Seconds())), Seed: seedOf(r.ID),
	})
	if err != nil {
		return nil, err
	}
	group := object{
		"Name": "kernels", "Count": 1, "RestartPolicy": never(), "ReschedulePolicy": map[string]any{"Attempts": 0, "Unlimited": false},
		"EphemeralDisk": map[string]any{"SizeMB": labExtraDiskMB, "Sticky": false, "Migrate": false},
	}
	group.setList("Tasks", []object{profilerTaskOf(request)})
	job := object{
		"ID": labJobID(r.ID), "Name": labJobID(r.ID), "Namespace": namespace, "Type": "batch", "Priority": labPriority,
		"NodePool": cmp.Or(r.Node.Pool, "default"), "Datacenters": []any{"*"},
		"Meta": map[string]any{metaOwner: owner, metaProfileID: r.ID, metaNode: string(r.Node.ID), metaDeadline: deadline.UTC().Format(time.RFC3339)},
	}
	job.setList("Constraints", []object{{"LTarget": nodeIDTarget, "Operand": "=", "RTarget": string(r.Node.ID)}})
	job.setList("TaskGroups", []object{group})
	return job, nil
}

// speeds waits for the run's end and reads what it left.
func (l *labRun) speeds(ctx context.Context, sources []interference.Source) (map[interference.Source]float64, error) {
	began := l.w.clock.Now()
	for {
		alloc, err := l.allocation(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the kernels on node %s were not done in time: %w", l.request.Node.Name, ctx.Err())
		case err != nil:
			return nil, err
		case alloc == nil:
			if err := l.unplaced(ctx, l.w.clock.Now().Sub(began)); err != nil {
				return nil, err
			}
		case alloc.lost():
			return nil, fmt.Errorf("node %s: %w", l.request.Node.Name, cluster.ErrNodeLost)
		case alloc.ended():
			return l.readSpeeds(ctx, alloc, sources)
		}
		select {
		case <-ctx.Done():
		case <-l.w.clock.After(labPoll):
		}
	}
}

// readSpeeds reads what a run has left, and takes nothing of it that was not asked for.
func (l *labRun) readSpeeds(ctx context.Context, alloc *labAlloc, sources []interference.Source) (map[interference.Source]float64, error) {
	b, err := l.w.readFile(ctx, l.id.Namespace, alloc.ID, profiler.SpeedsFile, maxResultBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", profilerEnd(alloc.TaskStates[labTask], profile.Profile{}, err), ErrNoResult)
	}
	var s profiler.Speeds
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", profiler.SpeedsFile, err)
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s %w", profiler.SpeedsFile, err)
	}
	if s.NodeID != string(l.request.Node.ID) {
		return nil, fmt.Errorf("%s is of node %q, and the run was on %q", profiler.SpeedsFile, s.NodeID, l.request.Node.ID)
	}
	out := map[interference.Source]float64{}
	var why []string
	for _, k := range s.Kernels {
		switch {
		case !slices.Contains(sources, k.Source):
			return nil, fmt.Errorf("%s has %s, which was not asked for", profiler.SpeedsFile, k.Source)
		case k.OpsPerSec > 0:
			out[k.Source] = k.OpsPerSec
		default:
			why = append(why, fmt.Sprintf("%s: %s", k.Source, k.Unknown))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no kernel was measured on node %s (%s): %w", l.request.Node.Name, strings.Join(why, "; "), ErrNoResult)
	}
	return out, nil
}

// Keys of what others were seen to press on a node; as for headroom, `unique.` keeps them out of the
// node's computed class.
const (
	metaQuality       = "unique.placer_quality"
	metaOutsidePrefix = "unique.placer_outside_"
)

// ShowQuality writes a node's quality to its meta: from 0 to 1, and what others press on each
// resource, whole percents. It does nothing unless Options.NodeMetadata is set.
func (w *World) ShowQuality(ctx context.Context, id cluster.NodeID, q cluster.NodeQuality) error {
	if !w.opts.NodeMetadata {
		return nil
	}
	quality := strconv.FormatFloat(q.Quality, 'f', 2, 64)
	change := map[string]*string{metaQuality: &quality}
	for _, source := range slices.Sorted(maps.Keys(q.OutsidePercent)) {
		text := strconv.Itoa(q.OutsidePercent[source])
		change[metaOutsidePrefix+string(source)] = &text
	}
	if err := w.setMeta(ctx, id, change); err != nil && !errors.Is(err, cluster.ErrNotLeading) {
		return fmt.Errorf("meta of node %s: %w", id, err)
	}
	return nil
}
