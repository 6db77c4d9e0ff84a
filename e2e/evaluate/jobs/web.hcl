# nginx with a small page under open-loop load.
job "web" {
  type = "service"
  [[ .Where ]]

  group "main" {
    count = [[ .Count ]]
    [[ .Performance ]]

    network {
      port "http" {}
      port "metrics" {}
    }

    task "nginx" {
      driver = "raw_exec"
      config {
        command = "/usr/sbin/nginx"
        args    = ["-c", "${NOMAD_TASK_DIR}/nginx.conf", "-g", "daemon off;", "-e", "${NOMAD_TASK_DIR}/error.log"]
      }
      template {
        destination = "local/nginx.conf"
        data        = <<-EOT
          worker_processes 1;
          pid {{ env "NOMAD_TASK_DIR" }}/nginx.pid;
          events { worker_connections 256; }
          http {
            access_log off;
            client_body_temp_path {{ env "NOMAD_TASK_DIR" }}/body;
            proxy_temp_path       {{ env "NOMAD_TASK_DIR" }}/proxy;
            fastcgi_temp_path     {{ env "NOMAD_TASK_DIR" }}/fastcgi;
            uwsgi_temp_path       {{ env "NOMAD_TASK_DIR" }}/uwsgi;
            scgi_temp_path        {{ env "NOMAD_TASK_DIR" }}/scgi;
            server {
              listen 127.0.0.1:{{ env "NOMAD_PORT_http" }};
              location / { return 200 "{{ range loop 16 }}thirty-two bytes of page content{{ end }}"; }
            }
          }
        EOT
      }
      [[ .Run "nginx" ]]
    }

    task "load" {
      driver = "raw_exec"
      config {
        command = "[[ .Bin ]]/workload"
        args = ["load", "-wait", "10s", "-protocol", "http", "-rate", "[[ .Rate ]]", "-connections", "16", "-listen", "127.0.0.1:${NOMAD_PORT_metrics}",
        "http://127.0.0.1:${NOMAD_PORT_http}/"]
      }
      [[ .Run "load" ]]
    }
  }
}
