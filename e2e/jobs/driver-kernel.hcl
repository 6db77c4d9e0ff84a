# One interference kernel at a fixed intensity: a noisy neighbour on demand.
# Change it while it runs:
#   nomad alloc exec -task noise ALLOC set 80
#   nomad alloc signal -s SIGUSR1 ALLOC noise       (10 more)
#   nomad alloc signal -s mem_bw=25 ALLOC noise
job "driver-kernel" {
  type = "service"

  group "noise" {
    task "noise" {
      driver = "ibench"

      config {
        kernel {
          source    = "mem_bw"
          intensity = 30
        }
        max_duration = "10m"
      }

      # Buttons on the job's page.
      action "quiet" {
        command = "set"
        args    = ["0"]
      }
      action "loud" {
        command = "set"
        args    = ["100"]
      }

      resources {
        cpu    = 100
        memory = 512
      }
    }
  }
}
