"""The code that runs in the same process as student code. It receives inputs and replies with what it observed.

It has no expected outputs: this package imports no other package of the grader (tests/test_architecture.py checks
this), and its replies hold only observations, such as tensors, numbers, names and exceptions.
"""
