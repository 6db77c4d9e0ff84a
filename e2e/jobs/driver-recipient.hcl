# A task that something is lent to while it runs: see driver-lend.hcl.
job "driver-borrower" {
  type = "service"

  group "web" {
    task "web" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["600"]
      }
      kill_signal = "SIGKILL"
      resources {
        cpu    = 200
        memory = 32
      }
    }
  }
}
