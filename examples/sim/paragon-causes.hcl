base   = "paragon-local-medium.hcl"
title  = "Paragon: what decides, 40 servers, medium load"
source = "Delimitrou 2015, §3.2, §3.4"
notes = [
  "ni knows configurations alone, nh interference alone, least-loaded neither",
  "speeds-exact and scores-exact know the truth of that part, and the rest as Paragon does; oracle all of it",
  "entries are of a row of configurations, and of as many sources; cf is the paper's filtering of plain ratios instead of their logarithms, and mean says of every job what is true of the average one",
  "free-profile has profiles that take no time, free decisions too",
]
policies = [
  "paragon",
  "ni",
  "nh",
  "least-loaded",
  "paragon-speeds-exact",
  "paragon-scores-exact",
  "paragon-oracle",
  "paragon-entries-1",
  "paragon-entries-4",
  "paragon-entries-8",
  "paragon-cf",
  "paragon-mean",
  "paragon-free-profile",
  "paragon-free",
]

policy "paragon-speeds-exact" {
  selector = "paragon"
  exact    = ["speeds"]
}
policy "paragon-scores-exact" {
  selector = "paragon"
  exact    = ["scores"]
}
policy "paragon-entries-1" {
  selector = "paragon"
  entries  = 1
}
policy "paragon-entries-4" {
  selector = "paragon"
  entries  = 4
}
policy "paragon-entries-8" {
  selector = "paragon"
  entries  = 8
}
policy "paragon-cf" {
  selector   = "paragon"
  classifier = "cf"
}
policy "paragon-mean" {
  selector   = "paragon"
  classifier = "mean"
}
policy "paragon-free-profile" {
  selector     = "paragon"
  free_profile = true
}
policy "paragon-free" {
  selector       = "paragon"
  free_profile   = true
  free_decisions = true
}
