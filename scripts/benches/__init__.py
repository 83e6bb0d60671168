"""The measurements behind docs/benchmarks.md, one file each."""
