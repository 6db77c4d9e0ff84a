# cache of the front page
// measured by its own counter
/* nothing
   else */

target {
  qps = 20000
}

probe "prometheus" {
  port = "metrics"
  rate = "requests_total"
}
