# A kernel on the disk of a directory. It works on an unlinked file of its own,
# of max_bytes at most, and leaves disk_reserve_mb of the plugin free.
variable "path" {
  type    = string
  default = ""
}

job "driver-storage" {
  type = "service"

  group "noise" {
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
        kernel {
          source    = "storage_bw"
          intensity = 10
          path      = var.path
          max_bytes = 32 * 1024 * 1024
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
