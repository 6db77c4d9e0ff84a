// Package nomadvars keeps documents in Nomad Variables: replicated by Raft,
// guarded by ACLs, and there whichever server or placer dies.
//
// A document is one variable at <prefix>/<path> with two items: "encoding" and
// "data". Encoding is "text" for short UTF-8, which a person can read in the
// Nomad UI, "gzip+base64" where that is smaller, and "base64" for the rest. A
// document's index is the variable's ModifyIndex, so compare-and-set is Nomad's
// own.
//
// The token needs read, write, list and destroy on <prefix>/*; a refusal names
// the path and that policy.
//
// # Differences from the paper
//
// No paper describes it: Quasar keeps a hot standby master in step with the
// first (Delimitrou 2015, §4.4); here the cluster manager's own replicated
// state does that.
package nomadvars
