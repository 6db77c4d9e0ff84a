package disk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Attached is a disk that is served by another process, with its volumes.
type Attached struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	folder string // where its files are
}

// Attach serves the images of a folder as a disk of a kind, and mounts them in another.
func Attach(ctx context.Context, kind Kind, images, at string) (d *Attached, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	_ = unix.Unmount(at, unix.MNT_DETACH) // of a run that was killed
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	// A disk does not wait for a processor.
	d = &Attached{cmd: exec.CommandContext(context.WithoutCancel(ctx), "nice", "-n", "-20", self, Worker, string(kind), images, at), folder: at}
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is not for it
	d.cmd.Stderr = os.Stderr
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := d.answer(); err != nil {
		return nil, errors.Join(err, d.End())
	}
	return d, nil
}

func (d *Attached) answer() (string, error) {
	line, err := d.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the disk's process ended: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func (d *Attached) tell(word string) (string, error) {
	if _, err := fmt.Fprintln(d.in, word); err != nil {
		return "", err
	}
	return d.answer()
}

// Limit has I/Os take their time from now on.
func (d *Attached) Limit() error {
	_, err := d.tell(wordLimit)
	return err
}

// Free has them take no more than they do.
func (d *Attached) Free() error {
	_, err := d.tell(wordFree)
	return err
}

// Served is what was done for each file while the disk was limited.
func (d *Attached) Served() (map[string]Served, error) {
	text, err := d.tell(wordServed)
	if err != nil {
		return nil, err
	}
	var out map[string]Served
	return out, json.Unmarshal([]byte(text), &out)
}

// End unmounts it.
func (d *Attached) End() error {
	err := d.in.Close()
	ended := make(chan error, 1)
	go func() { ended <- d.cmd.Wait() }()
	const within = 10 * time.Second
	select {
	case why := <-ended:
		return errors.Join(err, why, os.RemoveAll(d.folder))
	case <-time.After(within):
		return errors.Join(err, fmt.Errorf("the disk's process does not end within %s", within), d.cmd.Process.Kill())
	}
}

// Volume attaches a file of the disk; it has a file system, or is empty.
func (d *Attached) Volume(ctx context.Context, path, file string, empty bool) (*Volume, error) {
	v := &Volume{image: filepath.Join(d.folder, file), Dir: absolute(path + ".mnt"), direct: true}
	_ = v.release(ctx) // of a run that was killed
	if err := v.attach(ctx, filepath.Base(path), empty); err != nil {
		return nil, errors.Join(err, v.Detach())
	}
	return v, nil
}
