// Package journal keeps what was decided and done: in the store, for people, for
// the pages and for the next leader; and in memory, as far as the next decision
// needs it. All rooms of the engine write through it.
//
//   - Book is the store in the words of package cluster. It has no state.
//   - Decisions are the newest decision of every workload. It owns its lock.
//   - Tracker writes how far the evaluation of one job is. It owns its lock.
//   - Page and Sentence say a decision to people.
//
// # Life of an evaluation's record
//
//	      Begin                  Begin
//	hold ───────▶ profile, classify, place, rewrite ──┐
//	 │                    ▲        │ Progress         │ Begin, with the version written
//	 │                    └────────┘                  ▼
//	 └──────────────────────────────────▶ observe, failed, done
//
// Stages that pass in milliseconds are timed, and not written by themselves.
package journal
