# Two kernels of one source on the same CPUs: the second is refused and names the
# first, unless allow_pair is true.
variable "allow_pair" {
  type    = bool
  default = false
}

job "driver-pair" {
  type = "service"

  group "pair" {
    count = 2

    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "noise" {
      driver = "ibench"
      config {
        allow_pair = var.allow_pair
        kernel {
          source    = "int"
          intensity = 5
        }
        max_duration = "5m"
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
