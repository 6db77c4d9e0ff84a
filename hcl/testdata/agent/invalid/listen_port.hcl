listen = "localhost:http"
