disk {
  use   = "/srv/uses"
  twins = 3
}
