"""Judge an observation against a recorded case. Pure functions of data; no student code, no torch.

A judge takes (check, case, observation) and returns a Finding, or raises `Wrong` with one. Its docstring says when the
check passes; names in backticks such as `tol` are keys of `check.params`; `of` is `check.of`. To add a judge, write a
function with the decorator `judge` in a file of this folder, and the sentences of its findings in
grader/report/sentences.py; a case asks for it with `Case.check`.
"""
