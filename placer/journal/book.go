package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// The document classes of the record book; see profiler/store/FORMAT.md.
const (
	decisionPrefix    = "decision"
	evaluationPrefix  = "evaluation"
	observationPrefix = "observation"
	diskLimitPrefix   = "disk-limit"
)

// maxObservations is how many readings are kept per workload: twenty minutes
// at the default interval, well inside one document.
const maxObservations = 60

// observations is the document of one workload's measurements.
type observations struct {
	Format       int                   `json:"format"`
	Workload     cluster.WorkloadID    `json:"workload"`
	Observations []cluster.Observation `json:"observations"`
}

const observationFormat = 1

// newestFormat is the highest format this version reads of any of its records.
const newestFormat = 1

// Book keeps the engine's records in a store. It is what every replica, the
// command line and the dashboard read.
type Book struct{ Store store.Store }

// pathOf names a record by hash, because job names hold characters that a
// document path may not; the record itself says whose it is.
func pathOf(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + "/" + hex.EncodeToString(sum[:12])
}

// PutDecision stores the newest decision of its workload. A record too large
// for a store loses the tail of its rejected and candidate lists, whose totals
// stay in RejectedBy and Considered.
func (b Book) PutDecision(ctx context.Context, d cluster.Decision) error {
	d.Format = cluster.DecisionFormat
	for {
		data, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("decision of %s: %w", d.Workload, err)
		}
		if len(data) <= store.MaxDocumentBytes || len(d.Rejected)+len(d.Candidates) < 2 {
			_, err = b.Store.Put(ctx, pathOf(decisionPrefix, d.Workload.String()), data, store.Any)
			return wrap(err, "decision of %s", d.Workload)
		}
		d.Rejected = d.Rejected[:len(d.Rejected)/2]
		d.Candidates = d.Candidates[:(len(d.Candidates)+1)/2]
	}
}

// Decision returns the newest decision of a workload, or cluster.ErrNoRecord.
func (b Book) Decision(ctx context.Context, w cluster.WorkloadID) (cluster.Decision, error) {
	return get[cluster.Decision](ctx, b.Store, pathOf(decisionPrefix, w.String()))
}

// Decisions returns the newest decision of every workload, but for documents that are none.
func (b Book) Decisions(ctx context.Context) ([]cluster.Decision, error) {
	found, _, err := list[cluster.Decision](ctx, b.Store, decisionPrefix)
	return found, err
}

// PutEvaluation stores how far a job's evaluation is.
func (b Book) PutEvaluation(ctx context.Context, e cluster.Evaluation) error {
	e.Format = cluster.EvaluationFormat
	return put(ctx, b.Store, pathOf(evaluationPrefix, e.Job.String()), e)
}

// Evaluation returns the evaluation of a job, or cluster.ErrNoRecord.
func (b Book) Evaluation(ctx context.Context, j cluster.JobID) (cluster.Evaluation, error) {
	return get[cluster.Evaluation](ctx, b.Store, pathOf(evaluationPrefix, j.String()))
}

// Evaluations returns the newest evaluation of every job, but for documents that are none.
func (b Book) Evaluations(ctx context.Context) ([]cluster.Evaluation, error) {
	found, _, err := list[cluster.Evaluation](ctx, b.Store, evaluationPrefix)
	return found, err
}

// Forget removes all records of a job that is gone.
func (b Book) Forget(ctx context.Context, j cluster.JobID, groups []cluster.WorkloadID) error {
	errs := []error{b.Store.Delete(ctx, pathOf(evaluationPrefix, j.String()))}
	for _, w := range groups {
		for _, prefix := range workloadPrefixes {
			errs = append(errs, b.Store.Delete(ctx, pathOf(prefix, w.String())))
		}
	}
	return errors.Join(errs...)
}

// workloadPrefixes are the classes of documents of which a workload has one.
var workloadPrefixes = []string{decisionPrefix, observationPrefix, actionPrefix}

// Stray is a record that nothing knows of: its job, and its workload where it is of one.
type Stray struct {
	Job      cluster.JobID
	Workload *cluster.WorkloadID
}

// Strays returns records that are not of the jobs and workloads known, most at most.
func (b Book) Strays(ctx context.Context, known map[cluster.JobID][]cluster.WorkloadID, most int) ([]Stray, error) {
	expected := map[string]bool{}
	for job, workloads := range known {
		expected[pathOf(evaluationPrefix, job.String())] = true
		for _, w := range workloads {
			for _, prefix := range workloadPrefixes {
				expected[pathOf(prefix, w.String())] = true
			}
		}
	}
	var out []Stray
	for _, prefix := range append([]string{evaluationPrefix}, workloadPrefixes...) {
		paths, err := b.Store.List(ctx, prefix)
		if err != nil {
			return out, fmt.Errorf("%s: %w", prefix, err)
		}
		for _, path := range paths {
			if expected[path] || len(out) == most {
				continue
			}
			if stray, err := b.strayAt(ctx, prefix, path); err == nil { // else it is gone by now, or not one of ours
				out = append(out, stray)
			}
		}
	}
	return out, nil
}

// strayAt reads whose a record is, which must be where that one's would be.
func (b Book) strayAt(ctx context.Context, prefix, path string) (Stray, error) {
	of, err := get[struct {
		Job      cluster.JobID      `json:"job"`
		Workload cluster.WorkloadID `json:"workload"`
	}](ctx, b.Store, path)
	if err != nil {
		return Stray{}, err
	}
	stray, name := Stray{Job: of.Job}, of.Job.String()
	if prefix != evaluationPrefix {
		stray, name = Stray{of.Workload.JobID(), &of.Workload}, of.Workload.String()
	}
	if path != pathOf(prefix, name) {
		return Stray{}, fmt.Errorf("%s: it says that it is of %s, and is not in its place", path, name)
	}
	return stray, nil
}

// ForgetObservations removes what was measured of a workload.
func (b Book) ForgetObservations(ctx context.Context, w cluster.WorkloadID) error {
	return b.Store.Delete(ctx, pathOf(observationPrefix, w.String()))
}

// AddObservations appends readings, keeping the newest maxObservations.
func (b Book) AddObservations(ctx context.Context, w cluster.WorkloadID, o []cluster.Observation) error {
	old, err := b.Observations(ctx, w)
	if err != nil {
		return err
	}
	all := append(old, o...)
	if len(all) > maxObservations {
		all = all[len(all)-maxObservations:]
	}
	return put(ctx, b.Store, pathOf(observationPrefix, w.String()), observations{observationFormat, w, all})
}

// Observations returns what was measured of a workload, oldest first.
func (b Book) Observations(ctx context.Context, w cluster.WorkloadID) ([]cluster.Observation, error) {
	o, err := get[observations](ctx, b.Store, pathOf(observationPrefix, w.String()))
	if errors.Is(err, cluster.ErrNoRecord) {
		return nil, nil
	}
	return o.Observations, err
}

// PutDiskLimits keeps what the agent of a node bounds there; nothing is a document less. One that
// is too large for a store loses its end.
func (b Book) PutDiskLimits(ctx context.Context, l cluster.DiskLimits) error {
	path := pathOf(diskLimitPrefix, string(l.Node))
	if len(l.Limits) == 0 {
		return wrap(b.Store.Delete(ctx, path), "disk limits of %s", l.Name)
	}
	l.Format = cluster.DiskLimitsFormat
	for {
		data, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("disk limits of %s: %w", l.Name, err)
		}
		if len(data) <= store.MaxDocumentBytes || len(l.Limits) < 2 {
			_, err = b.Store.Put(ctx, path, data, store.Any)
			return wrap(err, "disk limits of %s", l.Name)
		}
		l.Limits = l.Limits[:len(l.Limits)/2]
	}
}

// DiskLimits are those of a workload's allocations, by node, as their agents wrote them last.
func (b Book) DiskLimits(ctx context.Context, w cluster.WorkloadID) ([]cluster.DiskLimit, error) {
	found, _, err := list[cluster.DiskLimits](ctx, b.Store, diskLimitPrefix)
	if err != nil {
		return nil, err
	}
	var out []cluster.DiskLimit
	for _, node := range found {
		for _, l := range node.Limits {
			if l.Workload == w {
				l.At = node.At
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b cluster.DiskLimit) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Allocation, b.Allocation))
	})
	return out, nil
}

// ForgetDiskLimits removes what agents wrote before a time and did not take back: those of nodes
// that are gone.
func (b Book) ForgetDiskLimits(ctx context.Context, before time.Time) error {
	found, _, err := list[cluster.DiskLimits](ctx, b.Store, diskLimitPrefix)
	for _, l := range found {
		if l.At.Before(before) {
			err = errors.Join(err, b.Store.Delete(ctx, pathOf(diskLimitPrefix, string(l.Node))))
		}
	}
	return err
}

// provisionPath is where the account of rented nodes is.
const provisionPath = "provision/account"

// provisionFormat is the version of its form.
const provisionFormat = 1

// provisionAccount is its document.
type provisionAccount struct {
	Format int `json:"format"`
	tracker.State
}

// PutProvision keeps the account of rented nodes.
func (b Book) PutProvision(ctx context.Context, s tracker.State) error {
	return put(ctx, b.Store, provisionPath, provisionAccount{provisionFormat, s})
}

// Provision returns the account of rented nodes, or cluster.ErrNoRecord.
func (b Book) Provision(ctx context.Context) (tracker.State, error) {
	a, err := get[provisionAccount](ctx, b.Store, provisionPath)
	return a.State, err
}

// capacityPath is where the capacity over time is.
const capacityPath = "provision/capacity"

// provisionCapacity is its document.
type provisionCapacity struct {
	Format  int                  `json:"format"`
	Samples provision.Capacities `json:"samples"`
}

// PutCapacity keeps what capacity there was.
func (b Book) PutCapacity(ctx context.Context, samples provision.Capacities) error {
	return put(ctx, b.Store, capacityPath, provisionCapacity{provisionFormat, samples})
}

// Capacity is what capacity there was, oldest first; none is not an error.
func (b Book) Capacity(ctx context.Context) (provision.Capacities, error) {
	c, err := get[provisionCapacity](ctx, b.Store, capacityPath)
	if errors.Is(err, cluster.ErrNoRecord) {
		return nil, nil
	}
	return c.Samples, err
}

// Profiles returns the keys of all stored profiles.
func (b Book) Profiles(ctx context.Context) ([]string, error) {
	keys, err := store.Profiles{Store: b.Store}.Keys(ctx)
	return keys, wrap(err, "profiles")
}

// Profile returns the profile of that key, or cluster.ErrNoRecord, also where what is
// stored is not used.
func (b Book) Profile(ctx context.Context, key string) (profile.Profile, error) {
	p, _, err := store.Profiles{Store: b.Store}.Get(ctx, key)
	if errors.Is(err, store.ErrRefused) {
		return p, fmt.Errorf("%w: %w", cluster.ErrNoRecord, err)
	}
	return p, noRecord(err)
}

// Productions returns the keys of the workloads of which production says something.
func (b Book) Productions(ctx context.Context) ([]string, error) {
	keys, err := store.Productions{Store: b.Store}.Keys(ctx)
	return keys, wrap(err, "what production says")
}

// Production returns what production says of a workload, or cluster.ErrNoRecord, also where
// what is stored is not used.
func (b Book) Production(ctx context.Context, key string) (profile.Production, error) {
	p, _, err := store.Productions{Store: b.Store}.Get(ctx, key)
	if errors.Is(err, store.ErrRefused) {
		return p, fmt.Errorf("%w: %w", cluster.ErrNoRecord, err)
	}
	return p, noRecord(err)
}

func put(ctx context.Context, s store.Store, path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = s.Put(ctx, path, data, store.Any)
	return wrap(err, "%s", path)
}

func get[T any](ctx context.Context, s store.Store, path string) (T, error) {
	var v T
	doc, err := s.Get(ctx, path)
	if err != nil {
		return v, noRecord(err)
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(doc.Data, &head); err != nil {
		return v, fmt.Errorf("%s: %w: %w", path, store.ErrDamaged, err)
	}
	if head.Format > newestFormat {
		return v, fmt.Errorf("%s: %w: format %d", path, store.ErrFormat, head.Format)
	}
	if err := json.Unmarshal(doc.Data, &v); err != nil {
		return v, fmt.Errorf("%s: %w: %w", path, store.ErrDamaged, err)
	}
	return v, nil
}

// list reads the documents below a prefix. Those that cannot be read as what they should be
// are counted: one that somebody else wrote keeps nobody from the others.
func list[T any](ctx context.Context, s store.Store, prefix string) (out []T, unusable int, err error) {
	paths, err := s.List(ctx, prefix)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", prefix, err)
	}
	err = store.InOrder(ctx, paths, func(ctx context.Context, path string) (T, error) { return get[T](ctx, s, path) }, func(v T, err error) error {
		switch {
		case err == nil:
			out = append(out, v)
		case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrFormat):
			unusable++
		case !errors.Is(err, cluster.ErrNoRecord): // deleted between List and Get
			return err
		}
		return nil
	})
	return out, unusable, err
}

func noRecord(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", cluster.ErrNoRecord, err)
	}
	return err
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
