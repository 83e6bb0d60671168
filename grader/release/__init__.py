"""`grader release` and `grader start`: the course for students, and for a class the proof that it gives nothing away.

folder.py fills a folder with the course. wheels.py packs the grader for it, without the instructor's packages, and
downloads the wheels that it needs. kit.py compares assignments/ with solutions/ and chooses what belongs to a kit.
leaks.py proves that the folder holds no solution. make.py runs these steps, and deletes a kit that fails.
"""
