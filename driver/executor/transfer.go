package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// TransferSpec is a transfer: what the task itself holds in Nomad's books is added to
// what another task on this node may take.
type TransferSpec struct {
	AllocID string `json:"alloc_id"` // that receives
	Task    string `json:"task"`
	// RecipientMHz is what the recipient holds itself; the CPU share grows in
	// proportion. 0 transfers no CPU.
	RecipientMHz int64 `json:"borrower_mhz,omitempty"`
	MHz          int64 `json:"mhz,omitempty"` // transferred
	// Slice is the length of a turn of the recipient's threads on a CPU that it shares;
	// 0 leaves it.
	Slice       time.Duration `json:"slice_ns,omitempty"`
	MemoryBytes int64         `json:"memory_bytes,omitempty"`
	// Namespace is the only one of recipients: the task's own, where nobody has signed for
	// the transfer. Empty is any.
	Namespace string `json:"namespace,omitempty"`
}

// Transfer is the content of TransferFile: what to put back, and where.
type Transfer struct {
	AllocID     string  `json:"alloc_id"`
	Task        string  `json:"task"`
	Group       string  `json:"group"`
	GroupID     uint64  `json:"group_id"`
	CPUShare    *Change `json:"cpu_share,omitempty"` // cpu.shares on v1, cpu.weight on v2
	MemoryBytes *Change `json:"memory_bytes,omitempty"`
	// Slice is the time slice that its threads were given, of the kernel's own.
	Slice time.Duration `json:"slice_ns,omitempty"`
}

// Change is a number of a control group before and while it is transferred.
type Change struct {
	Was int64 `json:"was"`
	Is  int64 `json:"is"`
}

// String describes the transfer for people, and for the placer.
func (l Transfer) String() string {
	return fmt.Sprintf("%stask %q of allocation %s: %s", profiler.TransferMessage, l.Task, l.AllocID, l.terms())
}

func (l Transfer) terms() string {
	var parts []string
	if l.CPUShare != nil {
		parts = append(parts, fmt.Sprintf("CPU share %d → %d", l.CPUShare.Was, l.CPUShare.Is))
	}
	if l.MemoryBytes != nil {
		parts = append(parts, fmt.Sprintf("memory limit %d → %d MiB", l.MemoryBytes.Was>>20, l.MemoryBytes.Is>>20))
	}
	if l.Slice > 0 {
		parts = append(parts, fmt.Sprintf("time slice %s", l.Slice))
	}
	return strings.Join(parts, ", ")
}

var (
	errRecipientGone      = errors.New("the allocation has ended")
	errAway               = errors.New("the task has no process in its control group")
	errNotYet             = errors.New("the task's control group is not settled yet")
	errTransferredAlready = errors.New("another reservation transfer to the task has not ended")
	errNamespaceUnknown   = errors.New("the recipient's environment does not say its namespace, and a transfer that is not signed stays in its own: the operator can set signers in the plugin block")
	errOtherNamespace     = errors.New("the recipient is in another namespace, and a transfer that is not signed stays in its own")
	errNothingToTransfer  = errors.New("there is nothing to transfer: cpu_mhz is not given, and the recipient has no memory limit")
)

// transferPatience is how long a recipient may be away before its allocation counts as
// ended: longer than Nomad's usual pause before it restarts a task.
const transferPatience = 60 * time.Second

// holder is transfer mode: it holds a transfer until it is stopped.
type holder struct {
	*journal
	room     *room
	patience time.Duration
	poll     time.Duration

	mu       sync.Mutex
	transfer *Transfer       // while it is out
	seen     reading         // at the last look, before the transfer
	told     bool            // that the namespace is not known
	strange  map[string]bool // of the transfer: what another program has changed
}

// reading is what a group shows.
type reading struct {
	id, share, memory int64
	limited           bool
}

// runTransfer holds the transfer until ctx ends or the recipient's allocation has, and puts
// everything back.
func (l *holder) runTransfer(ctx context.Context) error {
	cause := l.hold(ctx)
	if err := Return(l.tree(), l.record()); err != nil {
		return fmt.Errorf("%w (ended because: %s)", err, cause.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.transfer != nil && !errors.Is(cause, errRecipientGone) {
		l.say("took back what task %q of allocation %s had received: %s", l.transfer.Task, l.transfer.AllocID, l.transfer.terms())
	}
	l.transfer = nil
	return cause
}

func (l *holder) tree() cgroup.Tree {
	if l.room.tree == nil {
		return cgroup.Tree{}
	}
	return *l.room.tree
}

func (l *holder) record() string { return filepath.Join(l.room.dir, TransferFile) }

// hold looks after the transfer until there is a reason not to.
func (l *holder) hold(ctx context.Context) error {
	if l.room.tree == nil {
		return cgroup.ErrNoCgroups
	}
	ticker := time.NewTicker(l.poll)
	defer ticker.Stop()
	var away time.Time
	for {
		err := l.look()
		switch {
		case err == nil:
			away = time.Time{}
		case !passing(err):
			return err
		case away.IsZero():
			away = l.room.now()
		case l.room.now().Sub(away) >= l.patience:
			return l.gaveUp(err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if l.allocationGone() {
			return errRecipientGone
		}
	}
}

// passing errors are those that another look may not meet.
func passing(err error) bool {
	for _, e := range []error{cgroup.ErrNoTaskGroup, errAway, errNotYet, errTransferredAlready, errNamespaceUnknown, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// gaveUp is the end of a wait that was too long. A recipient that was there has
// ended; one that never was is a mistake.
func (l *holder) gaveUp(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.transfer != nil {
		return errRecipientGone
	}
	return fmt.Errorf("waited %s for task %q of allocation %s: %w", l.patience, l.spec().Task, l.spec().AllocID, err)
}

func (l *holder) spec() TransferSpec { return *l.room.spec.Transfer }

// RecipientDir is the directory of the recipient's allocation: Nomad keeps those of
// a node side by side.
func RecipientDir(allocDir, recipient string) string {
	return filepath.Join(filepath.Dir(allocDir), recipient)
}

func (l *holder) allocationGone() bool {
	_, err := os.Stat(RecipientDir(l.room.spec.AllocDir, l.spec().AllocID))
	return errors.Is(err, fs.ErrNotExist)
}

// look sees to it that the transfer is out where the recipient runs now.
func (l *holder) look() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	group, err := l.tree().TaskGroup(l.spec().AllocID, l.spec().Task)
	if err != nil {
		return err
	}
	// A driver that keeps its processes elsewhere would get nothing of the transfer.
	pids, err := group.Pids()
	if err != nil || len(pids) == 0 {
		return errors.Join(errAway, err)
	}
	if err := l.checkNamespace(pids); err != nil {
		return err
	}
	now, err := read(group)
	if err != nil {
		return err
	}
	if l.transfer != nil && uint64(now.id) == l.transfer.GroupID {
		return l.keep(group, now)
	}
	// Nomad writes its numbers as a task starts: they count once they do not change any more.
	if now != l.seen {
		l.seen = now
		return errNotYet
	}
	return l.give(group, now)
}

// checkNamespace keeps a transfer that nobody has signed in its own namespace, by what Nomad
// wrote into the environment of the recipient. A recipient could write another one there, and
// would get what others reserve for it, which is its own affair. The caller holds the lock.
func (l *holder) checkNamespace(pids []int) error {
	s := l.spec()
	if s.Namespace == "" {
		return nil
	}
	for _, pid := range pids {
		switch env := l.room.procs.environ(pid); {
		case env["NOMAD_ALLOC_ID"] != s.AllocID || env["NOMAD_NAMESPACE"] == "":
		case env["NOMAD_NAMESPACE"] != s.Namespace:
			return errOtherNamespace
		default:
			return nil
		}
	}
	if !l.told {
		l.told = true // a process that is just being started says it in a moment
		l.say("nothing is transferred: %v", errNamespaceUnknown)
	}
	return errNamespaceUnknown
}

func read(g cgroup.Group) (reading, error) {
	id, err := g.ID()
	if err != nil {
		return reading{}, err
	}
	share, err := g.CPUShare()
	if err != nil {
		return reading{}, err
	}
	memory, limited, err := g.MemoryLimit()
	return reading{int64(id), share, memory, limited}, err
}

// give makes the transfer: the record first, so that it never says less than what is
// out. The caller holds the lock.
func (l *holder) give(group cgroup.Group, now reading) error {
	unlock, err := l.room.claims.lockNode()
	if err != nil {
		return err
	}
	defer unlock()
	left, err := l.leftOver()
	if err != nil {
		return err
	}
	// Another transfer may have ended since the look.
	if again, err := read(group); err != nil || again != now {
		return errors.Join(errNotYet, err)
	}
	own := now
	for _, transfer := range left {
		own = own.without(transfer)
	}
	s := l.spec()
	transfer := Transfer{AllocID: s.AllocID, Task: s.Task, Group: group.Path(), GroupID: uint64(now.id), Slice: s.Slice}
	if s.RecipientMHz > 0 && s.MHz > 0 {
		transfer.CPUShare = &Change{own.share, raised(own.share, s, l.tree().MaxCPUShare())}
	}
	if now.limited && s.MemoryBytes > 0 {
		// Never less than what is in use of an earlier transfer.
		transfer.MemoryBytes = &Change{own.memory, max(now.memory, own.memory+s.MemoryBytes)}
	}
	if transfer.CPUShare == nil && transfer.MemoryBytes == nil {
		return errNothingToTransfer
	}
	if err := writeJSON(l.record(), transfer); err != nil {
		return fmt.Errorf("record of the reservation transfer: %w", err)
	}
	delete(left, l.record()) // it was written over
	for file := range left {
		if err := removeRecord(file); err != nil {
			return err
		}
	}
	l.transfer, l.strange = &transfer, map[string]bool{}
	if c := transfer.CPUShare; c != nil {
		if err := group.SetCPUShare(c.Is); err != nil {
			return err
		}
	}
	if c := transfer.MemoryBytes; c != nil {
		if err := group.RaiseMemoryLimit(c.Is); err != nil {
			return err
		}
	}
	l.shorten(group)
	l.say("%s", transfer)
	return nil
}

// shorten gives the recipient's threads their slice, those of new processes, too. A
// recipient is well served by the rest of the transfer where that cannot be.
func (l *holder) shorten(group cgroup.Group) {
	if l.transfer.Slice == 0 {
		return
	}
	if err := group.SetSlices(l.transfer.Slice, 0); err != nil && !l.strange["slice"] {
		l.strange["slice"] = true
		l.say("its time slices stay as they are: %v", err)
	}
}

// raised is the CPU share of the recipient with what is transferred: as much more as the
// sum is of what it holds itself.
func raised(share int64, s TransferSpec, most int64) int64 {
	return min(most, int64(math.Round(float64(share)*float64(s.RecipientMHz+s.MHz)/float64(s.RecipientMHz))))
}

// leftOver are the records of transfers to the recipient that ended without being given
// back in whole, by file: the next transfer takes them over. One that has not ended is
// waited for: its numbers would be taken for Nomad's.
func (l *holder) leftOver() (map[string]Transfer, error) {
	records, err := filepath.Glob(filepath.Join(filepath.Dir(l.room.dir), "*", TransferFile))
	if err != nil {
		return nil, fmt.Errorf("reservation transfers: %w", err)
	}
	left := map[string]Transfer{}
	for _, file := range records {
		transfer, err := readTransfer(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case transfer.AllocID != l.spec().AllocID || transfer.Task != l.spec().Task:
		case file == l.record():
			left[file] = transfer // of an earlier start of this task
		case childLives(filepath.Dir(file)):
			return nil, errTransferredAlready
		default:
			left[file] = transfer
		}
	}
	return left, nil
}

// without is the reading less what a transfer added to the group.
func (r reading) without(transfer Transfer) reading {
	if uint64(r.id) != transfer.GroupID {
		return r
	}
	if c := transfer.CPUShare; c != nil && r.share == c.Is {
		r.share = c.Was
	}
	if c := transfer.MemoryBytes; c != nil && r.memory == c.Is {
		r.memory = c.Was
	}
	return r
}

// keep looks whether what was transferred is still there. Where Nomad has written the
// original again the transfer is made again; a number that another program has set stays
// theirs. The caller holds the lock.
func (l *holder) keep(group cgroup.Group, now reading) error {
	l.shorten(group)
	if c := l.transfer.CPUShare; c != nil && l.lost("CPU share", now.share, *c) {
		if err := group.SetCPUShare(c.Is); err != nil {
			return err
		}
	}
	if c := l.transfer.MemoryBytes; c != nil && l.lost("memory limit", now.memory, *c) {
		return group.RaiseMemoryLimit(c.Is)
	}
	return nil
}

// lost reports whether a number is back at its original.
func (l *holder) lost(name string, now int64, c Change) bool {
	if now != c.Is && now != c.Was && !l.strange[name] {
		l.strange[name] = true
		l.say("the %s was changed to %d by another program, so it stays as it is", name, now)
	}
	return now == c.Was && c.Was != c.Is && !l.strange[name]
}

// handle answers commands: a transfer may be looked at, not changed.
func (l *holder) handle(_ context.Context, q Request) Response {
	if q.Command != CommandStats {
		return Response{Error: fmt.Sprintf("a reservation transfer is fixed: %q is not possible; possible: %s", q.Command, CommandStats)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.transfer == nil {
		return Response{Error: "nothing is transferred: the task still waits for its recipient, or is ending"}
	}
	transfer := *l.transfer
	return Response{Transfer: &transfer}
}

func readTransfer(file string) (Transfer, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Transfer{}, fmt.Errorf("record of a reservation transfer: %w", err)
	}
	var transfer Transfer
	if err := json.Unmarshal(data, &transfer); err != nil {
		return Transfer{}, fmt.Errorf("record of a reservation transfer: %s: %w", file, err)
	}
	return transfer, nil
}

// Return puts back what the record of a transfer says and removes the record. What
// another program has changed since stays, and so does memory that is in use: that is
// an error, and the record stays. The driver calls it, too, when a child has ended,
// however that came about.
func Return(tree cgroup.Tree, record string) error {
	transfer, err := readTransfer(record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	group := tree.Open(transfer.Group)
	now, err := read(group)
	if err == nil && uint64(now.id) == transfer.GroupID {
		var errs []error
		if c := transfer.CPUShare; c != nil && now.share == c.Is {
			errs = append(errs, group.SetCPUShare(c.Was))
		}
		if c := transfer.MemoryBytes; c != nil && now.memory == c.Is {
			errs = append(errs, group.LowerMemoryLimit(c.Was))
		}
		if transfer.Slice > 0 {
			errs = append(errs, group.SetSlices(0, transfer.Slice))
		}
		err = errors.Join(errs...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take back what was transferred to task %q of allocation %s: %w", transfer.Task, transfer.AllocID, err)
	}
	return removeRecord(record)
}

func removeRecord(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record of a reservation transfer: %w", err)
	}
	return nil
}

// ReturnLeft tries again to put back what tasks that have ended had transferred and could
// not put back in whole.
func ReturnLeft(tree cgroup.Tree, runtimeDir string) error {
	records, err := filepath.Glob(filepath.Join(runtimeDir, "*", TransferFile))
	errs := []error{err}
	for _, file := range records {
		dir := filepath.Dir(file)
		if childLives(dir) {
			continue
		}
		err := Return(tree, file)
		if err == nil {
			_ = os.Remove(dir) // succeeds where nothing else was left
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// RemoveDir removes the runtime directory of a task that has ended, except for the
// record of what could not be given back yet.
func RemoveDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	owing := false
	for _, e := range entries {
		if e.Name() == TransferFile {
			owing = true
			continue
		}
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if !owing {
		errs = append(errs, os.Remove(dir))
	}
	return errors.Join(errs...)
}
