# Mistakes that the driver refuses with a reason in the task's events: give one
# of the variables a wrong value. What cannot change by itself is not tried
# again; a full disk or a peer that is away is, within the restart block.
variable "source" {
  type    = string
  default = "int"
}
variable "intensity" {
  type    = number
  default = 10
}
variable "variant" {
  type    = string
  default = ""
}
variable "path" {
  type    = string
  default = ""
}
variable "peer" {
  type    = string
  default = ""
}
variable "domain" {
  type    = string
  default = "auto"
}
variable "max_duration" {
  type    = string
  default = "1m"
}
variable "config_version" {
  type    = number
  default = 1
}

job "driver-bad-config" {
  type = "batch"

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
          source    = var.source
          intensity = var.intensity
          variant   = var.variant
          path      = var.path
          peer      = var.peer
        }
        domain         = var.domain
        max_duration   = var.max_duration
        config_version = var.config_version
      }

      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
