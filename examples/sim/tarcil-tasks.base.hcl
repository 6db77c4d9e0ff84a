# Jobs of 20 tasks that arrive by the load.
base = "tarcil.base.hcl"

population "tasks" {
  platforms    = "published"
  applications = 50
  shape        = "tasks"
  tasks        = 20

  arrivals "poisson" {
    by_load = true
  }
}
