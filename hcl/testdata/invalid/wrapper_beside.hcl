performance {
  target { best_effort = true }
}
policy = "paragon"
scale {
}
