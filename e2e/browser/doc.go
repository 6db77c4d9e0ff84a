// Package browser drives the distribution's Chromium over web pages: the
// placer's own, served here from fixed records, and Nomad's, for other tests.
//
// The scripts are *.mjs next to this file and need `npm ci` (make setup):
//
//	page.mjs         reads one page; used by tests on a real Nomad
//	dashboard.mjs    walks the placer's pages: console, policy, axe-core, heat map, frames
//	screenshots.mjs  takes the pictures of the guide (make screenshots)
package browser
