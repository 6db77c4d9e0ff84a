package main

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

// outputFlags are the flags of commands that print data: as a page for people,
// as JSON, or through a template.
type outputFlags struct {
	json     bool
	template templateFlag
	noColor  bool
	verbose  bool
}

// The names of the two forms of data, which exclude each other.
const (
	jsonName     = "json"
	templateName = "t"
)

func (o *outputFlags) add(f *flag.FlagSet) {
	f.BoolVar(&o.json, jsonName, false, "Print the data as JSON.")
	f.Var(&o.template, templateName, "Print the data through a Go `template`. Names are those of -json; one that is missing there is an error. The functions json and join help.")
	f.BoolVar(&o.noColor, "no-color", false, "Print without colour. Colour is only ever used on a terminal, and not where NO_COLOR or NOMAD_CLI_NO_COLOR is set.")
}

// addVerbose is for commands whose page leaves something out.
func (o *outputFlags) addVerbose(f *flag.FlagSet, usage string) {
	f.BoolVar(&o.verbose, "verbose", false, usage)
}

// checkOutputFlags refuses two forms at once, before anything is done.
func checkOutputFlags(f *flag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	if given[jsonName] && given[templateName] {
		return usageError("-json and -t exclude each other")
	}
	return nil
}

// forMachines reports that the output is data, so that nothing else may stand
// beside it.
func (o *outputFlags) forMachines() bool { return o.json || o.template.parsed != nil }

// onlyData is for commands that have no page: without a template they print JSON.
func (o *outputFlags) onlyData() { o.json = o.template.parsed == nil }

// print writes data in the form that was asked for; draw makes the page.
func (o *outputFlags) print(s *shell, data any, draw func(*page)) error {
	return o.printTo(s, s.out, data, draw)
}

func (o *outputFlags) printTo(s *shell, w io.Writer, data any, draw func(*page)) error {
	switch {
	case o.json:
		return printJSON(w, data)
	case o.template.parsed != nil:
		return o.template.execute(w, data)
	default:
		p := o.page(s)
		draw(p)
		return p.print(w)
	}
}

// page starts a text page for the shell's output.
func (o *outputFlags) page(s *shell) *page {
	color := s.terminal && !o.noColor && s.getenv("NO_COLOR") == "" && s.getenv("NOMAD_CLI_NO_COLOR") == ""
	return &page{color: color, verbose: o.verbose}
}

// printJSON is the output of every command with -json.
func printJSON(w io.Writer, v any) error {
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
	if err := decodeNumbers(bytes.NewReader(raw), &plain); err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	var out bytes.Buffer // nothing is printed of a template that fails half-way
	if err := t.parsed.Execute(&out, goNumbers(plain)); err != nil {
		return withHint(errors.New(strings.TrimPrefix(err.Error(), "template: ")), "-json shows the names there are; index reads one that may be missing")
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

// decodeNumbers reads JSON without losing digits of large numbers: a job's
// durations are nanoseconds.
func decodeNumbers(from io.Reader, out any) error {
	d := json.NewDecoder(from)
	d.UseNumber()
	return d.Decode(out)
}
