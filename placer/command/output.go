package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"
)

// OutputFlags are the flags of commands that print data: as a page for people,
// as JSON, or through a template.
type OutputFlags struct {
	json     bool
	template templateFlag
	noColor  bool
	verbose  bool
}

// The names of the two forms of data, which exclude each other.
const (
	JSONName     = "json"
	TemplateName = "t"
)

func (o *OutputFlags) Add(f *flag.FlagSet) {
	f.BoolVar(&o.json, JSONName, false, "Print the data as JSON.")
	f.Var(&o.template, TemplateName, "Print the data through a Go `template`. Names are those of -json; one that is missing there is an error. The functions json and join help.")
	f.BoolVar(&o.noColor, "no-color", false, "Print without colour. Colour is only ever used on a terminal, and not where NO_COLOR or NOMAD_CLI_NO_COLOR is set.")
}

// AddVerbose is for commands whose page leaves something out.
func (o *OutputFlags) AddVerbose(f *flag.FlagSet, usage string) {
	f.BoolVar(&o.verbose, "verbose", false, usage)
}

// checkOutputFlags refuses two forms at once, before anything is done.
func checkOutputFlags(f *flag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	if given[JSONName] && given[TemplateName] {
		return UsageError("-json and -t exclude each other")
	}
	return nil
}

// ForMachines reports that the output is data, so that nothing else may be
// printed with it.
func (o *OutputFlags) ForMachines() bool { return o.json || o.template.parsed != nil }

// OnlyData is for commands that have no page: without a template they print JSON.
func (o *OutputFlags) OnlyData() { o.json = o.template.parsed == nil }

// Print writes data in the form that was asked for; draw makes the page.
func (o *OutputFlags) Print(s *Shell, data any, draw func(*Page)) error {
	return o.PrintTo(s, s.Out, data, draw)
}

func (o *OutputFlags) PrintTo(s *Shell, w io.Writer, data any, draw func(*Page)) error {
	switch {
	case o.json:
		return PrintJSON(w, data)
	case o.template.parsed != nil:
		return o.template.execute(w, data)
	default:
		p := o.page(s)
		draw(p)
		return p.print(w)
	}
}

// Page starts a text page for the shell's output.
func (o *OutputFlags) page(s *Shell) *Page {
	color := s.Terminal && !o.noColor && s.Getenv("NO_COLOR") == "" && s.Getenv("NOMAD_CLI_NO_COLOR") == ""
	return &Page{color: color, Verbose: o.verbose}
}

// PrintJSON is the output of every command with -json.
func PrintJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// templateFlag is a template that was read when the flags were.
type templateFlag struct {
	text   string
	parsed *template.Template
}

func (t *templateFlag) String() string { return t.text }

func (t *templateFlag) Set(text string) error {
	parsed, err := template.New("-t").Option("missingkey=error").Funcs(templateFunctions).Parse(text)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	t.text, t.parsed = text, parsed
	return nil
}

var templateFunctions = template.FuncMap{
	"json": func(v any) (string, error) {
		data, err := json.Marshal(v)
		return string(data), err
	},
	"join": func(by string, list []any) string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = fmt.Sprint(v)
		}
		return strings.Join(out, by)
	},
}

// execute runs the template over what -json prints, so that both have the same
// names.
func (t *templateFlag) execute(w io.Writer, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	var plain any
	if err := DecodeNumbers(bytes.NewReader(raw), &plain); err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	var out bytes.Buffer // nothing is printed of a template that fails half-way
	if err := t.parsed.Execute(&out, goNumbers(plain)); err != nil {
		return WithHint(errors.New(strings.TrimPrefix(err.Error(), "template: ")), "-json shows the names there are; index reads one that may be missing")
	}
	_, err = fmt.Fprintln(w, out.String())
	return err
}

// goNumbers makes numbers of JSON's digits, which a template can compare: whole
// ones keep all their digits.
func goNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = goNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = goNumbers(v[i])
		}
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
	}
	return v
}

// DecodeNumbers reads JSON without losing digits of large numbers: a job's
// durations are nanoseconds.
func DecodeNumbers(from io.Reader, out any) error {
	d := json.NewDecoder(from)
	d.UseNumber()
	return d.Decode(out)
}
