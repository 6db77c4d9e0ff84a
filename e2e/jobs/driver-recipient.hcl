# A task whose reservation grows by a transfer while it runs: see driver-transfer.hcl.
job "driver-recipient" {
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
