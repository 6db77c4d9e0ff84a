package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Sizes of the biological inputs.
const (
	sequences      = 4000
	sequenceBases  = 5000
	ntQueries      = 200
	ntQueryBases   = 1500
	proteins       = 500
	proteinLength  = 350
	proteinQueries = 40
	reads          = 60_000
	readBases      = 100
	errorShare     = 0.01
)

const (
	bases = "ACGT"
	acids = "ACDEFGHIKLMNPQRSTVWY"
)

// genome are the random sequences everything is cut from.
func genome(random *rand.Rand, alphabet string, count, length int) [][]byte {
	out := make([][]byte, count)
	for i := range out {
		out[i] = make([]byte, length)
		for j := range out[i] {
			out[i][j] = alphabet[random.IntN(len(alphabet))]
		}
	}
	return out
}

// cut copies a piece of a random sequence, with errors.
func cut(random *rand.Rand, from [][]byte, alphabet string, length int, errors float64) []byte {
	s := from[random.IntN(len(from))]
	start := random.IntN(len(s) - length + 1)
	out := append([]byte(nil), s[start:start+length]...)
	for i := range out {
		if random.Float64() < errors {
			out[i] = alphabet[random.IntN(len(alphabet))]
		}
	}
	return out
}

// inFolder makes a folder and in it what f makes.
func inFolder(path string, f func() error) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return f()
}

// writeSome writes a file with a function.
func writeSome(path string, f func(w *bufio.Writer)) error {
	return write(func(w *bufio.Writer, _ *rand.Rand) { f(w) })(context.Background(), "", path)
}

func writeFASTA(path string, list [][]byte) error {
	return writeSome(path, func(w *bufio.Writer) {
		for i, s := range list {
			_, _ = fmt.Fprintf(w, ">s%d\n%s\n", i, s) // the writer keeps its error
		}
	})
}

func makeNucleotides(ctx context.Context, _, path string) error {
	random := newRandom()
	all := genome(random, bases, sequences, sequenceBases)
	queries := make([][]byte, ntQueries)
	for i := range queries {
		queries[i] = cut(random, all, bases, ntQueryBases, 5*errorShare)
	}
	return inFolder(path, func() error {
		return errors.Join(
			writeFASTA(filepath.Join(path, "fasta"), all),
			writeFASTA(filepath.Join(path, "queries"), queries),
			run(ctx, path, "makeblastdb", "-in", "fasta", "-dbtype", "nucl", "-out", "db"),
		)
	})
}

func makeProteins(ctx context.Context, _, path string) error {
	random := newRandom()
	all := genome(random, acids, proteins, proteinLength)
	queries := make([][]byte, proteinQueries)
	for i := range queries {
		queries[i] = cut(random, all, acids, proteinLength, 20*errorShare)
	}
	return inFolder(path, func() error {
		return errors.Join(
			writeFASTA(filepath.Join(path, "fasta"), all),
			writeFASTA(filepath.Join(path, "queries"), queries),
			run(ctx, path, "makeblastdb", "-in", "fasta", "-dbtype", "prot", "-out", "db"),
		)
	})
}

// writeReads cuts short reads from the genome of nt, which is made anew from
// its seed.
func writeReads(path string) error {
	random := newRandom()
	all := genome(random, bases, sequences, sequenceBases)
	quality := make([]byte, readBases)
	for i := range quality {
		quality[i] = 'I'
	}
	return writeSome(path, func(w *bufio.Writer) {
		for i := range reads {
			_, _ = fmt.Fprintf(w, "@r%d\n%s\n+\n%s\n", i, cut(random, all, bases, readBases, errorShare), quality)
		}
	})
}

func makeBWA(ctx context.Context, inputs, path string) error {
	return inFolder(path, func() error {
		return errors.Join(
			writeReads(filepath.Join(path, "reads")),
			run(ctx, path, "bwa", "index", "-p", "ref", filepath.Join(inputs, "nt", "fasta")),
		)
	})
}

func makeBowtie(ctx context.Context, inputs, path string) error {
	return inFolder(path, func() error {
		return errors.Join(
			writeReads(filepath.Join(path, "reads")),
			run(ctx, path, "bowtie2-build", "-q", "--seed", strconv.Itoa(Seed), filepath.Join(inputs, "nt", "fasta"), "ref"),
		)
	})
}

// writeSmallFiles writes text files in ten folders.
func writeSmallFiles(folder string, count, bytes int) error {
	random := newRandom()
	list := words(random)
	var errs []error
	for i := range count {
		dir := filepath.Join(folder, fmt.Sprintf("d%d", i%10))
		errs = append(errs, os.MkdirAll(dir, 0o755), writeSome(filepath.Join(dir, fmt.Sprintf("f%d", i)), func(w *bufio.Writer) {
			for w.Buffered() < bytes {
				_, _ = fmt.Fprintf(w, "%s %s\n", list[random.IntN(len(list))], list[random.IntN(len(list))])
			}
		}))
	}
	return errors.Join(errs...)
}

func makeTar(ctx context.Context, _, path string) (err error) {
	folder := path + ".d"
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := errors.Join(os.RemoveAll(folder), writeSmallFiles(filepath.Join(folder, "files"), 60, 3000)); err != nil {
		return err
	}
	return run(ctx, folder, "tar", "--sort=name", "--owner=0", "--group=0", "--mtime=@0", "-cf", path, "files")
}

func makeRepository(ctx context.Context, _, path string) error {
	return inFolder(path, func() error {
		if err := run(ctx, path, "git", "init", "-q"); err != nil {
			return err
		}
		for version := range 3 {
			err := errors.Join(
				writeSmallFiles(path, 20, 3000+1500*version),
				run(ctx, path, "git", "add", "-A"),
				run(ctx, path, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--date=2020-01-01T00:00:00Z", "-m", fmt.Sprint(version)),
			)
			if err != nil {
				return err
			}
		}
		return run(ctx, path, "git", "config", "safe.directory", "*")
	})
}

func makeRocksDB(ctx context.Context, _, path string) error {
	return run(ctx, filepath.Dir(path), "db_bench", "--db="+path, "--benchmarks=fillrandom,compact", "--num=500000", "--seed="+strconv.Itoa(Seed))
}

// makeKey makes an RSA key. It is the one input that is not the same everywhere;
// its size is, and so is the time of a signature.
func makeKey(ctx context.Context, _, path string) error {
	return run(ctx, filepath.Dir(path), "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path)
}

// makeTable makes an SQLite file of 600,000 rows and an index; a linear
// congruence takes the place of random numbers.
func makeTable(ctx context.Context, _, path string) error {
	return run(ctx, filepath.Dir(path), "sqlite3", path, `
		create table t(id integer primary key, a int, b real, c text);
		with recursive n(i, x) as (select 1, 12345 union all select i + 1, (x * 48271) % 2147483647 from n where i < 600000)
		insert into t select i, x % 1000003, x / 2147483647.0, 'row ' || x from n;
		create index i on t(a); vacuum; analyze;`)
}

func makePages(_ context.Context, _, path string) error {
	return inFolder(path, func() error {
		page := func(name string, bytes int) error {
			return writeSome(filepath.Join(path, name), func(w *bufio.Writer) {
				for i := range bytes {
					_ = w.WriteByte(byte('a' + i*7%26))
				}
			})
		}
		return errors.Join(page("small", 512), page("large", 1<<20))
	})
}

// makePostgres makes a database of pgbench at scale 10. The server refuses to
// be root, so it is the system's postgres user.
func makePostgres(ctx context.Context, _, path string) error {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return errors.New("no PostgreSQL server is installed")
	}
	bin := bins[len(bins)-1]
	owner, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	return inFolder(path, func() error {
		if err := os.Chown(path, uid, -1); err != nil {
			return err
		}
		as := func(argv ...string) error {
			return run(ctx, path, append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}, argv...)...)
		}
		data := filepath.Join(path, "data")
		if err := as(bin+"/initdb", "-A", "trust", "--locale=C.UTF-8", "-D", data); err != nil {
			return err
		}
		start := as(bin+"/pg_ctl", "-w", "-D", data, "-l", filepath.Join(path, "log"), "-o", "-k "+path+" -c listen_addresses=", "start")
		if start != nil {
			return start
		}
		return errors.Join(
			as(bin+"/pgbench", "-h", path, "-q", "-i", "-s", "10", "postgres"),
			as(bin+"/pg_ctl", "-w", "-D", data, "stop"),
		)
	})
}
