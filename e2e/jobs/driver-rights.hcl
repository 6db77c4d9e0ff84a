# Tasks of every kind of confinement that a machine without containers has, each with an
# exec probe that tries what the task itself tries: it may do no more. What either may
# is in alloc/task.txt and alloc/probe.txt. The driver exec makes what Docker does, root of
# its own, namespaces, a device filter, and gives its user capabilities of root's.
variable "tries" {
  type = string # the script: its argument names the file
}

variable "only" {
  type    = string # one of the groups; empty is all
  default = ""
}

job "driver-rights" {
  type = "batch"

  dynamic "group" {
    for_each = { for name, how in {
      exec-nobody     = { driver = "exec", user = "nobody" }
      raw-exec-root   = { driver = "raw_exec", user = "root" }
      raw-exec-nobody = { driver = "raw_exec", user = "nobody" }
    } : name => how if var.only == "" || name == var.only }
    iterator = each
    labels   = [each.key]

    content {
      restart {
        attempts = 0
        mode     = "fail"
      }
      reschedule {
        attempts  = 0
        unlimited = false
      }

      task "worker" {
        driver = each.value.driver
        user   = each.value.user
        config {
          command = "/bin/sh"
          args    = ["-c", "${var.tries}\nexec sleep 600", "sh", "task"]
        }
        resources {
          cpu    = 50
          memory = 32
        }
      }

      task "ibench" {
        driver = "ibench"
        leader = true
        config {
          profile {
            request = jsonencode({
              format           = 2
              key              = "driver-rights"
              workload         = "default/driver-rights/${each.key}"
              configuration    = "here"
              task             = "worker"
              target           = { kind = "rate", rate = 100, unit = "rounds" }
              probe            = { type = "exec", command = ["/bin/sh", "-c", "${var.tries}\ndate +%s", "sh", "probe"] }
              sources          = []
              seconds          = 30
              slowdown_percent = 5
              seed             = 1
            })
          }
        }
        resources {
          cpu    = 50
          memory = 128
        }
      }
    }
  }
}
