package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// keyRow is what -json prints: the public half of a key.
type keyRow struct {
	ID     string `json:"id"`
	Signer string `json:"signer"`
	File   string `json:"file"`
}

func keysGenerateCommand() *command.Command {
	return &command.Command{
		Name: "keys generate", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Make the key with which an agent signs what it asks of the driver",
		About:   "Writes a new private key to the file, which only its owner can read, and prints the line for the plugin block of the driver on the clients. Give the file to the agents alone (signing_key_file in their configuration). To replace a key, add the new line to signers first, then change the agents, then remove the old line.",
		Example: "nomad-placer keys generate /etc/nomad-placer/signing.key",
		Setup: func(f *flag.FlagSet) command.Runner {
			var out command.OutputFlags
			out.Add(f)
			return func(_ context.Context, s *command.Shell, args []string) error { return generateKey(s, &out, args[0]) }
		},
	}
}

func generateKey(s *command.Shell, out *command.OutputFlags, file string) error {
	key, err := signing.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	if err := key.Save(file); err != nil {
		return err
	}
	signer := key.Signer()
	return out.Print(s, keyRow{signer.ID(), signer.String(), file}, func(p *command.Page) {
		p.Line(command.Text(fmt.Sprintf("The private key %s is in %s. In the configuration of the agents:", signer.ID(), file)))
		p.Line()
		p.Line(command.Text(fmt.Sprintf("  signing_key_file = %q", file)))
		p.Line()
		p.Line(command.Text("In the block of nomad-driver-ibench of every client:"))
		p.Line()
		p.Line(command.Text(fmt.Sprintf("  signers = [%q]", signer)))
	})
}
