target { rate = 5 }
probe "completion" {}
