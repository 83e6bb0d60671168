"""Many submissions at once: find them, grade them in several processes, store results, sum up a class."""
