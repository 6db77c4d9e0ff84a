// Package chart draws the charts of the placer's pages, of the simulator's
// reports and of the driver's validation: as SVG text in Go, and in the browser
// by chart.js, which has the same classes, ticks and margins.
//
//	Plot     lines and dots over two axes, with intervals, targets and a legend
//	Bars     horizontal bars with intervals, against a target
//	Track    one bar for a cell of a table; Shares: the parts of a whole
//	Heat     a heat map with names and numbers; Raster: one of many cells
//	Drawing  the elements themselves, for a picture that is none of these
//
// Colours are CSS classes of chart.css, so that a page shows charts in
// light and in dark. A class has the name of what it shows (chart-measured,
// chart-tolerated) or a number; numbered lines differ in their dashes too, so
// that they can be told apart without colour vision. Coordinates are written
// with a tenth of a pixel: equal data give equal bytes.
package chart
