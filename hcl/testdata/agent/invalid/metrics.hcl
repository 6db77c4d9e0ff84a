metrics = "loopbak"
