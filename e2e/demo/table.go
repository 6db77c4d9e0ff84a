package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nomad-placer/nomad-placer/placer/engine"
)

// printTable writes the demo's one table.
func printTable(w io.Writer, rows []row, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "\njob\ttarget\tstock Nomad measured\tplacer predicted\tplacer measured\tnode and why")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s: %s\n", r.Job, r.Target, r.Stock.text(), engine.PredictionText(r.Predicted),
			r.Placer.text(), strings.Join(r.Placer.Nodes, ", "), r.Why)
	}
	fmt.Fprintf(t, "\ntargets met\t\t%s\t\t%s\t\n", share(rows, func(r row) bool { return r.Stock.Met }), share(rows, func(r row) bool { return r.Placer.Met }))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for _, a := range r.Actions {
			change := strings.Trim(a.From+" → "+a.To, " →") // an eviction leads nowhere
			fmt.Fprintf(w, "meanwhile, %s: %s, %s, %s: %s\n", r.Job, a.Kind, change, a.Reason, a.Result)
		}
	}
	return nil
}

func share(rows []row, ok func(row) bool) string {
	n := 0
	for _, r := range rows {
		if ok(r) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(rows))
}

func (o outcome) text() string {
	if o.Missing != "" {
		return "missed: " + o.Missing
	}
	text := o.FinishedIn
	if text == "" {
		text = fmt.Sprintf("%.0f/s", o.RatePerSec)
		if o.Tail != "" {
			text += ", tail " + o.Tail
		}
	}
	text += " on " + strings.Join(o.Nodes, ", ")
	if !o.Met {
		text += " (missed)"
	}
	return text
}
