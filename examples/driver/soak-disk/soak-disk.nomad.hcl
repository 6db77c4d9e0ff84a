# Nearly an hour of reads from a disk at 60 % of its bandwidth, from an unlinked file of
# 256 MiB that goes with the kernel, however that ends.
#
#   nomad job run -var path=/srv/data soak-disk.nomad.hcl
#   nomad alloc exec -task noise ALLOC stats
#   nomad alloc exec -task noise ALLOC pause          # and resume
variable "path" {
  type        = string
  default     = ""
  description = "a directory on the disk, at or below the storage_dir of the plugin; empty is that, or the task's own directory"
}

job "soak-disk" {
  type = "batch"

  group "noise" {
    task "noise" {
      driver = "ibench"
      config {
        kernel {
          source    = "storage_bw"
          intensity = 60
          path      = var.path
          max_bytes = 256 * 1024 * 1024
          duration  = "59m"
        }
        max_duration = "1h"
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
