package chart

import (
	"embed"
	"html/template"
	"io/fs"
	"regexp"
	"sync"
)

//go:embed chart.css
var style string

//go:embed chart.css chart.js
var assets embed.FS

// Assets are chart.css and chart.js, for a server of pages.
func Assets() fs.FS { return assets }

// CSS is chart.css, for a page that loads nothing.
func CSS() template.CSS { return template.CSS(style) } //nolint:gosec // our own file

var colourPattern = regexp.MustCompile(`--chart-([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`)

// light are the colours of chart.css on a light page, by name.
var light = sync.OnceValue(func() map[string]string {
	colours := map[string]string{}
	for _, m := range colourPattern.FindAllStringSubmatch(style, -1) {
		colours[m[1]] = m[2]
	}
	return colours
})

// Light is a colour of chart.css by its name, as it is on a light page: for a
// picture that another site shows, where no style sheet reaches it.
func Light(name string) string { return light()[name] }
