// Package access decides who sees what of an agent: by Nomad's word and by nothing
// else. Every request has a token of Nomad, in a header or by a login; what it may see
// Nomad is asked with that token. There are no users and no policies here.
//
//	everything recorded      read of the placer's Variables, in which it is
//	a job's records          that, or read-job in its namespace
//	lists of jobs            the jobs of which the records may be read
//	a profile                those of all, or of a job that uses it
//	nodes                    node read; of their residents those with read-job
//	what if                  read-job in the job's namespace
//	a decision before        submit-job in the job's namespace
//	registration
//
// Where access control of Nomad is off, nothing is asked for.
//
// Answers are kept for GrantedFor and RefusedFor, at most keptAnswers of them, by a
// hash of the token. Tokens that Nomad does not know cost their source a try, of which
// it has triesBurst and gets triesPerSecond back; other callers may ask a bounded number
// of questions each: an agent is neither an oracle nor an amplifier. While Nomad does
// not answer, what was granted counts to the end of its time, and all else is refused.
//
// A login keeps the token in this process and gives the browser a random name for it.
// The token itself is no cookie: browsers send cookies to every port of a host, so any
// task with a web page on the same machine would get it.
package access
