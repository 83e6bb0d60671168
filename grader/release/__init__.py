"""`grader release`: the students' kit, and the proof that it gives nothing away.

kit.py chooses what belongs to the kit and fills a folder; up_to_date.py compares assignments/ with solutions/ first.
wheel.py packs the grader without the instructor's packages. colab.py and wheelhouse.py add optional parts. proof.py
compares the filled folder with its sources; leaks.py searches its files for solutions. make.py runs these steps and
deletes a kit that fails. alternative_solutions.py writes a page of answers, which is no part of a kit.
"""
