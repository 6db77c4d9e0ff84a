# A task with a CPU of its own: no kernel of another allocation runs there, also
# not one that was there before.
job "driver-reserved" {
  type = "service"

  group "quiet" {
    task "quiet" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["600"]
      }
      kill_signal = "SIGKILL"
      resources {
        cores  = 1
        memory = 32
      }
    }
  }
}
