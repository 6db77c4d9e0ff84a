package executor

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrRestricted means that a process is bound by something that a command started from
// outside cannot be bound by: it would have rights that the task has not.
var ErrRestricted = errors.New("a command cannot be run with exactly the rights of the task")

// rights bound what a process may do beyond its user and groups; see capabilities(7).
type rights struct {
	capabilities uint64 // that a program started by it can have at most
	ambient      uint64 // of these, what such a program has whoever its user is
	noNewPrivs   bool   // no program that it starts may gain any
}

// rights reads the rights of a process; ErrRestricted where they cannot be copied.
func (p Proc) rights(pid int, uid uint32) (rights, error) {
	if !p.sharesNamespace(pid, "user") {
		return rights{}, fmt.Errorf("%w: it has a user namespace of its own", ErrRestricted)
	}
	seccomp, err := p.statusField(pid, "Seccomp")
	if err != nil {
		return rights{}, err
	}
	if seccomp != "0" {
		return rights{}, fmt.Errorf("%w: its system calls are filtered (seccomp)", ErrRestricted)
	}
	if own, theirs := p.label("self"), p.label(strconv.Itoa(pid)); own != theirs {
		return rights{}, fmt.Errorf("%w: it is confined as %q by the security module of the kernel", ErrRestricted, theirs)
	}
	bounding, err := p.capabilities(pid, "CapBnd")
	if err != nil {
		return rights{}, err
	}
	permitted, err := p.capabilities(pid, "CapPrm")
	if err != nil {
		return rights{}, err
	}
	ambient, err := p.capabilities(pid, "CapAmb")
	if err != nil {
		return rights{}, err
	}
	noNewPrivs, err := p.statusField(pid, "NoNewPrivs")
	if err != nil {
		return rights{}, err
	}
	r := rights{capabilities: bounding, noNewPrivs: noNewPrivs != "0"}
	if uid == 0 {
		// A program that root starts gets all that the bounding set leaves, whatever its
		// parent had given up.
		r.capabilities &= permitted
	}
	r.ambient = ambient & r.capabilities
	return r, nil
}

// ambientList are the numbers of the ambient capabilities; nil is none.
func (r rights) ambientList() []uintptr {
	var out []uintptr
	for c := range uintptr(bits.UintSize) {
		if r.ambient&(1<<c) != 0 {
			out = append(out, c)
		}
	}
	return out
}

func (p Proc) capabilities(pid int, name string) (uint64, error) {
	text, err := p.statusField(pid, name)
	if err != nil {
		return 0, err
	}
	set, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("process %d: %s: %w", pid, name, err)
	}
	return set, nil
}

// label is how a security module (AppArmor, SELinux) calls the confinement of a process;
// empty where there is no such module.
func (p Proc) label(pid string) string {
	text, err := os.ReadFile(filepath.Join(p.Root, pid, "attr", "current"))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\x00\n")
}

// takeOver bounds the calling thread, and so what it starts, by the rights; ambient
// capabilities are given to the program when its user is set.
func (r rights) takeOver() error {
	for c := range uintptr(bits.UintSize) {
		if r.capabilities&(1<<c) != 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // the kernel knows no more of them
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	if err := dropInheritable(); err != nil {
		return err
	}
	if r.noNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("give up new privileges: %w", err)
		}
	}
	return nil
}

// dropInheritable: a program of root gets these beyond the bounding set.
func dropInheritable() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop inheritable capabilities: %w", err)
	}
	return nil
}
