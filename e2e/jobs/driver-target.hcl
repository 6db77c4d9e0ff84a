# Kernels pressed on another task of the same group: the integer kernel shares
# the CPU reserved for "victim", the memory kernel runs beside it, on the
# node's other CPUs. The second one climbs a ramp; see the task's events.
job "driver-target" {
  type = "service"

  group "pair" {
    task "victim" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "while :; do :; done"]
      }
      resources {
        cores  = 1
        memory = 32
      }
    }

    task "noise" {
      driver = "ibench"
      config {
        target_task = "victim"
        domain      = "auto"
        kernel {
          source    = "int"
          intensity = 20
        }
        kernel {
          source = "mem_bw"
          ramp {
            from  = 0
            to    = 50
            step  = 12.5
            dwell = "2s"
          }
        }
        max_duration = "5m"
      }
      resources {
        cpu    = 100
        memory = 512
      }
    }
  }
}
