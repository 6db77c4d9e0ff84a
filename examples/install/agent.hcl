# The agent's configuration. Every line may be left out; these are the defaults,
# except columns and sources, which are chosen from what the nodes can.
policy    = "expected"
hold      = "5m"
log_level = "info"

pools {
  hold = "placer"
  run  = "default"
}

store "nomad" {
  path = "nomad-placer"
}

profile {
  seconds     = 45
  concurrency = 1
}

# Signs what is asked of the driver: see signers in client.hcl.
# signing_key_file = "/etc/nomad-placer/signing.key"
