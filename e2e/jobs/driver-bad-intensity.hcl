# Refused when it starts, without restarts: the task's events name the
# attribute (kernel[0].intensity) and its range.
job "driver-bad-intensity" {
  type = "batch"

  group "noise" {
    task "noise" {
      driver = "ibench"
      config {
        kernel {
          source    = "mem_bw"
          intensity = 130
        }
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
