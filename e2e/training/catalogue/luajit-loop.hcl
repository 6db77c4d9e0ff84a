application "luajit-loop" {
  about     = "a recurrence in compiled Lua"
  packages  = ["luajit"]
  stresses  = ["floating point latency"]
  loop      = ["-lines"]
  unit      = "2,000,000 steps"
  memory_mb = 64
  run = <<-EOT
    exec luajit -e '
    local x, out = 0.5, io.stdout
    out:setvbuf("line")
    while true do
      for i = 1, 2000000 do x = 3.7 * x * (1 - x) end
      out:write("\n")
    end'
  EOT
}
