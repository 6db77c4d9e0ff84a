# A profiling run written by hand: the placer makes such jobs by itself. The
# worker prints a growing count; the ibench task finds it on its node, presses
# on it, and leaves ibench-results/profile.json:
#   nomad alloc fs ALLOC ibench-results/profile.json
job "driver-profile" {
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
        args    = ["-c", "n=0; while :; do i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; n=$((n+1)); [ $((n % 10)) = 0 ] && echo done $n; done"]
      }
      resources {
        cpu    = 500
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
            key              = "driver-profile"
            workload         = "default/driver-profile/profile"
            configuration    = "here"
            task             = "worker"
            tasks            = ["worker"]
            target           = { kind = "rate", rate = 100, unit = "rounds" }
            probe            = { type = "log", pattern = "done (\\d+)" }
            sources          = ["int", "mem_bw"]
            seconds          = 40
            slowdown_percent = 5
            seed             = 1
          })
        }
      }
      resources {
        cpu    = 200
        memory = 512
      }
    }
  }
}
