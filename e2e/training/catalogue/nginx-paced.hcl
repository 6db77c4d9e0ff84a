application "nginx-paced" {
  about     = "web server that is asked now and then"
  packages  = ["nginx-light"]
  stresses  = ["kernel network"]
  inputs    = ["www"]
  loop      = ["-requests", "http", "-target", "http://127.0.0.1:$APP_PORT/small", "-connections", "4", "-pause", "4ms"]
  unit      = "requests"
  memory_mb = 200
  run = <<-EOT
    mkdir -p tmp
    cat > nginx.conf <<CONF
    daemon off; user root; worker_processes $CORES; pid nginx.pid; error_log stderr crit;
    events { worker_connections 256; }
    http { access_log off; sendfile on; keepalive_requests 1000000000; client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
      server { listen 127.0.0.1:$APP_PORT reuseport; root $INPUT/www; } }
    CONF
    exec /usr/sbin/nginx -p "$PWD" -c nginx.conf -e stderr
  EOT
}
