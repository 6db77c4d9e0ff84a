package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// Namespaces entered for a command. User namespaces cannot be joined by a
// program with threads, and root does not need to.
var namespaces = []struct {
	name string
	flag int
}{
	{"ipc", unix.CLONE_NEWIPC},
	{"uts", unix.CLONE_NEWUTS},
	{"net", unix.CLONE_NEWNET},
	{"pid", unix.CLONE_NEWPID},
	{"mnt", unix.CLONE_NEWNS},
}

// maxOutput bounds what a command may print (chosen by us: a probe prints one
// number).
const maxOutput = 1 << 20

// execAs runs argv as a process would start it: in its namespaces, control groups, root
// and working directory, with its user, groups, rights and environment.
func execAs(ctx context.Context, procs Proc, pid int, env, argv []string) ([]byte, error) {
	if len(argv) == 0 {
		return nil, errors.New("exec: no command")
	}
	cred, err := procs.credential(pid)
	if err != nil {
		return nil, err
	}
	rights, err := procs.rights(pid, cred.Uid)
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	stdin, err := os.Open(os.DevNull) // the target's root may have none
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	defer stdin.Close()
	stdout, stderr := &bounded{limit: maxOutput}, &bounded{limit: 4096}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred, AmbientCaps: rights.ambientList(), Setpgid: true}
	cmd.Cancel = func() error { return sendSignal(-cmd.Process.Pid, unix.SIGKILL) }
	if err := startInside(procs, pid, rights, cmd, env); err != nil {
		return nil, fmt.Errorf("exec %q: %w", argv[0], err)
	}
	if err := cmd.Wait(); err != nil {
		return stdout.Bytes(), fmt.Errorf("exec %q: %w: %s", argv[0], err, strings.TrimSpace(stderr.String()))
	}
	if stdout.cut {
		return nil, fmt.Errorf("exec %q: printed more than %d bytes", argv[0], maxOutput)
	}
	return stdout.Bytes(), nil
}

// startInside starts cmd from a thread that has become the target: it has its control
// groups, namespaces, root, working directory and rights.
func startInside(procs Proc, pid int, rights rights, cmd *exec.Cmd, env []string) error {
	groups, err := cgroup.MembershipOf(procs.file(os.Getpid(), "mountinfo"), filepath.Dir(procs.file(pid, "cgroup")))
	if err != nil {
		return err
	}
	unified, err := groups.OpenUnified()
	if err != nil {
		return err
	}
	if unified != nil {
		defer unified.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(unified.Fd())
	}
	onDiscardedThread(func() {
		// The files of the groups are not in the target's root.
		if err = groups.JoinThread(); err != nil {
			return
		}
		if err = enter(procs, pid); err != nil {
			return
		}
		if err = resolve(cmd, env); err != nil {
			return
		}
		if err = rights.takeOver(); err != nil {
			return
		}
		err = cmd.Start()
	})
	return err
}

// onDiscardedThread runs f on a thread on which nothing else ever runs, and
// returns when f has. The goroutine does not unlock from the thread, so the
// runtime ends the thread with it. The main thread cannot end, and is what
// /proc/self shows, so it is left alone: while its goroutine holds it, the next
// one is sure to run elsewhere.
func onDiscardedThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			onDiscardedThread(f)
			return
		}
		f()
	}()
	<-done
}

// enter makes the calling thread see the world as the process does.
func enter(procs Proc, pid int) error {
	root, err := unix.Open(procs.file(pid, "root"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open its root: %w", err)
	}
	defer unix.Close(root)
	cwd, err := unix.Open(procs.file(pid, "cwd"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open its working directory: %w", err)
	}
	defer unix.Close(cwd)
	spaces, err := procs.foreignNamespaces(pid)
	if err != nil {
		return err
	}
	// A thread that shares its file system context cannot join a mount
	// namespace nor change its root for itself alone.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	for _, s := range spaces {
		err := unix.Setns(s.fd, s.flag)
		unix.Close(s.fd)
		if err != nil {
			return fmt.Errorf("enter its %s namespace: %w", s.name, err)
		}
	}
	if err := unix.Fchdir(root); err != nil {
		return fmt.Errorf("enter its root: %w", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fmt.Errorf("enter its root: %w", err)
	}
	if err := unix.Fchdir(cwd); err != nil {
		return fmt.Errorf("enter its working directory: %w", err)
	}
	return nil
}

type openNamespace struct {
	name string
	flag int
	fd   int
}

// foreignNamespaces opens the namespaces of the process that differ from ours.
func (p Proc) foreignNamespaces(pid int) ([]openNamespace, error) {
	var out []openNamespace
	for _, n := range namespaces {
		if p.sharesNamespace(pid, n.name) {
			continue
		}
		fd, err := unix.Open(p.file(pid, "ns/"+n.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, o := range out {
				unix.Close(o.fd)
			}
			return nil, fmt.Errorf("open its %s namespace: %w", n.name, err)
		}
		out = append(out, openNamespace{n.name, n.flag, fd})
	}
	return out, nil
}

// sharesNamespace reports whether the process is in this process's own
// namespace, or in one that cannot be distinguished from it.
func (p Proc) sharesNamespace(pid int, name string) bool {
	mine, err1 := os.Readlink(filepath.Join(p.Root, "self", "ns", name))
	theirs, err2 := os.Readlink(p.file(pid, "ns/"+name))
	return err1 != nil || err2 != nil || mine == theirs
}

// resolve looks the program up on the target's PATH, inside its root.
func resolve(cmd *exec.Cmd, env []string) error {
	name := cmd.Args[0]
	cmd.Err = nil
	if strings.Contains(name, "/") {
		cmd.Path = name
		return nil
	}
	for _, dir := range strings.Split(pathOf(env), ":") {
		path := dir + "/" + name
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			cmd.Path = path
			return nil
		}
	}
	return fmt.Errorf("%w on the task's PATH", exec.ErrNotFound)
}

// defaultPath is used where the task's environment has none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func pathOf(env []string) string {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok && value != "" {
			return value
		}
	}
	return defaultPath
}

// credential is the process's effective user, group and further groups.
func (p Proc) credential(pid int) (*syscall.Credential, error) {
	uid, err := p.statusID(pid, "Uid")
	if err != nil {
		return nil, err
	}
	gid, err := p.statusID(pid, "Gid")
	if err != nil {
		return nil, err
	}
	text, err := p.statusField(pid, "Groups")
	if err != nil {
		return nil, err
	}
	var groups []uint32
	for _, field := range strings.Fields(text) {
		g, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("process %d: groups: %w", pid, err)
		}
		groups = append(groups, uint32(g))
	}
	return &syscall.Credential{Uid: uid, Gid: gid, Groups: groups}, nil
}

// statusID reads the effective id: the second of real, effective, saved, file.
func (p Proc) statusID(pid int, name string) (uint32, error) {
	text, err := p.statusField(pid, name)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d: unreadable %s", pid, name)
	}
	id, err := strconv.ParseUint(fields[1], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("process %d: %s: %w", pid, name, err)
	}
	return uint32(id), nil
}

// bounded keeps the first bytes written to it and swallows the rest.
type bounded struct {
	bytes.Buffer
	limit int
	cut   bool
}

func (b *bounded) Write(data []byte) (int, error) {
	if room := b.limit - b.Len(); len(data) > room {
		b.cut = true
		b.Buffer.Write(data[:room])
		return len(data), nil
	}
	return b.Buffer.Write(data)
}
