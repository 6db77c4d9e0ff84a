provision {
  strategy = "HN"
  mapping  = "P9"
}
