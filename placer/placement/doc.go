// Package placement decides where jobs go: those that wait at the same time together,
// on one look at the cluster.
//
//   - Placer decides. It owns the batch that waits and the plans in flight, with its
//     lock, and a lock from snapshot to plan.
//   - Admissions are decisions before registration. They own their lock.
//   - Evaluations says which jobs are worked on, so that a job is written only by the
//     one that decides on it. It owns its lock.
//
// # Life of a decision
//
//	waiting ─▶ decided ─▶ decided again ─▶ swapped ─▶ in flight ─▶ written: the world knows
//	   │  ▲       │                                      │
//	   │  └─ no room: Queued                             └──────▶ failed: void
//	   └──▶ dropped: its caller has left
//
// # Life of an admission
//
//	begun ─▶ decided ─▶ registered: Take, Conclude
//	  │         └─────▶ expired after admissionFor: void
//	  └──▶ ErrMustBeHeld: it passes the hold pool
//
// # Life of an evaluation
//
//	free ─▶ under way ─▶ done with an index: older versions need nothing
//	  ▲         │
//	  └─────────┘ failed, or a newer held version came: cancelled
package placement
