provision {
  strategy     = "HM"
  max_per_hour = 2.5
  retention    = 8

  reserved {
    attribute = "meta.owned"
    value     = "yes"
  }

  instance_type "burst-4" {
    cores          = 4
    memory_mb      = 7500
    price_per_hour = 0.19
    spin_up        = "90s"
    max            = 8
    target         = { aws_asg_name = "burst-4" }
  }

  instance_type "burst-16" {
    node_class     = "c5.4xlarge"
    cores          = 16
    memory_mb      = 30000
    price_per_hour = 0.76
    family         = "compute"
  }

  target_plugin {
    command = "/usr/local/lib/nomad-autoscaler/aws-asg"
    args    = ["-quiet"]
    config  = { "aws_region" = "eu-central-1" }
  }
}
