# A web service: 200 requests per second, 99 of 100 answered within 20 ms.
# The server counts its own requests and serves them in Prometheus' format.
job "hello" {
  type = "service"

  group "web" {
    count = 1

    performance {
      target {
        qps = 200
        latency {
          percentile = 99
          max        = "20ms"
        }
      }
      probe "prometheus" {
        port    = "http"
        rate    = "hello_requests_total"
        latency = "hello_request_seconds"
      }
      scale {
        count = [1, 2, 4]
      }
      slowdown_max = "5%"
    }

    network {
      port "http" {}
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/python3"
        args    = ["local/server.py"]
      }
      template {
        destination = "local/server.py"
        data        = <<EOT
import http.server, os, threading, time

BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0]
buckets, total, lock = [0] * (len(BOUNDS) + 1), 0.0, threading.Lock()


def observe(seconds):
    global total
    with lock:
        total += seconds
        buckets[next((i for i, b in enumerate(BOUNDS) if seconds <= b), len(BOUNDS))] += 1


def metrics():
    with lock:
        counts, spent = list(buckets), total
    lines, seen = ["# TYPE hello_request_seconds histogram"], 0
    for bound, count in zip([str(b) for b in BOUNDS] + ["+Inf"], counts):
        seen += count
        lines.append('hello_request_seconds_bucket{le="%s"} %d' % (bound, seen))
    lines += ["hello_request_seconds_sum %f" % spent, "hello_request_seconds_count %d" % seen]
    lines += ["# TYPE hello_requests_total counter", "hello_requests_total %d" % seen]
    return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/metrics":
            return self.answer(metrics())
        start = time.perf_counter()
        self.answer("sum %d\n" % sum(range(20000)))
        observe(time.perf_counter() - start)

    def answer(self, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


port = int(os.environ["NOMAD_PORT_http"])
http.server.ThreadingHTTPServer(("", port), Handler).serve_forever()
EOT
      }
      resources {
        cpu    = 500
        memory = 64
      }
    }
  }
}
