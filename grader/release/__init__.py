"""`grader release`: the students' kit, and the proof that it gives nothing away.

kit.py compares assignments/ with solutions/, chooses what belongs to the kit and fills a folder. wheels.py packs the
grader without the instructor's packages, and downloads the wheels that it needs. leaks.py proves that the folder holds
no solution. make.py runs these steps, and deletes a kit that fails.
"""
