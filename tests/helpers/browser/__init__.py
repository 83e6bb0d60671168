"""Helpers for tests of pages: a browser, sample reports, nbgrader's pages, and the commands of a document."""
