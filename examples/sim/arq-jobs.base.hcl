# The 178 submissions that most scenarios of ARQ have; they differ in arrivals and durations.
base = "arq.base.hcl"

population "arq" {
  classes      = ["ST", "MT", "MP", "IO"]
  platforms    = "published"
  weights      = [29, 22, 350, 12]
  applications = 413
  jobs         = 178
}
