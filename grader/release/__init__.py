"""`grader release`: the students' kit, and the proof that it gives nothing away.

kit.py decides what belongs to it and fills a folder, wheel.py packs the grader without the instructor's
rooms, proof.py takes the finished folder and tries to find an answer in it. A kit that fails is never seen.
"""
