// Package plot draws the two figures of the validation report as SVG text:
// lines over a percent axis, and a heat map. It draws nothing else.
//
// Colours are CSS classes (axis, grid, line s0…s5, dot, band, cell, miss), so
// that the page decides how they look in light and in dark; a heat map's shade
// is an opacity. Numbers are written with one decimal, so that equal data give
// equal bytes.
package plot
