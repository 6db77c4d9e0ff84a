target {
  rate = 2e9
  unit = "instructions"
}
probe "instructions" {
  task = "encoder"
}
