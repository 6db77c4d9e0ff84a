package dashboard

import "net/http"

// pageInfo describes one page; its content is templates/<name>.html.
type pageInfo struct {
	name     string
	patterns []string
	label    string // in the navigation, which leads to the first pattern; empty: not there
	render   func(*server, *http.Request) (pageView, error)
}

// pages lists every page, in the order of the navigation. A new page is one
// line here, one page_*.go and one template.
var pages = []pageInfo{
	{"home", []string{"/{$}"}, "Jobs", (*server).home},
	{"heat", []string{"/heat"}, "Heat map", (*server).heat},
	{"targets", []string{"/targets"}, "Targets", (*server).targets},
	{"log", []string{"/log"}, "Decisions", (*server).log},
	{"policies", []string{"/policies"}, "Policies", (*server).policies},
	{"provision", []string{"/provision"}, "Rented nodes", (*server).provisionPage},
	{"traffic", []string{"/traffic"}, "Traffic", (*server).trafficPage},
	{"profiles", []string{"/profiles"}, "Profiles", (*server).profiles},
	{"profile", []string{"/profile/{key}"}, "", (*server).profile},
	// A job whose block could not be read has a record without a group.
	{"job", []string{"/job/{namespace}/{job}/{group}", "/job/{namespace}/{job}/{$}"}, "", (*server).job},
	{"node", []string{"/node/{id}"}, "", (*server).node},
}

// navItem is one link of the navigation.
type navItem struct {
	Label, Path string
	Current     bool
}

// navigation lists the pages that have a label; current is the one shown.
func navigation(current string) []navItem {
	var out []navItem
	for _, p := range pages {
		if p.label == "" {
			continue
		}
		path := p.patterns[0][1:]
		if path == "{$}" {
			path = ""
		}
		out = append(out, navItem{Label: p.label, Path: path, Current: p.name == current})
	}
	return out
}
