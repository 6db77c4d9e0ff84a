provision {
  strategy = "SR"
  target_plugin {
    command = "aws-asg"
    config  = ["eu-central-1"]
  }
}
