package plot

import (
	"fmt"
)

// Heat is a heat map: one square per pair of row and column.
type Heat struct {
	Title   string
	Rows    []string
	Columns []string
	Cells   [][]HeatCell // by row, then column
	Full    float64      // the value of the darkest shade
}

// HeatCell is one square. Its value may be NaN: not known.
type HeatCell struct {
	Value float64
	Class string // "miss" is outlined
	Note  string // shown by the browser on hovering
}

// The layout of a heat map in pixels.
const (
	heatCell   = 34
	heatLeft   = 92
	heatTop    = 92
	heatMargin = 8
)

// SVG draws the map.
func (h Heat) SVG() string {
	d := newDrawing(heatLeft+len(h.Columns)*heatCell+heatMargin, heatTop+len(h.Rows)*heatCell+heatMargin, h.Title)
	for j, name := range h.Columns {
		d.add(`<text class="label" transform="translate(%s %d) rotate(-55)">%s</text>`,
			num(heatLeft+(float64(j)+0.55)*heatCell), heatTop-6, escape(name))
	}
	for i, name := range h.Rows {
		d.text(heatLeft-6, heatTop+(float64(i)+0.6)*heatCell, "end", name)
		for j, cell := range h.Cells[i] {
			h.square(d, heatLeft+j*heatCell, heatTop+i*heatCell, cell)
		}
	}
	return d.done()
}

func (h Heat) square(d *drawing, x, y int, c HeatCell) {
	d.add(`<g><title>%s</title>`, escape(c.Note))
	defer d.add(`</g>`)
	if !finite(c.Value) {
		d.add(`<rect class="cell unknown" x="%d" y="%d" width="%d" height="%d"/>`, x, y, heatCell-2, heatCell-2)
		return
	}
	shade := min(1, max(0, c.Value/h.Full))
	d.add(`<rect class="cell" x="%d" y="%d" width="%d" height="%d" fill-opacity="%.2f"/>`, x, y, heatCell-2, heatCell-2, shade)
	if c.Class != "" {
		d.add(`<rect class="mark %s" x="%d" y="%d" width="%d" height="%d"/>`, escape(c.Class), x+1, y+1, heatCell-4, heatCell-4)
	}
	d.text(float64(x)+heatCell/2-1, float64(y)+heatCell/2+3, "middle", fmt.Sprintf("%.0f", max(0, c.Value)))
}
