"""The measurements behind docs/benchmarks.md, one file each. They share `measure.py` and `nine.py`."""
