// Package proxy is the front door: an HTTP proxy before Nomad's API that makes
// jobs with targets pass through the placer, whoever submits them. The stock
// command line, any API client and the Nomad UI work through it unchanged.
//
// # What it does
//
// Four requests are looked into; everything else passes through unbuffered,
// the event stream, exec's web sockets and the UI included:
//
//   - register (PUT or POST of /v1/jobs and /v1/job/:id): a job with a performance
//     block is registered into the hold pool, and the answer is kept back until
//     the placer has released it. It then names the evaluation of the released
//     version, so that `nomad job run` follows that one and ends with its exit
//     code.
//   - plan (/v1/job/:id/plan): the job is planned as a decision on stored profiles
//     would rewrite it, so that the plan of an unchanged job is empty.
//   - parse (/v1/jobs/parse): performance blocks in a jobspec, which Nomad does not
//     know, become the meta text that it keeps.
//   - validate (/v1/validate/job): what is wrong with performance blocks is added to
//     what Nomad finds.
//
// # Failing open
//
// A job without a performance block passes byte for byte. A job that no placer
// takes up within Options.TakenUpWithin is released by the proxy itself to stock
// rules; a placer that fails costs a line in the answer's warnings, never the
// job. What we cannot read we pass on: Nomad says what is wrong with it. Only a
// performance block that is itself wrong is refused, with file, line and hint,
// before anything is registered.
//
// # Limits
//
// HTTP has no place for progress before an answer, so a user sees nothing for as
// long as the job is held; the placer's pages and `nomad-placer job status` show
// it. A held job has a version of its own in Nomad's history. Requests that do
// not come through the proxy are only advised on.
package proxy
