package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// restoreRun is one run of the command with its flags.
type restoreRun struct {
	from      recordFlags
	out       command.OutputFlags
	overwrite bool
}

// What became of a document, in what -json prints.
const (
	written = "written"
	kept    = "kept" // there is one already
)

// restored is a row of what -json prints. Empty: the file has none.
type restored struct {
	Key        string `json:"key"`
	Workload   string `json:"workload"`
	Profile    string `json:"profile,omitempty"`
	Production string `json:"production,omitempty"`
}

func profileImportCommand() *command.Command {
	return &command.Command{
		Name: "profile import", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Put exported profiles back",
		About: "Writes what profile export wrote into the placer's Variables, with your token. FILE is - for standard input. All of it is checked before any of it is written, " +
			"and what is there already stays, unless -overwrite is given. The leading agent learns from profiles of others when it starts, and finds a job's own at its next submission. Public data sets are read by nomad-placer-sim import.",
		Example: "nomad-placer profile import profiles.json",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c restoreRun
			c.from.add(f)
			c.out.Add(f)
			f.BoolVar(&c.overwrite, "overwrite", false, "Replace what is there already.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				all, err := readExport(s, args[0])
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				st, err := c.from.store()
				if err != nil {
					return err
				}
				return c.restore(ctx, s, st, all)
			}
		},
	}
}

// maxExportBytes bounds what is read: ten thousand profiles with what production says.
const maxExportBytes = 1 << 30

// readExport reads and checks a whole export: a list, or one document.
func readExport(s *command.Shell, path string) ([]knownRecord, error) {
	from := s.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, maxExportBytes))
	if err != nil {
		return nil, err
	}
	list := []json.RawMessage{data}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, command.WithHint(err, "profile export writes what can be read here")
		}
	}
	all := make([]knownRecord, len(list))
	for i, raw := range list {
		if all[i], err = decodeKnown(raw); err != nil {
			return nil, command.WithHint(fmt.Errorf("profile %d: %w", i+1, err), "nothing was written; profile export writes what can be read here")
		}
	}
	return all, nil
}

func decodeKnown(raw []byte) (knownRecord, error) {
	p, err := store.DecodeProfile(raw)
	if err != nil {
		return knownRecord{}, err
	}
	q := knownRecord{Profile: p}
	if q.profiled() {
		err = p.Check()
	}
	var with struct {
		Production json.RawMessage `json:"production"`
	}
	if err := errors.Join(err, json.Unmarshal(raw, &with)); err != nil {
		return knownRecord{}, err
	}
	if with.Production != nil {
		said, err := store.DecodeProduction(with.Production, p.Key)
		if err != nil {
			return knownRecord{}, fmt.Errorf("production: %w", err)
		}
		q.Production = &said
	}
	return q, nil
}

func (c *restoreRun) restore(ctx context.Context, s *command.Shell, st store.Store, all []knownRecord) error {
	ifIndex := uint64(0)
	if c.overwrite {
		ifIndex = store.Any
	}
	outcome := func(err error) (string, error) {
		if errors.Is(err, store.ErrConflict) {
			return kept, nil
		}
		return written, err
	}
	rows := []restored{}
	for _, q := range all {
		row := restored{Key: q.Key, Workload: q.Workload}
		var err error
		if q.profiled() {
			_, err = store.Profiles{Store: st}.Put(ctx, q.Profile, ifIndex)
			row.Profile, err = outcome(err)
		}
		if q.Production != nil && err == nil {
			_, err = store.Productions{Store: st}.Put(ctx, *q.Production, ifIndex)
			row.Production, err = outcome(err)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("of %s: %w", q.Workload, err), c.print(s, rows))
		}
		rows = append(rows, row)
	}
	return c.print(s, rows)
}

func (c *restoreRun) print(s *command.Shell, rows []restored) error {
	return c.out.Print(s, rows, func(p *command.Page) {
		var cells [][]command.Cell
		for _, r := range rows {
			cells = append(cells, []command.Cell{{Text: p.Cut(r.Key, 13), Hue: command.Bold}, command.Text(r.Workload), command.Text(orNone(r.Profile)), command.Text(orNone(r.Production))})
		}
		if len(cells) == 0 {
			p.Line(command.Text("The file has no profile."))
			return
		}
		p.Table([]string{"Key", "Workload", "Profile", "Production"}, cells)
	})
}
