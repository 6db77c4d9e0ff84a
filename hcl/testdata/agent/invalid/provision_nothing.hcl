provision {
  strategy = "HF"
}
