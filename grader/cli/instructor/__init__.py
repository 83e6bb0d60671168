"""Commands for instructors and maintainers; not part of the student kit."""
