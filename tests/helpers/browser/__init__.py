"""Helpers for tests with a real browser: sample pages, JupyterLab, and the commands of docs/instructor.md."""
