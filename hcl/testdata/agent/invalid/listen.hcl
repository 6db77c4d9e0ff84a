listen = "9464"
