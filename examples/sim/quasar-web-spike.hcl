base  = "quasar-web-flat.hcl"
title = "Quasar: web services under a spike, and best-effort work"
notes = [
  "for 20 minutes the load is twice the nominal one, which nobody sized for; the text has a picture only",
  "eight services instead of one; best-effort jobs of 3 to 12 minutes, 5 s apart, are ours",
  "performance is the share of a service's load that was served, of best-effort work that of the ideal",
]

population "services" {
  load_spike = 1
  spike_at   = "1h"
  spike_for  = "20m"

  duration "fixed" {
    value = "2h"
  }
}

population "filler" {
  jobs = 1440
}
