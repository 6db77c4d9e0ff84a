package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// workload is one line of the table.
type workload struct {
	name, what string
	packages   []string // of Debian
	programs   []string // that must be there, as paths or names
	// batch says that it runs as fast as it can: what it loses is throughput, not time per I/O.
	batch bool
	// prepare makes the data, once; nil: nothing.
	prepare func(ctx context.Context, v *disk.Volume) error
	// ready makes what runs on them, again and again.
	ready func(ctx context.Context, v *disk.Volume) (*running, error)
}

// Rates are far below what a disk does, so that a busy machine changes little of them; jobs
// without one run as fast as they can. Chosen by us.
const (
	postgresPerSec = 150 // transactions
	sqlitePerSec   = 60
	storePerSec    = "2600" // db_bench does not take less
	logPerSec      = 200.   // records
)

// postgresBin is where Debian has the server's programs.
const postgresBin = "/usr/lib/postgresql/15/bin"

func workloads() []workload {
	return []workload{
		{"postgresql", fmt.Sprintf("PostgreSQL 15, pgbench (TPC-B) of 40 branches, %d transactions/s by 4 clients, checkpoints every 30 s", postgresPerSec),
			[]string{"postgresql-15"}, []string{postgresBin + "/initdb", postgresBin + "/pgbench"}, false, postgresData, postgres},
		{"sqlite", fmt.Sprintf("SQLite 3, write-ahead log, synchronous; %d transactions/s, each two updates and three reads of 800,000 rows", sqlitePerSec), []string{"sqlite3"}, []string{"sqlite3"}, false, sqliteData, sqlite},
		{"rocksdb", "RocksDB 7.8 (an LSM store), db_bench readwhilewriting on 3,000,000 keys, " + storePerSec + " reads/s and 500 kB/s written, with compaction", []string{"rocksdb-tools"}, []string{"db_bench"}, false, storeData, store},
		{"log", fmt.Sprintf("a log: %.0f records/s of 0.2 to 8 kB, each synced, in files of 16 MB of which four are kept", logPerSec), nil, nil, false, nil, syncedLog},
		{"backup", "tar of 1,500 files of 0.1 to 1.5 MB and zstd, into a file on the same disk, again and again", []string{"tar", "zstd"}, []string{"tar", "zstd"}, true, backupData, backup},
		{"small-files", "postmark: 20,000 files of 0.5 to 16 kB in 100 folders; read, appended to, created and removed", []string{"postmark"}, []string{"postmark"}, true, nil, smallFiles},
	}
}

// needs says what is missing, and how to get it.
func needs(w workload) error {
	for _, p := range append([]string{"losetup", "mkfs.ext4", "mount", "setpriv"}, w.programs...) {
		if _, err := exec.LookPath(p); err != nil {
			return fmt.Errorf("%s is not there: apt-get install %s", p, strings.Join(append([]string{"util-linux", "e2fsprogs", "mount"}, w.packages...), " "))
		}
	}
	return nil
}

// running is a workload that can be started, and is ended whether it was or not.
type running struct {
	cmd    *exec.Cmd
	feed   func(ctx context.Context, in io.Writer) error // writes what it reads; nil: nothing
	before func() error                                  // ends what was prepared besides; nil: nothing
	tells  func(line string) (told, bool)                // reads what it prints of its own operations; nil: nothing

	log    *tellings  // what it said of its own operations
	done   chan error // once it was started: why it ended
	stop   context.CancelFunc
	errors bytes.Buffer // what it complains of
}

// start runs it in a process group of its own.
func (r *running) start() error {
	ctx, stop := context.WithCancel(context.Background())
	r.stop, r.done = stop, make(chan error, 1)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stderr = &r.errors
	if r.tells != nil {
		r.log = &tellings{tells: r.tells}
		r.cmd.Stdout, r.cmd.Stderr = &lines{to: r.log.line}, io.MultiWriter(&r.errors, &lines{to: r.log.line})
	}
	var in io.WriteCloser
	if r.feed != nil {
		var err error
		if in, err = r.cmd.StdinPipe(); err != nil {
			return err
		}
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	if in != nil {
		go func() {
			_ = r.feed(ctx, in) // its end is that of the program, which is told
			_ = in.Close()
		}()
	}
	go func() { r.done <- r.cmd.Wait() }()
	return nil
}

// mostComplaint bounds what is repeated of a program's errors.
const mostComplaint = 500

// errEnded: a workload that should run has ended without an error.
var errEnded = errors.New("it came to its end")

// ended is why it ended, or nil while it runs.
func (r *running) ended() error {
	select {
	case err := <-r.done:
		r.done <- err
		if err == nil {
			err = errEnded
		}
		return fmt.Errorf("%w\n%s", err, wording.Shorten(r.errors.String(), mostComplaint))
	default:
		return nil
	}
}

// end kills the process group, and ends what was prepared besides.
func (r *running) end() error {
	if r.done != nil {
		r.stop()
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-r.done                                              //nolint:errcheck // killed: its error says so
	}
	if r.before == nil {
		return nil
	}
	return r.before()
}

const postgresUser = "postgres"

func postgresProgram(name string) string { return filepath.Join(postgresBin, name) }

// postgresFolders are those of its data and of its socket.
func postgresFolders(v *disk.Volume) (data, socket string) {
	return filepath.Join(v.Dir, "data"), filepath.Join(v.Dir, "socket")
}

func postgresData(ctx context.Context, v *disk.Volume) error {
	data, socket := postgresFolders(v)
	for _, folder := range []string{data, socket} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := v.Run(ctx, "", "chown", postgresUser, folder); err != nil {
			return err
		}
	}
	if err := v.Run(ctx, postgresUser, postgresProgram("initdb"), "-D", data, "--no-sync", "--auth", "trust"); err != nil {
		return err
	}
	stop, err := postgresServer(ctx, v)
	if err != nil {
		return err
	}
	return errors.Join(v.Run(ctx, postgresUser, postgresProgram("pgbench"), "-h", socket, "-i", "-q", "-s", "40", "postgres"), stop("fast"))
}

// postgresServer starts the server in the group too: its memory and its page cache are limited.
func postgresServer(ctx context.Context, v *disk.Volume) (stop func(mode string) error, err error) {
	data, socket := postgresFolders(v)
	options := fmt.Sprintf("-k %s -c listen_addresses='' -c shared_buffers=64MB -c checkpoint_timeout=30s -c checkpoint_completion_target=0.5", socket)
	if err := v.Run(ctx, postgresUser, postgresProgram("pg_ctl"), "-D", data, "-l", filepath.Join(data, "server.log"), "-o", options, "-w", "start"); err != nil {
		return nil, err
	}
	return func(mode string) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return v.Run(ctx, postgresUser, postgresProgram("pg_ctl"), "-D", data, "-m", mode, "-w", "stop")
	}, nil
}

func postgres(ctx context.Context, v *disk.Volume) (*running, error) {
	stop, err := postgresServer(ctx, v)
	if err != nil {
		return nil, err
	}
	_, socket := postgresFolders(v)
	return &running{
		before: func() error { return stop("fast") }, // it is started again on the same data
		cmd:    v.InGroup(context.Background(), postgresUser, postgresProgram("pgbench"), "-h", socket, "-c", "4", "-j", "1", "-T", "86400", "-P", "1", "-R", fmt.Sprint(postgresPerSec), "--random-seed", "1", "postgres"),
		tells:  tellsPgbench,
	}, nil
}

const sqliteRows = 800_000

func sqliteFile(v *disk.Volume) string { return filepath.Join(v.Dir, "shop.db") }

func sqliteData(ctx context.Context, v *disk.Volume) error {
	return v.Run(ctx, "", "sqlite3", sqliteFile(v), "PRAGMA journal_mode=WAL;\n"+
		"CREATE TABLE item(id INTEGER PRIMARY KEY, stock INTEGER, about TEXT);\n"+
		fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d) INSERT INTO item SELECT i, i%%100, hex(zeroblob(250)) FROM n;\n", sqliteRows)+
		"CREATE TABLE journal(id INTEGER PRIMARY KEY, item INTEGER, at INTEGER);\n")
}

// sqlite is fed with transactions at their times. Each ends with its time, which comes back when
// it is done.
func sqlite(_ context.Context, v *disk.Volume) (*running, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	feed := func(ctx context.Context, in io.Writer) error {
		if _, err := io.WriteString(in, "PRAGMA synchronous=FULL;\nPRAGMA cache_size=-16000;\n"); err != nil {
			return err
		}
		return paced(ctx, rng, sqlitePerSec, func(i int, due time.Time) error {
			var b strings.Builder
			b.WriteString("BEGIN IMMEDIATE;")
			for k := range 5 {
				item := 1 + int(float64(sqliteRows)*rng.Float64()*rng.Float64()) // some are asked for more often
				if k < 3 {
					fmt.Fprintf(&b, "SELECT length(about) FROM item WHERE id=%d;", item)
				} else {
					fmt.Fprintf(&b, "UPDATE item SET stock=stock+1 WHERE id=%d;INSERT INTO journal(item,at) VALUES(%[1]d,%d);", item, i)
				}
			}
			fmt.Fprintf(&b, "COMMIT;SELECT '%s%d';\n", askedMark, due.UnixMicro())
			_, err := io.WriteString(in, b.String())
			return err
		})
	}
	return &running{cmd: v.InGroup(context.Background(), "", "stdbuf", "-oL", "sqlite3", sqliteFile(v)), feed: feed, tells: tellsAsked}, nil
}

// paced calls again and again, with exponential gaps, until an error or the end of ctx.
func paced(ctx context.Context, rng *rand.Rand, perSec float64, do func(i int, due time.Time) error) error {
	at := time.Now()
	for i := 0; ; i++ {
		at = at.Add(time.Duration(rng.ExpFloat64() / perSec * float64(time.Second)))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(at)):
		}
		if err := do(i, at); err != nil {
			return err
		}
	}
}

func storeArgs(v *disk.Volume, more ...string) []string {
	return append([]string{
		"db_bench", "--db=" + filepath.Join(v.Dir, "store"), "--num=3000000", "--value_size=200", "--seed=1", "--compression_type=none",
		"--cache_size=33554432", "--write_buffer_size=8388608", "--target_file_size_base=8388608", "--max_bytes_for_level_base=67108864",
	}, more...)
}

func storeData(ctx context.Context, v *disk.Volume) error {
	return v.Run(ctx, "", storeArgs(v, "--benchmarks=fillrandom")...)
}

func store(_ context.Context, v *disk.Volume) (*running, error) {
	args := storeArgs(v, "--benchmarks=readwhilewriting", "--use_existing_db=1", "--duration=86400", "--threads=1", "--benchmark_read_rate_limit="+storePerSec, "--benchmark_write_rate_limit=500000", "--stats_interval_seconds=1")
	return &running{cmd: v.InGroup(context.Background(), "", args...), tells: tellsStore}, nil
}

// logWorker is the command of this program that writes the log.
const logWorker = "log-worker"

func syncedLog(_ context.Context, v *disk.Volume) (*running, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &running{cmd: v.InGroup(context.Background(), "", self, logWorker, v.Dir), tells: tellsAsked}, nil
}

// writeLog writes records into files, and syncs each; the oldest file is removed.
func writeLog(ctx context.Context, folder string) error {
	const fileBytes, kept, least, most = 16 << 20, 4, 200, 8000
	rng := rand.New(rand.NewPCG(1, 2))
	record := make([]byte, most)
	for number := 0; ; number++ {
		name := func(n int) string { return filepath.Join(folder, fmt.Sprintf("log-%06d", n)) }
		f, err := os.Create(name(number))
		if err != nil {
			return err
		}
		written := 0
		err = paced(ctx, rng, logPerSec, func(_ int, due time.Time) error {
			n := least + rng.IntN(most-least)
			if _, err := f.Write(record[:n]); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
			fmt.Printf("%s%d\n", askedMark, due.UnixMicro())
			if written += n; written > fileBytes {
				return io.EOF // of this file
			}
			return nil
		})
		if err := errors.Join(f.Close(), ignore(err, io.EOF)); err != nil {
			return err
		}
		if err := os.Remove(name(number - kept)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
}

func ignore(err, end error) error {
	if errors.Is(err, end) {
		return nil
	}
	return err
}

func backupData(_ context.Context, v *disk.Volume) error {
	rng := rand.New(rand.NewPCG(1, 3))
	data := make([]byte, 1_500_000)
	for i := 0; i < len(data); i += 8 { // half of it can be compressed
		if i/4096%2 == 0 {
			copy(data[i:], fmt.Appendf(nil, "%08x", rng.Uint32()))
		}
	}
	for i := range 1500 {
		folder := filepath.Join(v.Dir, "tree", fmt.Sprint(i%50))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), data[:100_000+rng.IntN(len(data)-100_000)], 0o644); err != nil {
			return err
		}
	}
	return nil
}

func backup(_ context.Context, v *disk.Volume) (*running, error) {
	return &running{cmd: v.InGroup(context.Background(), "", "sh", "-ec", "while :; do tar -cf - tree | zstd -q -3 -f -o backup.new; sync backup.new; mv backup.new backup; done")}, nil
}

// smallFiles begins with an empty folder every time: postmark wants that.
func smallFiles(_ context.Context, v *disk.Volume) (*running, error) {
	folder, path := filepath.Join(v.Dir, "mail"), filepath.Join(v.Dir, "postmark.txt")
	settings := fmt.Sprintf("set location %s\nset subdirectories 100\nset number 20000\nset size 500 16000\nset transactions 100000000\nset seed 1\nset buffering false\nrun\nquit\n", folder)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755), os.WriteFile(path, []byte(settings), 0o644)); err != nil {
		return nil, err
	}
	return &running{cmd: v.InGroup(context.Background(), "", "postmark", path)}, nil
}
