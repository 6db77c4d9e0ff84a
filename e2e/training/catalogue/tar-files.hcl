application "tar-files" {
  about     = "unpacking and deleting of small files"
  packages  = ["tar"]
  stresses  = ["file metadata", "kernel time"]
  inputs    = ["files.tar"]
  unit      = "rounds of 60 files"
  memory_mb = 128
  disk      = true
  run       = "tar -xf \"$INPUT/files.tar\" && rm -r files"
}
