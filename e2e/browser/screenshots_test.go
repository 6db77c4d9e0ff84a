//go:build e2e

package browser

import (
	"flag"
	"path/filepath"
	"testing"
)

var screenshots = flag.String("screenshots", "", "keep the pictures of the guide in this `folder` (make screenshots)")

// shownNodes is the size of the cluster on the pictures.
const shownNodes = 300

// TestScreenshots takes the pictures of placer/docs/dashboard.md; the script
// fails where one is too large for the repository.
func TestScreenshots(t *testing.T) {
	folder := *screenshots
	if folder == "" {
		folder = t.TempDir()
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	address, err := serve(t.Context(), fixedRecords(shownNodes))
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t.Context(), "screenshots.mjs", address, folder)
	t.Logf("\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
