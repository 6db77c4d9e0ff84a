base  = "quasar-web-flat.hcl"
title = "Quasar: web services under a load that swings, and best-effort work"
notes = [
  "a sine of an hour and half the load; the text has a picture only",
  "eight services instead of one; best-effort jobs of 3 to 12 minutes, 5 s apart, are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]

population "services" {
  load_swing  = 0.5
  load_period = "1h"
}
