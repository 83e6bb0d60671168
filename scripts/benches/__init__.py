"""The measurements behind docs/benchmarks.md."""
