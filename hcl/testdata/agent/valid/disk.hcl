disk {
  uses  = "/srv/uses"
  twins = "/srv/twins"
}
