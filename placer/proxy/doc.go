// Package proxy is an HTTP proxy before Nomad's API that makes
// jobs with targets pass through the placer, whoever submits them. The stock
// command line, any API client and the Nomad UI work through it unchanged.
//
// # What it does
//
// Four requests are looked into, and the UI's page; everything else passes
// through unbuffered, the event stream and exec's web sockets included:
//
//   - register (PUT or POST of /v1/jobs and /v1/job/:id): a job with a performance
//     block that the placer can decide on at once (Placer.Admit) is registered as it
//     will run. Any other is registered into the hold pool. With Options.Progress the answer comes
//     at once, and names the held version's evaluation, which then tells the
//     progress and leads to the released version's; without it the answer is kept
//     back until the release, and names the released version's. Either way `nomad
//     job run` follows that one and ends with its exit code.
//   - plan (/v1/job/:id/plan): the job is planned as a decision on stored profiles
//     would rewrite it, so that the plan of an unchanged job is empty.
//   - parse (/v1/jobs/parse): performance blocks in a jobspec, which Nomad does not
//     know, become the meta text that it keeps.
//   - validate (/v1/validate/job): what is wrong with performance blocks is added to
//     what Nomad finds.
//
// # The placement tab
//
// The UI's page gets two tags (inject.go), if its content security policy allows
// them as it is (csp.go); what they load (assets, served by tab.go) adds a tab to
// job and client pages. Its records come in one answer (tabrecords.go) from the
// agent's pages, which are also served whole under PagesPath (pages.go). Every
// request for records is first made to Nomad, with the user's token, for the job
// or node it is about: whoever may not read that gets Nomad's refusal.
//
// # Failing open
//
// A job without a performance block passes byte for byte. A job that no placer
// takes up within Options.TakenUpWithin, or whose hold deadline passes behind an
// agent that died, is released by the proxy itself to stock rules; a placer that
// fails costs a line in the answer's warnings, never the job. What we cannot read
// we pass on: Nomad says what is wrong with it. Only a performance block that is
// itself wrong is refused, with file, line and hint, before anything is
// registered. A page that cannot be given the tab passes as it came.
//
// # Limits
//
// The progress is reported by the proxy that took the registration, and to clients
// that ask through it. A held job has a version of its own in Nomad's history.
// Requests that do not come through the proxy are only advised on. A co-runner is
// named in a decision to whoever may read the job that was placed.
//
// placer/docs/proxy.md is the page for operators.
package proxy
