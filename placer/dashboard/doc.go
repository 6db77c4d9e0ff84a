// Package dashboard serves the placer's records as pages, charts and JSON.
//
// It shows what is recorded and computes nothing: a page, its JSON twin under
// /v1 and the command line print the same Decision. What is not known is shown
// as unknown, never as zero. Pages are rendered on the server, work without
// scripts, load nothing from elsewhere, and carry a strict content security
// policy; the charts are SVG drawn in chart.go.
//
//	/                                  jobs, evaluations under way, nodes × sources
//	/job/<namespace>/<job>/<group>     one decision, with the profile behind it
//	/node/<id>                         one node: room, headroom, residents
//	/chart/<namespace>/<job>/<group>.svg  the small chart on Nomad's own job page
//	/v1/…                              the same records as JSON
//	/metrics, /healthz                 for machines
//
// Links in pages are relative: the handler may be mounted under any path, either
// with Options.Base or with the path taken off by the mount (http.StripPrefix, or
// a proxy). Only the path without its slash at the end needs a redirect.
//
// The theory of the numbers shown is in profiler/interference (scores) and
// placer/policy (D1, D2 and headroom; Delimitrou 2015, §3.4). Headroom of a
// node is the least pressure any resident tolerates, which is what a newcomer
// may cause; its pressure is what the residents cause together, which is what a
// newcomer must stand.
//
// # Differences from the paper
//
// The papers have no user interface.
package dashboard
