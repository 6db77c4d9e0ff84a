base   = "pprtte.base.hcl"
title  = "PP-RTTE: deadlines without interference"
source = "Sampaio, Estimating Effective Slowdown of Tasks in Energy-Efficient Cloud Systems, §VI, table I"
notes = [
  "a core stands for 10 Mflop/s: 50 machines of 800 Mflop/s; distributions are chosen for the stated 2.87 tasks per job, 75 % of one task, 4 s between jobs, 3 min typical length and about 150 tasks at once",
  "tasks do not interfere and the meter is exact, so that all three have the same knowledge",
]
