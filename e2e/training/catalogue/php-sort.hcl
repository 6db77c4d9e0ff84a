application "php-sort" {
  about     = "sorting of strings in PHP"
  packages  = ["php8.2-cli"]
  stresses  = ["interpreter", "branch prediction"]
  loop      = ["-lines"]
  unit      = "2,000 strings"
  memory_mb = 128
  tier      = 2
  run = <<-EOT
    exec php -r '
    mt_srand(7); $all = [];
    for ($i = 0; $i < 2000; $i++) $all[] = "key" . mt_rand();
    while (true) { $t = $all; sort($t); fwrite(STDOUT, "\n"); }'
  EOT
}
