package commandtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// Repository is the root, seen from a main package of placer/cmd.
const Repository = "../../.."

// Documents are the Markdown files of the repository, by path from its root.
func Documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files := os.DirFS(Repository)
	err := fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" || e.Name() == "node_modules" || e.Name() == "testdata"):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := fs.ReadFile(files, path)
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ShownLines are the lines of a document's code blocks, and what is between
// backquotes, one command a line.
func ShownLines(text string) []string {
	var out []string
	inBlock := false
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			inBlock = !inBlock
		case inBlock:
			out = append(out, strings.TrimPrefix(trimmed, "$ "))
		default:
			for i, part := range strings.Split(line, "`") {
				if i%2 == 1 {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

// CommandsIn splits a line of shell at what is not quoted, and returns the words
// of each of its commands.
func CommandsIn(line string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
			words = nil
		}
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			endWord()
		case strings.ContainsRune("|;&()<>", r):
			endCommand()
		case r == '#' && !inWord:
			endCommand()
			return commands
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	endCommand()
	return commands
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// ArgumentsOf are the words after the program, where that is the one.
func ArgumentsOf(words []string, program string) ([]string, bool) {
	for len(words) > 0 && (assignment.MatchString(words[0]) || words[0] == "sudo" || words[0] == "$") {
		words = words[1:]
	}
	if len(words) == 0 || filepath.Base(words[0]) != program {
		return nil, false
	}
	return words[1:], true
}

// CheckCommand says what is not real about the arguments of a program.
func CheckCommand(p *command.Program, args []string) string {
	if len(args) == 0 || slices.Contains(command.RootFlags, strings.TrimLeft(args[0], "-")) {
		return ""
	}
	if err := p.Misuse(args); err != nil {
		return err.Error()
	}
	var found *command.Command
	for _, c := range p.Commands {
		words := strings.Fields(c.Name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			found, args = c, args[len(words):]
			break
		}
	}
	if found == nil {
		return "" // a family
	}
	f, _ := found.Flags()
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, _, assigned := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || args[i] == "-" || name == "h" || name == "help" {
			continue
		}
		g := f.Lookup(name)
		if g == nil {
			return found.Name + " has no option -" + name
		}
		if b, ok := g.Value.(interface{ IsBoolFlag() bool }); (!ok || !b.IsBoolFlag()) && !assigned {
			i++ // its value
		}
	}
	return ""
}

// CheckDocuments checks every command line of a program that a document shows,
// and returns how many there are.
func CheckDocuments(t *testing.T, p *command.Program) int {
	t.Helper()
	shown := 0
	for name, text := range Documents(t) {
		for _, line := range ShownLines(text) {
			for _, words := range CommandsIn(line) {
				args, ok := ArgumentsOf(words, p.Name)
				if !ok {
					continue
				}
				shown++
				if problem := CheckCommand(p, args); problem != "" {
					t.Errorf("%s: %q: %s", name, line, problem)
				}
			}
		}
	}
	return shown
}
