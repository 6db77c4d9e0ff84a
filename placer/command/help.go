package command

import (
	"flag"
	"fmt"
	"strings"
)

func (b *bound) usage() string {
	return strings.TrimSpace(fmt.Sprintf("Usage: %s %s [options] %s", b.program.Name, b.command.Name, b.command.Arguments))
}

// exitHelp lists the exit codes; stock says whether exitStock is one of them.
func exitHelp(stock bool) string {
	lines := []struct {
		code int
		text string
	}{
		{ExitDone, "done"},
		{ExitFailed, "failed; the reason is on standard error"},
		{ExitUsage, "wrong usage; nothing was done"},
		{ExitStock, "the job runs, but stock Nomad placed it (job run)"},
		{ExitInterrupted, "interrupted"},
	}
	out := "Exit codes:\n"
	for _, l := range lines {
		if stock || l.code != ExitStock {
			out += fmt.Sprintf("\n  %-4d %s", l.code, l.text)
		}
	}
	return out
}

// Help prints usage, description, examples, every flag with its default, and
// the exit codes.
func (b *bound) Help() string {
	f, _ := b.command.Flags()
	var out strings.Builder
	out.WriteString(b.usage() + "\n\n")
	paragraph(&out, b.command.Synopsis+".")
	paragraph(&out, b.command.About)
	out.WriteString("Example:\n\n" + Indent(b.command.Example, "  ") + "\n\n")
	for _, group := range b.program.groupFlags(f) {
		out.WriteString(group.title + ":\n\n")
		for _, g := range group.flags {
			out.WriteString(flagHelp(g) + "\n\n")
		}
	}
	return out.String() + exitHelp(b.command.ExitsStock)
}

func paragraph(out *strings.Builder, text string) {
	out.WriteString(Indent(Wrap(text, PageWidth-2), "  ") + "\n\n")
}

func flagHelp(g *flag.Flag) string {
	value, text := flag.UnquoteUsage(g)
	if value != "" {
		value = "=" + value
	}
	if d := g.DefValue; d != "" && d != "false" && d != "0" && d != "0s" {
		text += " Default: " + d + "."
	}
	return "  -" + g.Name + value + "\n" + Indent(Wrap(text, PageWidth-6), "      ")
}

// flagGroup is a part of the list of flags in a help text.
type flagGroup struct {
	title string
	flags []*flag.Flag
}

// groupFlags puts a command's own flags first and those that many commands
// share after them, sorted by name.
func (p *Program) groupFlags(f *flag.FlagSet) []flagGroup {
	shared := append([]SharedFlags{{"Output options", func(f *flag.FlagSet) {
		var out OutputFlags
		out.Add(f)
		out.AddVerbose(f, "")
	}}}, p.Shared...)
	groups := make([]flagGroup, len(shared)+1)
	groups[0].title = "Options"
	of := map[string]int{}
	for i, s := range shared {
		groups[i+1].title = s.Title
		names := flag.NewFlagSet("", flag.ContinueOnError)
		s.Add(names)
		names.VisitAll(func(g *flag.Flag) { of[g.Name] = i + 1 })
	}
	f.VisitAll(func(g *flag.Flag) {
		i := of[g.Name] // 0 is the command's own
		groups[i].flags = append(groups[i].flags, g)
	})
	var out []flagGroup
	for _, g := range groups {
		if len(g.flags) > 0 {
			out = append(out, g)
		}
	}
	return out
}
