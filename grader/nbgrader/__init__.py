"""Make nbgrader courses and grade them in nbgrader. Needs the extra `instructor`.

Only `grader course` and nbgrader import it.
"""
