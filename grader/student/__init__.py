"""What students use: check, watch, check() in a notebook, the pytest plugin."""
