application "pari-factor" {
  about     = "factoring of integers"
  packages  = ["pari-gp"]
  stresses  = ["integer", "l1"]
  loop      = ["-lines"]
  unit      = "4 numbers"
  memory_mb = 128
  run = <<-EOT
    printf '%s\n' 'setrand(7);' 'v=vector(64,i,nextprime(random(10^12))*nextprime(random(10^13)));' 'k=0;' 'while(1,for(j=1,4,k=k%64+1;factor(v[k]));write1("/dev/stdout","\n"))' > factor.gp
    exec gp -q -f factor.gp < /dev/null
  EOT
}
