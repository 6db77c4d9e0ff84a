# A workload that fails while it is profiled. Nomad then stops the ibench task,
# too; ibench-results/profile.json holds what was measured (exit code 3, or 1 if that is
# nothing) and says why it is not complete as its last warning.
job "driver-profile-crash" {
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
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "n=0; while [ $n -lt 40 ]; do n=$((n+1)); echo done $n; sleep 0.1; done; exit 7"]
      }
      resources {
        cpu    = 100
        memory = 32
      }
    }

    task "ibench" {
      driver = "ibench"
      config {
        profile {
          request = jsonencode({
            format           = 2
            key              = "driver-profile-crash"
            workload         = "default/driver-profile-crash/profile"
            configuration    = "here"
            task             = "worker"
            target           = { kind = "rate", rate = 10, unit = "rounds" }
            probe            = { type = "log", pattern = "done (\\d+)" }
            sources          = ["int"]
            seconds          = 30
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
