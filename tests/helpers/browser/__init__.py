"""Helpers for the test of pages in a browser, and sample reports."""
