profile {
  share        = "everybody"
  keep_days    = 0
  keep_per_job = 1.5
  ignore_env   = "BUILD_ID"
}
