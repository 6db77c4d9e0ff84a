package chart

import (
	"embed"
	"html/template"
	"io/fs"
	"regexp"
	"strings"
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

// Standalone is a drawing as a file of its own, which a page shows as a picture: it brings its
// style, in the colours of a light page, and has that page behind it.
func Standalone(svg template.HTML) string {
	css := colourPattern.ReplaceAllString(style, "--chart-$1: $2")
	head := `<style>` + css + `</style><rect width="100%" height="100%" fill="` + Light("page") + `"/>`
	text := strings.Replace(string(svg), "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
	if i := strings.Index(text, ">"); i >= 0 {
		text = text[:i+1] + head + text[i+1:]
	}
	return text + "\n"
}
