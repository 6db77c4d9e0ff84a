package lab

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

// LendSpec is a loan: what the task itself holds in Nomad's books is added to
// what another task on this node may take.
type LendSpec struct {
	AllocID string `json:"alloc_id"` // that borrows
	Task    string `json:"task"`
	// BorrowerMHz is what the borrower holds itself; the CPU share grows in
	// proportion. 0 lends no CPU.
	BorrowerMHz int64 `json:"borrower_mhz,omitempty"`
	MHz         int64 `json:"mhz,omitempty"` // lent
	// Slice is the length of a turn of the borrower's threads on a CPU that it shares;
	// 0 leaves it.
	Slice       time.Duration `json:"slice_ns,omitempty"`
	MemoryBytes int64         `json:"memory_bytes,omitempty"`
}

// Loan is the content of LentFile: what to put back, and where.
type Loan struct {
	AllocID     string  `json:"alloc_id"`
	Task        string  `json:"task"`
	Group       string  `json:"group"`
	GroupID     uint64  `json:"group_id"`
	CPUShare    *Change `json:"cpu_share,omitempty"` // cpu.shares on v1, cpu.weight on v2
	MemoryBytes *Change `json:"memory_bytes,omitempty"`
	// Slice is the time slice that its threads were given, of the kernel's own.
	Slice time.Duration `json:"slice_ns,omitempty"`
}

// Change is a number of a control group before and while it is lent.
type Change struct {
	Was int64 `json:"was"`
	Is  int64 `json:"is"`
}

// String describes the loan for people, and for the placer.
func (l Loan) String() string {
	return fmt.Sprintf("%stask %q of allocation %s: %s", profiler.LentMessage, l.Task, l.AllocID, l.terms())
}

func (l Loan) terms() string {
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
	errBorrowerGone = errors.New("the allocation has ended")
	errAway         = errors.New("the task has no process in its control group")
	errNotYet       = errors.New("the task's control group is not settled yet")
	errLentAlready  = errors.New("another loan to the task has not ended")
	errNothingLent  = errors.New("there is nothing to lend: cpu_mhz is not given, and the borrower has no memory limit")
)

// lendPatience is how long a borrower may be away before its allocation counts as
// ended: longer than Nomad's usual pause before it restarts a task.
const lendPatience = 60 * time.Second

// lender is lend mode: it holds a loan until it is stopped.
type lender struct {
	*journal
	room     *room
	patience time.Duration
	poll     time.Duration

	mu      sync.Mutex
	loan    *Loan           // while it is out
	seen    reading         // at the last look, before the loan
	strange map[string]bool // of the loan: what somebody else has changed
}

// reading is what a group shows.
type reading struct {
	id, share, memory int64
	limited           bool
}

// runLend holds the loan until ctx ends or the borrower's allocation has, and puts
// everything back.
func (l *lender) runLend(ctx context.Context) error {
	cause := l.hold(ctx)
	if err := Return(l.tree(), l.record()); err != nil {
		return fmt.Errorf("%w (ended because: %s)", err, cause.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loan != nil && !errors.Is(cause, errBorrowerGone) {
		l.say("gave back what task %q of allocation %s had borrowed: %s", l.loan.Task, l.loan.AllocID, l.loan.terms())
	}
	l.loan = nil
	return cause
}

func (l *lender) tree() cgroup.Tree {
	if l.room.tree == nil {
		return cgroup.Tree{}
	}
	return *l.room.tree
}

func (l *lender) record() string { return filepath.Join(l.room.dir, LentFile) }

// hold looks after the loan until there is a reason not to.
func (l *lender) hold(ctx context.Context) error {
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
			return errBorrowerGone
		}
	}
}

// passing errors are those that another look may not meet.
func passing(err error) bool {
	for _, e := range []error{cgroup.ErrNoTaskGroup, errAway, errNotYet, errLentAlready, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// gaveUp is the end of a wait that was too long. A borrower that was there has
// ended; one that never was is a mistake.
func (l *lender) gaveUp(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loan != nil {
		return errBorrowerGone
	}
	return fmt.Errorf("waited %s for task %q of allocation %s: %w", l.patience, l.spec().Task, l.spec().AllocID, err)
}

func (l *lender) spec() LendSpec { return *l.room.spec.Lend }

// BorrowerDir is the directory of the borrower's allocation: Nomad keeps those of
// a node side by side.
func BorrowerDir(allocDir, borrower string) string {
	return filepath.Join(filepath.Dir(allocDir), borrower)
}

func (l *lender) allocationGone() bool {
	_, err := os.Stat(BorrowerDir(l.room.spec.AllocDir, l.spec().AllocID))
	return errors.Is(err, fs.ErrNotExist)
}

// look sees to it that the loan is out where the borrower runs now.
func (l *lender) look() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	group, err := l.tree().TaskGroup(l.spec().AllocID, l.spec().Task)
	if err != nil {
		return err
	}
	// A driver that keeps its processes elsewhere would get nothing of the loan.
	if pids, err := group.Pids(); err != nil || len(pids) == 0 {
		return errors.Join(errAway, err)
	}
	now, err := read(group)
	if err != nil {
		return err
	}
	if l.loan != nil && uint64(now.id) == l.loan.GroupID {
		return l.keep(group, now)
	}
	// Nomad writes its numbers as a task starts: they count once they stand still.
	if now != l.seen {
		l.seen = now
		return errNotYet
	}
	return l.lend(group, now)
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

// lend makes the loan: the record first, so that it never says less than what is
// out. The caller holds the lock.
func (l *lender) lend(group cgroup.Group, now reading) error {
	unlock, err := l.room.claims.lockNode()
	if err != nil {
		return err
	}
	defer unlock()
	left, err := l.leftOver()
	if err != nil {
		return err
	}
	// Another loan may have ended since the look.
	if again, err := read(group); err != nil || again != now {
		return errors.Join(errNotYet, err)
	}
	own := now
	for _, loan := range left {
		own = own.without(loan)
	}
	s := l.spec()
	loan := Loan{AllocID: s.AllocID, Task: s.Task, Group: group.Path(), GroupID: uint64(now.id), Slice: s.Slice}
	if s.BorrowerMHz > 0 && s.MHz > 0 {
		loan.CPUShare = &Change{own.share, raised(own.share, s, l.tree().MaxCPUShare())}
	}
	if now.limited && s.MemoryBytes > 0 {
		// Never less than what is in use of an earlier loan.
		loan.MemoryBytes = &Change{own.memory, max(now.memory, own.memory+s.MemoryBytes)}
	}
	if loan.CPUShare == nil && loan.MemoryBytes == nil {
		return errNothingLent
	}
	if err := writeJSON(l.record(), loan); err != nil {
		return fmt.Errorf("record of the loan: %w", err)
	}
	delete(left, l.record()) // it was written over
	for file := range left {
		if err := removeRecord(file); err != nil {
			return err
		}
	}
	l.loan, l.strange = &loan, map[string]bool{}
	if c := loan.CPUShare; c != nil {
		if err := group.SetCPUShare(c.Is); err != nil {
			return err
		}
	}
	if c := loan.MemoryBytes; c != nil {
		if err := group.RaiseMemoryLimit(c.Is); err != nil {
			return err
		}
	}
	l.shorten(group)
	l.say("%s", loan)
	return nil
}

// shorten gives the borrower's threads their slice, those of new processes, too. A
// borrower is well served by the rest of the loan where that cannot be.
func (l *lender) shorten(group cgroup.Group) {
	if l.loan.Slice == 0 {
		return
	}
	if err := group.SetSlices(l.loan.Slice, 0); err != nil && !l.strange["slice"] {
		l.strange["slice"] = true
		l.say("its time slices stay as they are: %v", err)
	}
}

// raised is the CPU share of the borrower with what is lent: as much more as the
// sum is of what it holds itself.
func raised(share int64, s LendSpec, most int64) int64 {
	return min(most, int64(math.Round(float64(share)*float64(s.BorrowerMHz+s.MHz)/float64(s.BorrowerMHz))))
}

// leftOver are the records of loans to the borrower that ended without being given
// back in whole, by file: the next loan takes them over. One that has not ended is
// waited for: its numbers would be taken for Nomad's.
func (l *lender) leftOver() (map[string]Loan, error) {
	records, err := filepath.Glob(filepath.Join(filepath.Dir(l.room.dir), "*", LentFile))
	if err != nil {
		return nil, fmt.Errorf("loans: %w", err)
	}
	left := map[string]Loan{}
	for _, file := range records {
		loan, err := readLoan(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case loan.AllocID != l.spec().AllocID || loan.Task != l.spec().Task:
		case file == l.record():
			left[file] = loan // of an earlier start of this task
		case childLives(filepath.Dir(file)):
			return nil, errLentAlready
		default:
			left[file] = loan
		}
	}
	return left, nil
}

// without is the reading less what a loan added to the group.
func (r reading) without(loan Loan) reading {
	if uint64(r.id) != loan.GroupID {
		return r
	}
	if c := loan.CPUShare; c != nil && r.share == c.Is {
		r.share = c.Was
	}
	if c := loan.MemoryBytes; c != nil && r.memory == c.Is {
		r.memory = c.Was
	}
	return r
}

// keep looks whether what was lent is still there. Where Nomad has written the
// original again the loan is made again; a number that somebody else has set stays
// theirs. The caller holds the lock.
func (l *lender) keep(group cgroup.Group, now reading) error {
	l.shorten(group)
	if c := l.loan.CPUShare; c != nil && l.lost("CPU share", now.share, *c) {
		if err := group.SetCPUShare(c.Is); err != nil {
			return err
		}
	}
	if c := l.loan.MemoryBytes; c != nil && l.lost("memory limit", now.memory, *c) {
		return group.RaiseMemoryLimit(c.Is)
	}
	return nil
}

// lost reports whether a number is back at its original.
func (l *lender) lost(name string, now int64, c Change) bool {
	if now != c.Is && now != c.Was && !l.strange[name] {
		l.strange[name] = true
		l.say("the %s was changed to %d by somebody else and is left alone", name, now)
	}
	return now == c.Was && c.Was != c.Is && !l.strange[name]
}

// handle answers commands: a loan may be looked at, not changed.
func (l *lender) handle(_ context.Context, q Request) Response {
	if q.Command != CommandStats {
		return Response{Error: fmt.Sprintf("a loan is what the task holds: %q is not possible; possible: %s", q.Command, CommandStats)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loan == nil {
		return Response{Error: "nothing is lent: the task still waits for its borrower, or is ending"}
	}
	loan := *l.loan
	return Response{Loan: &loan}
}

func readLoan(file string) (Loan, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Loan{}, fmt.Errorf("record of a loan: %w", err)
	}
	var loan Loan
	if err := json.Unmarshal(data, &loan); err != nil {
		return Loan{}, fmt.Errorf("record of a loan: %s: %w", file, err)
	}
	return loan, nil
}

// Return puts back what the record of a loan says and removes the record. What
// somebody else has changed since stays, and so does memory that is in use: that is
// an error, and the record stays. The driver calls it, too, when a child has ended,
// however that came about.
func Return(tree cgroup.Tree, record string) error {
	loan, err := readLoan(record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	group := tree.Open(loan.Group)
	now, err := read(group)
	if err == nil && uint64(now.id) == loan.GroupID {
		var errs []error
		if c := loan.CPUShare; c != nil && now.share == c.Is {
			errs = append(errs, group.SetCPUShare(c.Was))
		}
		if c := loan.MemoryBytes; c != nil && now.memory == c.Is {
			errs = append(errs, group.LowerMemoryLimit(c.Was))
		}
		if loan.Slice > 0 {
			errs = append(errs, group.SetSlices(0, loan.Slice))
		}
		err = errors.Join(errs...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("give back what was lent to task %q of allocation %s: %w", loan.Task, loan.AllocID, err)
	}
	return removeRecord(record)
}

func removeRecord(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record of a loan: %w", err)
	}
	return nil
}

// ReturnLeft tries again to put back what tasks that have ended had lent and could
// not put back in whole.
func ReturnLeft(tree cgroup.Tree, runtimeDir string) error {
	records, err := filepath.Glob(filepath.Join(runtimeDir, "*", LentFile))
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
		if e.Name() == LentFile {
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
