# A profiling run of a task in a file system of its own (driver "exec"), read
# by the exec probe: the command runs inside the task's root, as its user.
job "driver-profile-exec" {
  type = "batch"

  group "profile" {
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }

    task "worker" {
      driver = "exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "n=0; while :; do i=0; while [ $i -lt 200 ]; do i=$((i+1)); done; n=$((n+1)); echo $n > /local/count.new; mv /local/count.new /local/count; done"]
      }
      resources {
        cores  = 1
        memory = 64
      }
    }

    task "ibench" {
      driver = "ibench"
      leader = true
      config {
        profile {
          request = jsonencode({
            format           = 2
            key              = "driver-profile-exec"
            workload         = "default/driver-profile-exec/profile"
            configuration    = "here"
            task             = "worker"
            target           = { kind = "rate", rate = 100, unit = "rounds" }
            probe            = { type = "exec", command = ["cat", "/local/count"] }
            sources          = []
            seconds          = 8
            slowdown_percent = 5
            seed             = 1
          })
        }
      }
      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
