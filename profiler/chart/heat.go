package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Heat is a heat map of named rows and columns, with its numbers.
type Heat struct {
	Label         string // what it shows, for those who cannot see it
	Rows, Columns []string
	Cells         [][]Cell // by row, then column
	Full          float64  // the value of the darkest shade
	Unit          string
}

// Cell is one square of a heat map.
type Cell struct {
	Value   float64 // NaN: not known
	Flagged bool    // outlined
	Note    string  // shown on hovering
}

// The layout of heat maps in pixels.
const (
	heatCell  = 34
	keyCell   = 20
	keyHeight = 26
	keyShades = 6
)

// SVG draws the map.
func (h Heat) SVG() template.HTML {
	names := 0.0
	for _, name := range append(h.Rows, h.Columns...) {
		names = max(names, textWidth(name))
	}
	edge := math.Ceil(names) + 2*gap
	full := Number(h.Full) + h.Unit
	width := max(int(edge)+len(h.Columns)*heatCell, int(edge+textWidth(full))+keyShades*keyCell) + gap
	bottom := int(edge) + len(h.Rows)*heatCell + gap
	d := NewDrawing(width, bottom+keyHeight, h.Label, Class("chart-svg"))
	for j, name := range h.Columns {
		x, y := px(edge+(float64(j)+0.55)*heatCell), px(edge-6)
		d.Text(0, 0, name, Class("chart-name"), Attr{"transform", "translate(" + x + " " + y + ") rotate(-55)"})
	}
	for i, name := range h.Rows {
		d.Text(edge-6, edge+(float64(i)+0.6)*heatCell, name, Class("chart-name"), anchored("end"))
		for j, c := range h.Cells[i] {
			h.square(d, edge+float64(j)*heatCell, edge+float64(i)*heatCell, c)
		}
	}
	key(d, edge, float64(bottom), full)
	return d.SVG()
}

func (h Heat) square(d *Drawing, x, y float64, c Cell) {
	const side = heatCell - 2
	if !finite(c.Value) {
		d.Rect(x, y, side, side, c.Note, Class("chart-shade chart-unknown"))
		return
	}
	d.Rect(x, y, side, side, c.Note, Class("chart-shade"), opacity(c.Value/h.Full))
	if c.Flagged {
		d.Rect(x+1, y+1, side-2, side-2, "", Class("chart-flag"))
	}
	d.Text(x+side/2, y+side/2+4, fmt.Sprintf("%.0f", max(0, c.Value)), Class("chart-number"), anchored("middle"))
}

// opacity is how strong the shade of a share is.
func opacity(share float64) Attr {
	return Attr{"fill-opacity", fmt.Sprintf("%.2f", min(1, max(0, share)))}
}

// key says which shade is how much.
func key(d *Drawing, x, y float64, full string) {
	d.Text(x-6, y+15, "0", Class("chart-tick"), anchored("end"))
	for i := range keyShades {
		d.Rect(x+float64(i)*keyCell, y+5, keyCell, 12, "", Class("chart-shade"), opacity(float64(i)/(keyShades-1)))
	}
	d.Text(x+keyShades*keyCell+6, y+15, full, Class("chart-tick"))
}

// Raster is a heat map of many cells, without names and numbers.
type Raster struct {
	Label         string // what it shows, for those who cannot see it
	Title         string // below it
	Width, Height int
	Cells         [][]float64 // by row, from 0 to 1
}

// rasterShades is how many shades a raster has.
const rasterShades = 20

// SVG draws one path for each shade.
func (r Raster) SVG() template.HTML {
	const left, top = 10, 10
	right, bottom := float64(r.Width)-14, float64(r.Height)-keyHeight-4
	edge := func(low, high float64, i, n int) string { return px(low + (high-low)*float64(i)/float64(n)) }
	var shades [rasterShades + 1]strings.Builder
	for i, row := range r.Cells {
		y0, y1 := edge(top, bottom, i, len(r.Cells)), edge(top, bottom, i+1, len(r.Cells))
		for from := 0; from < len(row); {
			to := from + 1
			for to < len(row) && rasterShade(row[to]) == rasterShade(row[from]) {
				to++
			}
			x0, x1 := edge(left, right, from, len(row)), edge(left, right, to, len(row))
			fmt.Fprintf(&shades[rasterShade(row[from])], "M%s %sH%sV%sH%sz", x0, y0, x1, y1, x0)
			from = to
		}
	}
	d := NewDrawing(r.Width, r.Height, r.Label, Class("chart-svg"))
	for i := 1; i <= rasterShades; i++ {
		if shades[i].Len() > 0 {
			d.Path(shades[i].String(), "", Class("chart-raster"), opacity(float64(i)/rasterShades))
		}
	}
	d.Line(left, bottom, right, bottom, "", Class("chart-axis"))
	d.Text(left, bottom+18, r.Title, Class("chart-tick"))
	key(d, right-keyShades*keyCell-48, bottom+3, "100 %")
	return d.SVG()
}

func rasterShade(share float64) int { return int(math.Round(rasterShades * min(1, max(0, share)))) }
