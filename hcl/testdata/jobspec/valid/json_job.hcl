{"job": {"x": {"group": {"g": {"meta": {"performance": "…"}}}}}}
