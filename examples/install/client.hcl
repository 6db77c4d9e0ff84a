# The part of a Nomad client's agent file that the placer needs: the ibench
# driver, which lies in the client's plugin_dir, and raw_exec for the agent's own
# job.
plugin "nomad-driver-ibench" {
  config {
    enabled = true

    # What tasks of the driver may do: what the placer asks for. With "kernels",
    # everybody who may submit jobs may put load on this node.
    allow = ["profile", "lend"]

    # The public keys of the agents, as nomad-placer keys generate prints them.
    # Without any, everybody who may submit jobs may ask for both.
    # signers = ["ed25519:…"]
  }
}

plugin "raw_exec" {
  config {
    enabled = true
  }
}
