profile {
  seconds_max   = 300
  adaptive      = true
  share         = "all"
  share_between = ["web-dev", "web-prod"]
  ignore_env    = ["RELEASE_ID"]
  keep_days     = 90
  keep_per_job  = 10
}
