# A task that says in its environment that it is another one, from before that one
# started: it waits until alloc/victim names the allocation, and becomes a program with
# that name. An exec probe of the victim must not run in it.
job "driver-impostor" {
  type = "batch"

  group "impostor" {
    task "worker" {
      driver = "exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "until read id <\"$NOMAD_ALLOC_DIR/victim\"; do sleep 0.1; done; exec env NOMAD_ALLOC_ID=$id NOMAD_TASK_NAME=worker sleep 600"]
      }
      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
