"""Headway: exercises on attention and Transformers, and a grader that says which mistake it is."""

__version__ = "0.1.0"
