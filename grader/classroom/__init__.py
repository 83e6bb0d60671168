"""Many submissions at once: find them, grade them in several processes, keep every result, sum up a class."""
