# max_duration is the hard end of a task, whatever its kernels were told.
job "driver-max-duration" {
  type = "batch"

  group "noise" {
    task "noise" {
      driver = "ibench"

      config {
        kernel {
          source    = "int"
          intensity = 10
          duration  = "1h"
        }
        max_duration = "1s"
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
