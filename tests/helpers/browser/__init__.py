"""Run the commands of docs/instructor.md, with a real Jupyter server and a real browser."""
