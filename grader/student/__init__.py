"""The student's side: check, watch, check() in a notebook, the pytest plugin."""
