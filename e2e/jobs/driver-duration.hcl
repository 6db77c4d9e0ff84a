# A batch job whose kernels press for a time of their own each; it is complete
# when the last one has ended.
job "driver-duration" {
  type = "batch"

  group "noise" {
    task "noise" {
      driver = "ibench"

      config {
        kernel {
          source    = "int"
          intensity = 10
          duration  = "1s"
        }
        kernel {
          source    = "fp"
          intensity = 10
          duration  = "2s"
        }
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
