"""Find the line of a mistake: search small edits of the student's own code for one that makes every case pass."""
