package nomadapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// Bounds of reading a workload from afar, chosen by us.
const (
	reachTimeout   = 5 * time.Second
	maxPageBytes   = 16 << 20 // of a page fetched from a workload
	maxExecBytes   = 1 << 20  // of what a command prints
	maxExecErrText = 200      // of its standard error, in an error
	// logTailBytes is how far back a log is read the first time: the newest
	// numbers are at its end, and all of it may be a hundred megabytes.
	logTailBytes = 512 << 10
)

// reach gets at one allocation over Nomad's client API. It serves one goroutine.
type reach struct {
	w         *World
	namespace string
	allocID   string
	nodeID    string
	ports     map[string]string // label to host:port
	logs      map[string]*remoteLog
}

var _ probe.Reach = (*reach)(nil)

// pages reads the pages of workloads: without a proxy, since they are in the cluster, and
// without following them to where they point, which may be for the host only.
var pages = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// HTTPGet asks the allocation's port itself: the workload's pages do not go
// through Nomad.
func (r *reach) HTTPGet(ctx context.Context, portLabel, path string) ([]byte, error) {
	address, ok := r.ports[portLabel]
	if !ok {
		return nil, fmt.Errorf("the allocation has no port labelled %q", portLabel)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := pages.Do(request)
	if err != nil {
		return nil, errors.Join(probe.ErrNotReady, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s%s answered %s: %w", address, path, response.Status, probe.ErrNotReady)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxPageBytes))
}

// Exec runs argv in the task through Nomad and returns its standard output.
func (r *reach) Exec(ctx context.Context, task string, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var stdout, stderr limitedBuffer
	alloc := &api.Allocation{ID: r.allocID, NodeID: r.nodeID, Namespace: r.namespace}
	q := (&api.QueryOptions{Namespace: r.namespace, AuthToken: r.w.nomad.secret()}).WithContext(ctx)
	code, err := r.w.nomad.commands.Allocations().Exec(ctx, alloc, task, false, argv, strings.NewReader(""), &stdout, &stderr, nil, q)
	if err != nil {
		return nil, fmt.Errorf("exec in task %q: %w", task, err)
	}
	r.w.nomad.book.Note(rights.Exec()...)
	if code != 0 {
		text := strings.TrimSpace(stderr.String())
		return nil, fmt.Errorf("command %q exited with code %d: %s", argv, code, text[:min(len(text), maxExecErrText)])
	}
	return stdout.Bytes(), nil
}

// limitedBuffer keeps the first maxExecBytes and drops the rest.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxExecBytes - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Instructions are counted by the driver while it profiles; Nomad knows none.
func (r *reach) Instructions(context.Context, string) (float64, error) {
	return 0, fmt.Errorf("%w: instructions are counted only while a copy is profiled, and Nomad does not count them", probe.ErrUnsupported)
}

// Status is the task's state as Nomad has it now.
func (r *reach) Status(ctx context.Context, task string) (probe.Status, error) {
	stub, err := r.w.observedAlloc(ctx, r.namespace, r.allocID)
	if err != nil {
		return probe.Status{}, err
	}
	state, ok := stub.TaskStates[task]
	if !ok {
		return probe.Status{}, fmt.Errorf("the allocation has no task %q", task)
	}
	return state.status(), nil
}

// remoteLog numbers the bytes of one stream of a task through its rotated files.
// Offset 0 is the first byte of the oldest file at the first look.
type remoteLog struct {
	starts map[int]int64 // of each file, by its number
	tail   int64         // where the first read starts
}

type logFile struct {
	number int
	name   string
	size   int64
}

// ReadLog returns what the stream holds from offset on. A first read, at offset
// 0, starts near the end, after a whole line.
func (r *reach) ReadLog(ctx context.Context, task, stream string, offset int64, limit int) ([]byte, int64, error) {
	files, err := r.logFiles(ctx, task, stream)
	if err != nil || len(files) == 0 {
		return nil, offset, err
	}
	key := task + "." + stream
	log, seen := r.logs[key]
	if !seen {
		log = &remoteLog{starts: map[int]int64{}}
		r.logs[key] = log
	}
	end := log.place(files)
	if !seen {
		log.tail = max(0, end-logTailBytes)
	}
	inLine := offset == 0 && log.tail > 0
	if offset < log.tail {
		offset = log.tail
	}
	data, next, err := r.readFiles(ctx, log, files, offset, limit)
	if err == nil && inLine {
		// The line begun before this byte is not whole.
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	return data, next, err
}

func (r *reach) readFiles(ctx context.Context, log *remoteLog, files []logFile, offset int64, limit int) ([]byte, int64, error) {
	for _, f := range files {
		start := log.starts[f.number]
		if offset >= start+f.size {
			continue
		}
		offset = max(offset, start) // an older file was rotated away unread
		data, err := r.readAt(ctx, "alloc/logs/"+f.name, offset-start, limit)
		if err != nil {
			return nil, offset, err
		}
		return data, offset + int64(len(data)), nil
	}
	return nil, offset, nil
}

// place gives new files their first offset and returns the end of the last one.
func (l *remoteLog) place(files []logFile) (end int64) {
	for i, f := range files {
		start, known := l.starts[f.number]
		if !known {
			if i > 0 {
				start = end
			}
			l.starts[f.number] = start
		}
		end = start + f.size
	}
	return end
}

// logFiles lists the files of a stream, oldest first.
func (r *reach) logFiles(ctx context.Context, task, stream string) ([]logFile, error) {
	var entries []struct {
		Name string
		Size int64
	}
	q := api.QueryOptions{Namespace: r.namespace, Params: map[string]string{"path": "alloc/logs"}}
	if _, err := r.w.nomad.get(ctx, "/v1/client/fs/ls/"+url.PathEscape(r.allocID), q, &entries); err != nil {
		return nil, fmt.Errorf("logs of task %q: %w", task, err)
	}
	var files []logFile
	for _, e := range entries {
		suffix, ok := strings.CutPrefix(e.Name, task+"."+stream+".")
		number, err := strconv.Atoi(suffix)
		if ok && err == nil {
			files = append(files, logFile{number, e.Name, e.Size})
		}
	}
	slices.SortFunc(files, func(a, b logFile) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}

func (r *reach) readAt(ctx context.Context, path string, offset int64, limit int) ([]byte, error) {
	q := api.QueryOptions{Namespace: r.namespace, Params: map[string]string{
		"path": path, "offset": strconv.FormatInt(offset, 10), "limit": strconv.Itoa(limit),
	}}
	var out []byte
	err := r.w.nomad.stream(ctx, "/v1/client/fs/readat/"+url.PathEscape(r.allocID), q, func(body io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(body, int64(limit)))
		return err
	})
	return out, err
}

// portMap finds the address of each labelled port, newest form first: ports of the
// group, then of its networks, then of single tasks.
func portMap(r observedResources, nodeHost string) map[string]string {
	out := map[string]string{}
	put := func(label, host string, port int) {
		if host == "" || host == "0.0.0.0" || host == "::" {
			host = nodeHost
		}
		if _, taken := out[label]; !taken && label != "" && host != "" {
			out[label] = net.JoinHostPort(host, strconv.Itoa(port))
		}
	}
	for _, p := range r.Shared.Ports {
		put(p.Label, p.HostIP, p.Value)
	}
	networks := slices.Clone(r.Shared.Networks)
	for _, task := range r.Tasks {
		networks = append(networks, task.Networks...)
	}
	for _, n := range networks {
		for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
			put(p.Label, n.IP, p.Value)
		}
	}
	return out
}
