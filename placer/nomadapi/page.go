package nomadapi

import (
	"strings"
	"unicode/utf8"
)

// Nomad's bound on ui.description, in bytes.
const maxDescriptionBytes = 1000

const (
	// pageMark opens our part of a job's description; ours is always the last
	// part. Nomad's page would show an HTML comment as text, so this is a
	// heading that people may read.
	pageMark = "**Placement by nomad-placer**"
	// pageGap is between the user's text and ours.
	pageGap = "\n\n"
	// minPageBytes is the least of our page worth showing.
	minPageBytes = 80

	linkLabel  = "Placement"
	linkURLKey = "Url" // as the server writes it; it reads any case
	// linkMark makes our link known from one of the same label by the user.
	linkMark = "#placer"
)

// writePage puts our text after the user's own on the job's page, and the link.
func writePage(job object, page, link string) {
	if page == "" && link == "" {
		return
	}
	ui := job.object("UI")
	if ui == nil {
		ui = object{}
	}
	ui["Description"] = joinPage(ui.text("Description"), page)
	if link != "" {
		url, _, _ := strings.Cut(link, "#")
		ui.setList("Links", append(ui.objects("Links"), object{"Label": linkLabel, linkURLKey: url + linkMark}))
	}
	job["UI"] = map[string]any(ui)
}

// joinPage keeps the user's text whole and shortens ours to what is left.
func joinPage(user, page string) string {
	if page == "" {
		return user
	}
	head := pageMark + "\n\n"
	if user != "" {
		head = user + pageGap + head
	}
	room := maxDescriptionBytes - len(head)
	if room < minPageBytes && room < len(page) {
		return user
	}
	return head + shorten(page, room)
}

// shorten cuts s to at most limit bytes, at the end of a line where one is near
// and never inside a character, and shows that it was cut.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	cut := limit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if line := strings.LastIndexByte(s[:cut], '\n'); line > cut/2 {
		cut = line + 1
	}
	return s[:cut] + ellipsis
}

// stripPage removes our part of the page and our link.
func stripPage(job object) {
	ui := job.object("UI")
	if ui == nil {
		return
	}
	if i := strings.Index(ui.text("Description"), pageMark); i >= 0 {
		ui["Description"] = strings.TrimSuffix(ui.text("Description")[:i], pageGap)
	}
	links := ui.objects("Links")
	kept := make([]object, 0, len(links))
	for _, l := range links {
		if l.text("Label") != linkLabel || !strings.HasSuffix(l.text(linkURLKey), linkMark) {
			kept = append(kept, l)
		}
	}
	if len(kept) != len(links) {
		ui.setList("Links", kept)
	}
	if ui.text("Description") == "" && len(kept) == 0 {
		job["UI"] = nil
	}
}
