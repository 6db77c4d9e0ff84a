# A kernel that climbs by itself; each level is one of the task's events:
#   nomad alloc status ALLOC
# Another ramp while it runs:
#   nomad alloc exec -task noise ALLOC ramp 40 0 10 1s
job "driver-ramp" {
  type = "service"

  group "noise" {
    task "noise" {
      driver = "ibench"

      config {
        kernel {
          source = "int"
          ramp {
            from  = 0
            to    = 20
            step  = 10
            dwell = "1s"
          }
        }
        max_duration = "5m"
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
