// Command screenshots takes the pictures of the guide to the placer's pages
// from fixed records: make screenshots.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/nomad-placer/nomad-placer/e2e/browser"
)

func main() {
	out := flag.String("out", "placer/docs/images", "`folder` of the pictures")
	nodes := flag.Int("nodes", 300, "size of the cluster shown")
	serve := flag.Bool("serve", false, "only serve the pages, until it is interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *nodes, *serve); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string, nodes int, serve bool) error {
	address, err := browser.Serve(ctx, browser.Records(nodes))
	if err != nil {
		return err
	}
	if serve {
		fmt.Println(address)
		<-ctx.Done()
		return nil
	}
	report, err := browser.Run(ctx, "screenshots.mjs", address, out)
	fmt.Print(string(report))
	return err
}
