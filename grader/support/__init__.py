"""Small helpers for the other packages: translation, exceptions, files and folders, source code, clean text."""
