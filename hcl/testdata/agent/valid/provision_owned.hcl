provision {
  strategy = "SR"
}
