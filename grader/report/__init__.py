"""The report, and its output formats: each file here turns a Report into one of them."""
