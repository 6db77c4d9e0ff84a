application "lua-tables" {
  about     = "tables and strings in interpreted Lua"
  packages  = ["lua5.4"]
  stresses  = ["interpreter", "memory allocation"]
  loop      = ["-lines"]
  unit      = "5,000 entries"
  memory_mb = 64
  tier      = 2
  run = <<-EOT
    exec lua5.4 -e '
    local out = io.stdout
    out:setvbuf("line")
    while true do
      local t = {}
      for i = 1, 5000 do t["k" .. i % 977] = (t["k" .. i % 977] or 0) + i end
      out:write("\n")
    end'
  EOT
}
