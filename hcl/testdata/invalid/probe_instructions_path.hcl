target {
  best_effort = true
}
probe "instructions" {
  path = "/sys/fs/cgroup/nomad.slice"
}
