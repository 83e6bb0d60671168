"""A walk through docs/instructor.md with real commands, a real Jupyter server and a real browser."""
