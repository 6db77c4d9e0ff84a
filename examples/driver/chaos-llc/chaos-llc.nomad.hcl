# Does the service tolerate a neighbour that fills the last-level cache? The kernel
# pauses for ten seconds, climbs to 100 % in steps of 20 %, and leaves after
# two minutes; the service prints how long each request took.
#
#   nomad job run chaos-llc.nomad.hcl
#   nomad alloc logs -f ALLOC service
#   nomad alloc status ALLOC               # the levels, as events of "noise"
#   nomad alloc exec -task noise ALLOC set 0        # enough
job "chaos-llc" {
  type = "service"

  group "service" {
    # Put the service under test here: any driver, any task.
    task "service" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args = ["-c", <<-EOT
          seq 400000 | sort -R > local/rows
          while :; do
            began=$(date +%s%3N)
            sort local/rows > /dev/null
            echo "request took $(($(date +%s%3N) - began)) ms"
          done
          EOT
        ]
      }
      resources {
        cores  = 1
        memory = 128
      }
    }

    task "noise" {
      driver = "ibench"
      config {
        target_task = "service"
        kernel {
          source = "llc_cap"
          ramp {
            from  = 0
            to    = 100
            step  = 20
            dwell = "10s"
          }
          duration = "2m"
        }
        max_duration = "5m"
      }
      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
