application "ruby-hash" {
  about     = "hashes and strings in Ruby"
  packages  = ["ruby"]
  stresses  = ["interpreter", "memory allocation"]
  loop      = ["-lines"]
  unit      = "5,000 entries"
  memory_mb = 128
  tier      = 2
  run = <<-EOT
    exec ruby -e '
    $stdout.sync = true
    loop do
      h = Hash.new(0)
      5000.times { |i| h["k#{i % 977}"] += i }
      $stdout.write("\n")
    end'
  EOT
}
