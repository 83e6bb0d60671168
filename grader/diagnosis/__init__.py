"""Name the known mistake whose signature matches, or describe the difference."""
