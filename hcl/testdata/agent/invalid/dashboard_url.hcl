dashboard_url = "placer.example"
