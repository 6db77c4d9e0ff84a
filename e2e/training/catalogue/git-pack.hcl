application "git-pack" {
  about     = "delta search over a repository"
  packages  = ["git"]
  stresses  = ["cpu", "l2"]
  inputs    = ["repository"]
  unit      = "packs"
  memory_mb = 200
  run       = "cd \"$INPUT/repository\" && git rev-list --objects HEAD | git pack-objects -q --threads=1 --no-reuse-delta --no-reuse-object --stdout > /dev/null"
}
