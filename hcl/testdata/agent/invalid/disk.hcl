disk {
  use   = "/srv/uses"
  twins = 3
  limit = true
}
