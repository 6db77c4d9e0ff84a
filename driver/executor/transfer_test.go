package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// recipient is a machine of plain files with one running task, "web" of
// allocation "a1": a CPU share of 500 (v1) or 20 (v2), and 64 MiB.
type recipient struct {
	t       *testing.T
	root    string
	version cgroup.Version
	tree    cgroup.Tree
	allocs  string
	runtime string
}

const transferredMiB = 64

func newRecipient(t *testing.T, v cgroup.Version) *recipient {
	t.Helper()
	b := &recipient{t: t, root: t.TempDir(), version: v, allocs: t.TempDir(), runtime: t.TempDir()}
	text := "1 1 0:1 / " + b.root + " rw - cgroup2 cgroup2 rw\n"
	if v == cgroup.V1 {
		text = ""
		for _, c := range []string{"cpuset", "cpu", "memory", "freezer"} {
			text += fmt.Sprintf("1 1 0:1 / %s/%s rw - cgroup cgroup rw,%s\n", b.root, c, c)
		}
	}
	mountinfo := filepath.Join(t.TempDir(), "mountinfo")
	b.write(mountinfo, text)
	var err error
	if b.tree, err = cgroup.Detect(mountinfo); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(b.allocs, "a1"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.startTask()
	return b
}

func (b *recipient) write(file, text string) {
	b.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *recipient) file(controller, v1, v2 string) string {
	if b.version == cgroup.V1 {
		return filepath.Join(b.root, controller, "nomad/a1.web", v1)
	}
	return filepath.Join(b.root, "nomad.slice/share.slice/a1.web.scope", v2)
}

func (b *recipient) share() string  { return b.file("cpu", "cpu.shares", "cpu.weight") }
func (b *recipient) memory() string { return b.file("memory", "memory.limit_in_bytes", "memory.max") }

// startTask makes the group of the task, in place of the one that may be there.
func (b *recipient) startTask() {
	b.t.Helper()
	old := b.t.TempDir() // kept, so that no inode number is used again
	for i, dir := range []string{filepath.Dir(b.share()), filepath.Dir(b.memory()), filepath.Dir(b.file("freezer", "x", "x"))} {
		if err := os.Rename(dir, filepath.Join(old, strconv.Itoa(i))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Fatal(err)
		}
	}
	b.write(b.file("freezer", "cgroup.procs", "cgroup.procs"), "4711\n")
	b.write(b.share(), map[cgroup.Version]string{cgroup.V1: "500\n", cgroup.V2: "20\n"}[b.version])
	b.write(b.memory(), strconv.Itoa(transferredMiB<<20)+"\n")
	if b.version == cgroup.V2 {
		b.write(b.file("", "", "memory.high"), "max\n")
		b.write(b.file("", "", "memory.current"), strconv.Itoa(10<<20)+"\n")
	}
}

func (b *recipient) endTask() {
	b.t.Helper()
	for _, dir := range []string{filepath.Dir(b.share()), filepath.Dir(b.memory()), filepath.Dir(b.file("freezer", "x", "x"))} {
		if err := os.RemoveAll(dir); err != nil {
			b.t.Fatal(err)
		}
	}
}

// shows is the task's share and its limit in MiB.
func (b *recipient) shows() string {
	b.t.Helper()
	share, err := os.ReadFile(b.share())
	if err != nil {
		b.t.Fatal(err)
	}
	memory, err := os.ReadFile(b.memory())
	if err != nil {
		b.t.Fatal(err)
	}
	bytes, err := strconv.Atoi(strings.TrimSpace(string(memory)))
	if err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprintf("%s %d", strings.TrimSpace(string(share)), bytes>>20)
}

// holder transfers 250 MHz to the task, which holds 500, and 16 MiB.
func (b *recipient) holder(name string) *holder {
	b.t.Helper()
	dir := filepath.Join(b.runtime, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	j := newJournal(io.Discard, time.Now)
	return &holder{journal: j, patience: 30 * time.Second, poll: time.Second, room: &room{
		dir: dir, tree: &b.tree, now: time.Now, journal: j, claims: open(b.t, dir),
		spec: Spec{AllocDir: filepath.Join(b.allocs, name), Transfer: &TransferSpec{
			AllocID: "a1", Task: "web", RecipientMHz: 500, MHz: 250, MemoryBytes: 16 << 20,
		}},
	}}
}

// onBoth runs a test on a machine of each version, in a bubble of time.
func onBoth(t *testing.T, test func(t *testing.T, b *recipient)) {
	t.Helper()
	for _, v := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, newRecipient(t, v)) })
		})
	}
}

// given is what the task shows while the transfer is out, usual without one.
// twoLooks lets a holder look twice: one look may not be enough for all of a transfer.
func (b *recipient) twoLooks(l *holder) {
	b.t.Helper()
	for range 2 {
		if err := l.look(); err != nil && !errors.Is(err, errNotYet) {
			b.t.Fatal(err)
		}
	}
}

func (b *recipient) given() string {
	return map[cgroup.Version]string{cgroup.V1: "750 80", cgroup.V2: "30 80"}[b.version]
}

func (b *recipient) usual() string {
	return map[cgroup.Version]string{cgroup.V1: "500 64", cgroup.V2: "20 64"}[b.version]
}

func (b *recipient) expect(want, when string) {
	b.t.Helper()
	if got := b.shows(); got != want {
		b.t.Errorf("%s: share and MiB %q, want %q", when, got, want)
	}
}

// run transfers in the background; end stops it and returns why it ended. Half a look
// later the test goes on, so that it and the holder never act at one time.
func (l *holder) run(t *testing.T) (end func() error) {
	defer time.Sleep(l.poll / 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.runTransfer(ctx) }()
	return func() error {
		cancel(errStopped)
		return <-done
	}
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		l := b.holder("one")
		end := l.run(t)
		time.Sleep(3 * time.Second)
		b.expect(b.given(), "lent")
		if r := l.handle(t.Context(), Request{Command: CommandStats}); r.Transfer == nil || !strings.Contains(r.Transfer.String(), "memory limit 64 → 80 MiB") {
			t.Errorf("stats: %+v", r)
		}
		if r := l.handle(t.Context(), Request{Command: CommandSet}); r.Error == "" {
			t.Error("a transfer was set")
		}
		// The task starts again: a new group, or the same one with Nomad's numbers.
		b.startTask()
		time.Sleep(3 * time.Second)
		b.expect(b.given(), "after a restart")
		b.write(b.memory(), strconv.Itoa(transferredMiB<<20))
		time.Sleep(2 * time.Second)
		b.expect(b.given(), "after a restart in the same group")
		if err := end(); !errors.Is(err, errStopped) {
			t.Errorf("ended: %v", err)
		}
		b.expect(b.usual(), "given back")
		if _, err := os.Stat(l.record()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("record left: %v", err)
		}
	})
}

// A child that is killed leaves its record: the driver gives back by it.
func TestReturnAfterAKill(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		l := b.holder("one")
		b.twoLooks(l)
		b.expect(b.given(), "lent")
		for range 2 { // a second time is nothing
			if err := Return(b.tree, l.record()); err != nil {
				t.Fatal(err)
			}
			b.expect(b.usual(), "given back")
		}
	})
}

// What another program has set meanwhile is theirs.
func TestTransferLeavesOtherTasksUntouched(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		end := b.holder("one").run(t)
		time.Sleep(3 * time.Second)
		b.write(b.share(), "77")
		time.Sleep(3 * time.Second)
		b.expect("77 80", "changed by somebody else")
		if err := end(); !errors.Is(err, errStopped) {
			t.Errorf("ended: %v", err)
		}
		b.expect("77 64", "given back")
	})
}

// One transfer at a time: the second waits for the first, and then starts from what
// Nomad has written.
func TestSecondTransferWaits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		endFirst := b.holder("one").run(t)
		time.Sleep(3 * time.Second)
		endSecond := b.holder("two").run(t)
		time.Sleep(3 * time.Second)
		b.expect(b.given(), "while the first is out")
		if err := endFirst(); !errors.Is(err, errStopped) {
			t.Errorf("the first ended: %v", err)
		}
		time.Sleep(3 * time.Second)
		b.expect(b.given(), "the second")
		if err := endSecond(); !errors.Is(err, errStopped) {
			t.Errorf("the second ended: %v", err)
		}
		b.expect(b.usual(), "given back")
	})
}

// A transfer ends with the recipient's allocation, in good order; one that never finds
// its recipient, or may not transfer to it, fails and says why.
func TestTransferEnds(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		for name, end := range map[string]func(){
			"task gone": b.endTask,
			"allocation gone": func() {
				if err := os.RemoveAll(filepath.Join(b.allocs, "a1")); err != nil {
					t.Fatal(err)
				}
			},
		} {
			b.startTask()
			b.write(filepath.Join(b.allocs, "a1", "x"), "")
			done := make(chan error, 1)
			l := b.holder(strings.ReplaceAll(name, " ", "-"))
			go func() { done <- l.runTransfer(t.Context()) }()
			time.Sleep(3500 * time.Millisecond)
			b.expect(b.given(), name)
			end()
			if exit := exitOf(<-done); exit.Code != CodeComplete || exit.Reason != "the allocation has ended" {
				t.Errorf("%s: ended with %+v", name, exit)
			}
		}
		b.write(filepath.Join(b.allocs, "a1", "x"), "")
		b.endTask()
		if exit := exitOf(b.holder("nobody").runTransfer(t.Context())); exit.Code != CodeFailed || !strings.Contains(exit.Reason, `waited 30s for task "web" of allocation a1`) {
			t.Errorf("without a task: %+v", exit)
		}
		b.startTask()
		b.write(b.file("freezer", "cgroup.procs", "cgroup.procs"), "")
		if exit := exitOf(b.holder("elsewhere").runTransfer(t.Context())); exit.Code != CodeFailed || !strings.Contains(exit.Reason, errAway.Error()) {
			t.Errorf("a driver with groups of its own: %+v", exit)
		}
		b.startTask()
		nothing := b.holder("nothing")
		nothing.room.spec.Transfer = &TransferSpec{AllocID: "a1", Task: "web", MHz: 250}
		if exit := exitOf(nothing.runTransfer(t.Context())); exit.Code != CodeFailed || !strings.Contains(exit.Reason, "nothing to transfer") {
			t.Errorf("nothing: %+v", exit)
		}
		b.expect(b.usual(), "after refusals")
		reserved := map[cgroup.Version]string{cgroup.V1: "cpuset/nomad/reserve/a1.web/x", cgroup.V2: "nomad.slice/reserve.slice/a1.web.scope/x"}
		b.write(filepath.Join(b.root, reserved[b.version]), "")
		if exit := exitOf(b.holder("reserved").runTransfer(t.Context())); exit.Code != CodeFailed || !strings.Contains(exit.Reason, "reserved cores") {
			t.Errorf("reserved cores: %+v", exit)
		}
	})
}

// Memory in use is not taken away: that would end a process of the recipient.
func TestReturnLeavesMemoryInUse(t *testing.T) {
	t.Parallel()
	b := newRecipient(t, cgroup.V2)
	l := b.holder("one")
	b.twoLooks(l)
	b.write(b.file("", "", "memory.current"), strconv.Itoa(70<<20))
	if err := Return(b.tree, l.record()); !errors.Is(err, cgroup.ErrMemoryInUse) {
		t.Errorf("memory in use: %v", err)
	}
	b.expect("20 80", "while the memory is in use")
	b.write(b.file("", "", "memory.current"), strconv.Itoa(50<<20))
	if err := Return(b.tree, l.record()); err != nil {
		t.Fatal(err)
	}
	b.expect(b.usual(), "given back")
}

// endInUse ends a holder whose recipient uses its memory: nothing can be given back.
func (b *recipient) endInUse(l *holder, usedMiB int) {
	b.t.Helper()
	b.write(b.file("", "", "memory.current"), strconv.Itoa(usedMiB<<20))
	if err := Return(b.tree, l.record()); !errors.Is(err, cgroup.ErrMemoryInUse) {
		b.t.Errorf("memory in use: %v", err)
	}
	if err := errors.Join(l.room.claims.close(), RemoveDir(l.room.dir)); err != nil {
		b.t.Fatal(err)
	}
}

// The next transfer takes over what is in use of the one before, and gives back all of it.
func TestTransferTakesOverMemoryInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRecipient(t, cgroup.V2)
		one, two := b.holder("one"), b.holder("two")
		end := one.run(t)
		time.Sleep(3 * time.Second)
		b.write(b.file("", "", "memory.current"), strconv.Itoa(70<<20))
		if err := end(); !errors.Is(err, cgroup.ErrMemoryInUse) {
			t.Errorf("ended: %v", err)
		}
		b.endInUse(one, 70)
		b.expect("20 80", "while the memory is in use")
		two.room.spec.Transfer.MemoryBytes = 32 << 20
		end = two.run(t)
		time.Sleep(3 * time.Second)
		b.expect("30 96", "the next transfer")
		if _, err := os.Stat(one.record()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("record left: %v", err)
		}
		b.write(b.file("", "", "memory.current"), strconv.Itoa(50<<20))
		if err := end(); !errors.Is(err, errStopped) {
			t.Errorf("ended: %v", err)
		}
		b.expect(b.usual(), "given back")
	})
}

// A task that starts again takes over what its earlier start could not give back.
func TestTransferTakesOverItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRecipient(t, cgroup.V2)
		l := b.holder("one")
		l.run(t)
		time.Sleep(3 * time.Second)
		again := &holder{journal: l.journal, room: l.room, patience: l.patience, poll: l.poll}
		b.twoLooks(again)
		b.expect(b.given(), "the second start")
		if err := Return(b.tree, l.record()); err != nil {
			t.Fatal(err)
		}
		b.expect(b.usual(), "given back")
	})
}

// What could not be given back is as soon as it is free, but not while a task transfers.
func TestReturnLeft(t *testing.T) {
	t.Parallel()
	b := newRecipient(t, cgroup.V2)
	l := b.holder("one")
	b.twoLooks(l)
	if err := ReturnLeft(b.tree, b.runtime); err != nil {
		t.Fatal(err)
	}
	b.expect(b.given(), "while the task lends")
	b.endInUse(l, 70)
	if err := ReturnLeft(b.tree, b.runtime); !errors.Is(err, cgroup.ErrMemoryInUse) {
		t.Errorf("memory in use: %v", err)
	}
	b.write(b.file("", "", "memory.current"), strconv.Itoa(50<<20))
	if err := ReturnLeft(b.tree, b.runtime); err != nil {
		t.Fatal(err)
	}
	b.expect(b.usual(), "given back")
	if _, err := os.Stat(l.room.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory left: %v", err)
	}
}

// A transfer that nobody has signed stays in the namespace of its own job.
func TestAnUnsignedTransferStaysInItsNamespace(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b *recipient) {
		for namespace, want := range map[string]error{"mine": nil, "theirs": errOtherNamespace, "": errNamespaceUnknown} {
			env := []string{"NOMAD_ALLOC_ID=a1"}
			if namespace != "" {
				env = append(env, "NOMAD_NAMESPACE="+namespace)
			}
			l := b.holder("to " + namespace)
			l.room.procs = fakeProc(t, fakeProcess{pid: 4711, parent: 1, start: 60, env: env})
			l.room.spec.Transfer.Namespace = "mine"
			before := b.shows()
			err := l.look()
			if errors.Is(err, errNotYet) {
				err = l.look()
			}
			if !errors.Is(err, want) || want != nil && b.shows() != before {
				t.Errorf("to a task of namespace %q: %v, and it has %s", namespace, err, b.shows())
			}
			if err := Return(b.tree, l.record()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
