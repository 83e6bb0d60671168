"""The language in which `cases.py` describes a case."""
