package generate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// LogOptions say where a log of fio writes to.
type LogOptions struct {
	// Data is the file or device that is written to, and Logs that of threads that are logs:
	// the text gives them a partition of their own. Empty Logs is Data.
	Data, Logs string
	// IsLog tells by thread.
	IsLog func(thread uint32) bool
	// Wrote is told now and then how many I/Os are written, and ends writing by an error; may
	// be nil.
	Wrote func(ios int64, at time.Duration) error
}

// wroteEvery is after how many I/Os LogOptions.Wrote is called.
const wroteEvery = 1 << 16

// WriteLog writes a stream as a log of fio, version 3 (fio 3.31 or newer): time in
// microseconds, file, action, offset, length. fio plays it with read_iolog, and faster or
// slower with replay_time_scale. It returns how many I/Os it wrote.
func WriteLog(w io.Writer, r storage.Reader, o LogOptions) (int64, error) {
	out := bufio.NewWriterSize(w, 1<<16)
	files := []string{o.Data}
	if o.Logs != "" && o.Logs != o.Data {
		files = append(files, o.Logs)
	}
	fmt.Fprintln(out, "fio version 3 iolog")
	for _, action := range []string{"add", "open"} {
		for _, f := range files {
			fmt.Fprintf(out, "0 %s %s\n", f, action)
		}
	}
	var record storage.Record
	var line []byte
	n, last := int64(0), int64(0)
	for {
		err := r.Next(&record)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, err
		}
		file := o.Data
		if len(files) > 1 && o.IsLog(record.Thread) {
			file = o.Logs
		}
		last = record.At.Microseconds()
		line = appendLine(line[:0], last, file, &record)
		if _, err := out.Write(line); err != nil {
			return n, err
		}
		n++
		if n%wroteEvery == 0 && o.Wrote != nil {
			if err := o.Wrote(n, record.At); err != nil {
				return n, err
			}
		}
	}
	for _, f := range files {
		fmt.Fprintf(out, "%d %s close\n", last, f)
	}
	return n, out.Flush()
}

func appendLine(line []byte, microseconds int64, file string, r *storage.Record) []byte {
	line = strconv.AppendInt(line, microseconds, 10)
	line = append(line, ' ')
	line = append(line, file...)
	line = append(line, ' ')
	line = append(line, r.Op.String()...)
	line = append(line, ' ')
	line = strconv.AppendInt(line, r.Offset, 10)
	line = append(line, ' ')
	line = strconv.AppendInt(line, r.Bytes, 10)
	return append(line, '\n')
}

// IsLog tells whether a thread of the walk is a log.
func (w *Walk) IsLog(thread uint32) bool {
	return w.model.Types[w.TypeOf(thread)].Function == model.Log
}
