# The target forks, and ends half-way up the ramp: the kernel goes on pressing
# on the CPUs of what was forked, and ends with the last of it.
job "driver-target-exits" {
  type = "batch"

  group "pair" {
    restart {
      attempts = 0
      mode     = "fail"
    }

    task "victim" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "for i in 1 2 3 4; do sh -c 'sleep 1; :' & wait; done"]
      }
      resources {
        cpu    = 50
        memory = 32
      }
    }

    task "noise" {
      driver = "ibench"
      config {
        target_task = "victim"
        kernel {
          source = "int"
          ramp {
            from  = 0
            to    = 20
            step  = 1
            dwell = "2s"
          }
        }
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
