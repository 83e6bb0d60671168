"""The report as data, and its output formats. `formats.py` lists those of `grader check`."""
