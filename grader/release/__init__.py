"""`grader release`: the students' kit, and the proof that it gives nothing away.

kit.py chooses what belongs to the kit and fills a folder. wheel.py packs the grader without the instructor's
packages. proof.py looks for answers in the filled folder. make.py runs these steps and deletes a kit that
fails.
"""
