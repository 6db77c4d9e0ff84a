disk {
  uses  = "/srv/uses"
  twins = "/srv/twins"
  limit = "all"
  data  = "/var/lib/nomad/alloc"
}
