package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// sectionMark opens and closes the section of one size, and one way into the placer, in
// the document.
const sectionMark = "<!-- scale %s %s -->\n"

const documentHead = `# Scale

A real Nomad server, light nodes and one agent on one machine; what is measured and what is not real is described in
[e2e/scale](../../e2e/scale/doc.go). Each section is written by the command in it with ` + "`-markdown`" + `.

`

// writeReport puts a section into a document in the place of the earlier one of
// its name, or at its end.
func writeReport(file, name, section string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(documentHead), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(withSection(string(text), name, section)), 0o644)
}

func withSection(text, name, section string) string {
	open, end := fmt.Sprintf(sectionMark, name, "begin"), fmt.Sprintf(sectionMark, name, "end")
	section = open + section + end
	from, to := strings.Index(text, open), strings.Index(text, end)
	if from < 0 || to < from {
		return strings.TrimRight(text, "\n") + "\n\n" + section
	}
	return text[:from] + section + text[to+len(end):]
}
