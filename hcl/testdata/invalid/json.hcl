{"target": {"qps": 5}}
