# Transfers what it holds itself to a running task, which is not started anew: 100 of
# the 200 MHz more that the recipient gets, and 16 MB.
variable "allocation" {
  type = string
}

job "driver-transfer" {
  type = "service"

  group "noise" {
    reschedule {
      attempts  = 0
      unlimited = false
    }
    restart {
      attempts = 0
      mode     = "fail"
    }
    task "noise" {
      driver = "ibench"
      config {
        lend {
          allocation = var.allocation
          task       = "web"
          cpu_mhz    = 200
        }
      }
      resources {
        cpu    = 100
        memory = 16
      }
    }
  }
}
