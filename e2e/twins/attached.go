package main

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

// attachedDisk is a disk that is served by another process, with its volumes.
type attachedDisk struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	folder string // where its files are
}

// attachDisk serves the images of a folder, and mounts them in another.
func attachDisk(ctx context.Context, images, at string) (d *attachedDisk, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	_ = unix.Unmount(at, unix.MNT_DETACH) // of a run that was killed
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	// A disk does not wait for a processor.
	d = &attachedDisk{cmd: exec.CommandContext(context.WithoutCancel(ctx), "nice", "-n", "-20", self, diskWorker, images, at), folder: at} //nolint:gosec // who runs this names the folders
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                                                                                // an interrupt is not for it
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
		return nil, errors.Join(err, d.end())
	}
	return d, nil
}

func (d *attachedDisk) answer() (string, error) {
	line, err := d.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the disk's process ended: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func (d *attachedDisk) tell(word string) (string, error) {
	if _, err := fmt.Fprintln(d.in, word); err != nil {
		return "", err
	}
	return d.answer()
}

// served is what was done for each file while the disk was limited.
func (d *attachedDisk) served() (map[string]served, error) {
	text, err := d.tell(wordServed)
	if err != nil {
		return nil, err
	}
	var out map[string]served
	return out, json.Unmarshal([]byte(text), &out)
}

// end unmounts it.
func (d *attachedDisk) end() error {
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

// volume attaches a file of the disk; it has a file system, or is empty.
func (d *attachedDisk) volume(ctx context.Context, path, file string, empty bool) (*volume, error) {
	v := &volume{image: filepath.Join(d.folder, file), dir: path + ".mnt", direct: true}
	_ = v.release(ctx) // of a run that was killed
	if err := v.attach(ctx, "pairs-"+filepath.Base(path), empty); err != nil {
		return nil, errors.Join(err, v.detach())
	}
	return v, nil
}
