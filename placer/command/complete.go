package command

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/posener/complete"
)

// Predictor returns what may be written at a place, given the beginning of the
// word there. A shell waits for it, so it gives up without a word.
type Predictor func(ctx context.Context, s *Shell, given *flag.FlagSet, begin string) ([]string, error)

// completionTime is how long a shell waits for names from a cluster.
const completionTime = 2 * time.Second

// AutocompleteArgs completes what the command's arguments name.
func (b *bound) AutocompleteArgs() complete.Predictor {
	if b.command.Complete != nil {
		return b.predict(b.command.Complete)
	}
	switch strings.Trim(b.command.Arguments, "[]") {
	case "FILE", "PATH":
		return complete.PredictFiles("*")
	case "FOLDER":
		return complete.PredictDirs("*")
	}
	return complete.PredictNothing
}

// AutocompleteFlags completes the names of all flags, and the values of those
// whose kind says what they are.
func (b *bound) AutocompleteFlags() complete.Flags {
	f, _ := b.command.Flags()
	out := complete.Flags{}
	f.VisitAll(func(g *flag.Flag) { out["-"+g.Name] = b.flagValues(g) })
	return out
}

func (b *bound) flagValues(g *flag.Flag) complete.Predictor {
	if v, ok := g.Value.(interface{ IsBoolFlag() bool }); ok && v.IsBoolFlag() {
		return complete.PredictNothing
	}
	kind, _ := flag.UnquoteUsage(g)
	switch kind {
	case "file":
		return complete.PredictFiles("*")
	case "folder":
		return complete.PredictDirs("*")
	}
	if p, ok := b.program.Values[kind]; ok {
		return b.predict(p)
	}
	return complete.PredictAnything
}

// predict runs a predictor with the flags that are in the line already.
func (b *bound) predict(p Predictor) complete.Predictor {
	return complete.PredictFunc(func(a complete.Args) []string {
		f, _ := b.command.Flags()
		_, _ = parseInterspersed(f, a.Completed) // an unfinished line has errors
		ctx, cancel := context.WithTimeout(b.ctx, completionTime)
		defer cancel()
		names, err := p(ctx, b.shell, f, a.Last)
		if err != nil {
			complete.Log("completing: %s", err)
			return nil
		}
		return names
	})
}
