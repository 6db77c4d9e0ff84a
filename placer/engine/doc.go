// Package engine is the one loop of nomad-placer:
//
//	evaluation → admit → profile → classify → place → rewrite → observe → adapt
//
// It drives whatever world it is given: a live Nomad (nomadapi), a simulated
// cluster, or the in-memory world of its own tests. "Simulated or real" is
// never an if: the engine sees a world through cluster.State, speaks to it
// through cluster.Planner, measures through cluster.Laboratory and
// cluster.Observer, and has no other clock than cluster.Clock.
//
// # What holds at every moment
//
//   - A held job is released at its hold deadline at the latest, under stock
//     rules if need be (WatchDeadlines runs on every replica, leader or not).
//   - A user's newer version always wins: every write is compare-and-set on the
//     version that was decided on, and a stale evaluation is dropped.
//   - The engine may be killed between any two lines. What was learned is in the
//     store before it is used; a profiling run has a deterministic id and is
//     adopted by the next leader; nothing else is kept in memory only.
//   - If a step fails, the job runs where stock Nomad puts it, with the reason
//     written where the user looks.
//
// # Rooms
//
// Each has its own type and lock, and its life drawn in its doc.go. An import goes
// down only:
//
//	engine      run, evaluate, release, watch deadlines
//	adaptation  what runs: measure, judge, change
//	placement   batch, exchange, admissions, evaluations under way
//	profiling   lab, estimator
//	journal     book, decisions, evaluation records, page
//
// # Life of a held job
//
//	held ─▶ Consider ─▶ profiling ─▶ placement ─▶ Apply ─▶ released, observed by adaptation
//	 │         │            │            │ no room: Poll      │ stale, gone: dropped
//	 │         │            └────────────┴─ error, no time ─▶ released under stock rules
//	 └─────────┴── deadline and replicaGrace: any replica releases it
//
// The engine itself remembers only when a job that failed may be tried again (retries, with
// its lock); all else is in the rooms and in the store. What Nomad refuses for good stays
// held, and is tried again every minute.
//
// # Sources
//
// The order of the stages is Delimitrou 2015, §3.2 (Paragon, figure 3.1) and
// §4.2 (Quasar).
//
// # Differences from the paper
//
// Paragon profiles on dedicated machines. We prefer a node without residents
// but use a shared one when there is none, and say so in the decision. Paragon
// draws its two sources at random; we take those that tell most of the others in
// the training set, and fall back to a seeded draw without one. Paragon counts
// ten sources; we count every one that the training set knows and for which some node
// has a kernel (decisions 0004 and 0009). Quasar runs up to four copies side by side;
// the run at a second size waits for its node where no other like it is free, and
// scale-out is not measured (decision 0012).
package engine
