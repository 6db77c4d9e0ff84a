# A memory bandwidth kernel that waits for orders; knee.sh gives them.
job "memory-knee" {
  type = "service"

  group "noise" {
    task "noise" {
      driver = "ibench"
      config {
        kernel {
          source    = "mem_bw"
          intensity = 0
        }
        max_duration = "10m"
      }
      resources {
        cpu    = 100
        memory = 512
      }
    }
  }
}
