"""Commands that need solutions/; not part of the student kit."""
