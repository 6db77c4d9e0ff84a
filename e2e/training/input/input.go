package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Seed of everything random.
const Seed = 7

// Input is a file or a folder, made once.
type Input struct {
	Name string
	// Needs are other inputs it is made from.
	Needs []string
	// make writes it to a path; inputs is the folder of all others.
	make func(ctx context.Context, inputs, path string) error
}

// ErrUnknown: there is no input of that name.
var ErrUnknown = errors.New("no such input")

// Inputs lists all inputs by name.
func Inputs() []Input {
	return []Input{
		{"aa", nil, makeProteins},
		{"audio", nil, write(writeAudio)},
		{"bowtie2", []string{"nt"}, makeBowtie},
		{"bwa", []string{"nt"}, makeBWA},
		{"dna", nil, makeParts("nucl", bases, dnaParts, dnaBases, ntQueryBases)},
		{"files.tar", nil, makeTar},
		{"formula", nil, write(writeFormula)},
		{"frames", nil, write(video(1280, 720, frameCount))},
		{"lines", nil, write(writeLines)},
		{"nt", nil, makeNucleotides},
		{"picture", nil, write(writePicture)},
		{"postgres", nil, makePostgres},
		{"proteome", nil, makeParts("prot", acids, proteomeParts, proteomeAcids, proteinLength)},
		{"records", nil, write(writeRecords)},
		{"repository", nil, makeRepository},
		{"rocksdb", nil, makeRocksDB},
		{"rsa", nil, makeKey},
		{"source.c", nil, write(writeSource)},
		{"stream", nil, makeStream},
		{"table.db", nil, makeTable},
		{"text", nil, write(writeText)},
		{"text.bz2", []string{"text"}, filtered("text", "bzip2", "-9", "-c")},
		{"text.gz", []string{"text"}, filtered("text", "gzip", "-6", "-n", "-c")},
		{"text.xz", []string{"text"}, filtered("text", "xz", "-3", "-T1", "-c")},
		{"text.zst", []string{"text"}, filtered("text", "zstd", "-q", "-3", "-c")},
		{"transactions", nil, write(writeTransactions)},
		{"tree", nil, makeTree},
		{"video360", nil, write(video(640, 360, 60))},
		{"video720", nil, write(video(1280, 720, 24))},
		{"www", nil, makePages},
	}
}

// Make makes the named inputs that are missing in a folder, and what they need.
// say gets the name of each that is made.
func Make(ctx context.Context, folder string, names []string, say func(name string)) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	for _, name := range names {
		at := slices.IndexFunc(Inputs(), func(i Input) bool { return i.Name == name })
		if at < 0 {
			return fmt.Errorf("%w: %s", ErrUnknown, name)
		}
		in := Inputs()[at]
		if err := Make(ctx, folder, in.Needs, say); err != nil {
			return err
		}
		if err := in.ensure(ctx, folder, say); err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
	}
	return nil
}

// ensure makes it whole or not at all.
func (i Input) ensure(ctx context.Context, folder string, say func(string)) error {
	path := filepath.Join(folder, i.Name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	say(i.Name)
	temporary := path + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := i.make(ctx, folder, temporary); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	return os.Rename(temporary, path)
}

// Describe says what an input is, for provenance: its name, size and seed.
func Describe(folder, name string) (string, error) {
	var bytes int64
	err := filepath.WalkDir(filepath.Join(folder, name), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("input %s: %w", name, err)
	}
	return fmt.Sprintf("%s (%d bytes, seed %d)", name, bytes, Seed), nil
}

// run runs a program in a folder.
func run(ctx context.Context, folder string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, lastLines(string(out)))
	}
	return nil
}

func lastLines(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}

// filtered is what a program makes of another input.
func filtered(source string, argv ...string) func(context.Context, string, string) error {
	return func(ctx context.Context, inputs, path string) (err error) {
		in, err := os.Open(filepath.Join(inputs, source))
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stdout = in, out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", argv[0], err)
		}
		return nil
	}
}
