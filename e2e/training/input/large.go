package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Sizes of the inputs that are twice as large as the memory of those who read them.
const (
	dnaParts          = 24
	dnaBases          = 80_000_000 // of a part: 20 MB as stored
	proteomeParts     = 48
	proteomeAcids     = 10_000_000
	largeSequence     = 100_000
	headers           = 24_000
	headersPerFolder  = 200
	headerBytes       = 16 << 10
	sources           = 2_000
	headersOfSource   = 8
	streamParts       = 20
	streamPartBytes   = 28 << 20
	transactionsBytes = 560_000_000
	frameCount        = 400 // of 1280x720
)

// makeParts makes a database in parts, so that a search of one is a short run.
func makeParts(kind, alphabet string, parts, length, query int) func(ctx context.Context, inputs, path string) error {
	return func(ctx context.Context, _, path string) error {
		return inFolder(path, func() error {
			random, fasta := newRandom(), filepath.Join(path, "fasta")
			for part := range parts {
				name := fmt.Sprintf("part%02d", part)
				err := errors.Join(
					writeSome(fasta, func(w *bufio.Writer) { writeSequences(w, random, alphabet, length) }),
					run(ctx, path, "makeblastdb", "-in", "fasta", "-dbtype", kind, "-out", name),
				)
				if err != nil {
					return err
				}
			}
			queries := genome(random, alphabet, 1, query)
			return errors.Join(os.Remove(fasta), writeFASTA(filepath.Join(path, "queries"), queries))
		})
	}
}

// writeSequences writes random letters, several of each random number.
func writeSequences(w *bufio.Writer, random *rand.Rand, alphabet string, length int) {
	const lettersAtOnce = 8
	n := uint64(len(alphabet))
	for written := 0; written < length; written += largeSequence {
		_, _ = fmt.Fprintf(w, ">s%d\n", written) // the writer keeps its error
		for range largeSequence / lettersAtOnce {
			bits := random.Uint64()
			for range lettersAtOnce {
				_ = w.WriteByte(alphabet[bits&0xff*n>>8])
				bits >>= 8
			}
		}
		_ = w.WriteByte('\n')
	}
}

// makeTree makes headers, mostly comments, and sources that include some of them.
func makeTree(_ context.Context, _, path string) error {
	return inFolder(path, func() error {
		random := newRandom()
		list := words(random)
		header := func(i int) string { return fmt.Sprintf("d%d/h%d.h", i/headersPerFolder, i) }
		errs := []error{os.MkdirAll(filepath.Join(path, "sources"), 0o755)}
		for i := range headers {
			if i%headersPerFolder == 0 {
				errs = append(errs, os.MkdirAll(filepath.Join(path, "include", filepath.Dir(header(i))), 0o755))
			}
			errs = append(errs, writeSome(filepath.Join(path, "include", header(i)), func(w *bufio.Writer) { writeHeader(w, random, list, i) }))
		}
		for i := range sources {
			errs = append(errs, writeSome(filepath.Join(path, "sources", fmt.Sprintf("s%04d.c", i)), func(w *bufio.Writer) {
				for range headersOfSource {
					_, _ = fmt.Fprintf(w, "#include \"%s\"\n", header(random.IntN(headers)))
				}
				writeSource(w, random)
			}))
		}
		return errors.Join(errs...)
	})
}

// writeHeader writes declarations with much said about each.
func writeHeader(w *bufio.Writer, random *rand.Rand, list []string, number int) {
	_, _ = fmt.Fprintf(w, "#ifndef H%d\n#define H%[1]d\n", number) // the writer keeps its error
	for written, i := 0, 0; written < headerBytes; i++ {
		n, _ := w.WriteString("/*")
		written += n
		for range 120 {
			n, _ := fmt.Fprintf(w, " %s", list[random.IntN(len(list))])
			written += n
		}
		n, _ = fmt.Fprintf(w, " */\nstruct t%d_%d { int a; long b[%d]; };\nextern int f%[1]d_%[2]d(const struct t%[1]d_%[2]d *, int);\n", number, i, 1+i)
		written += n
	}
	_, _ = w.WriteString("#endif\n")
}

// makeStream makes files of blocks of which a third has been there shortly before, a third can
// be compressed, and a third cannot.
func makeStream(_ context.Context, _, path string) error {
	const block, remembered = 64 << 10, 64
	return inFolder(path, func() error {
		random := newRandom()
		before := make([][]byte, 0, remembered)
		var errs []error
		for part := range streamParts {
			errs = append(errs, writeSome(filepath.Join(path, fmt.Sprintf("part%02d", part)), func(w *bufio.Writer) {
				for range streamPartBytes / block {
					kind := random.IntN(3)
					if kind == 0 && len(before) == remembered {
						_, _ = w.Write(before[random.IntN(remembered)]) // the writer keeps its error
						continue
					}
					data := randomBlock(random, block, kind == 1)
					if len(before) < remembered {
						before = append(before, data)
					} else {
						before[random.IntN(remembered)] = data
					}
					_, _ = w.Write(data)
				}
			}))
		}
		return errors.Join(errs...)
	})
}

// randomBlock has random bytes, or random hexadecimal digits.
func randomBlock(random *rand.Rand, bytes int, digits bool) []byte {
	out := make([]byte, 0, bytes)
	for len(out) < bytes {
		bits := random.Uint64()
		if digits {
			out = fmt.Appendf(out, "%016x", bits)
			continue
		}
		for range 8 {
			out = append(out, byte(bits))
			bits >>= 8
		}
	}
	return out[:bytes]
}

// writeTransactions writes lines of numbers of items, some of which are bought far more often.
func writeTransactions(w *bufio.Writer, random *rand.Rand) {
	const items = 1000
	zipf := rand.NewZipf(random, wordSkew, 2, items-1)
	for written := 0; written < transactionsBytes; {
		var line []byte
		for range 20 + random.IntN(20) {
			line = fmt.Appendf(line, "%d ", zipf.Uint64())
		}
		n, _ := w.Write(append(line, '\n')) // the writer keeps its error
		written += n
	}
}
