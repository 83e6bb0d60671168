"""Right answers to assignment 17, written differently, and answers that compute nothing."""

VARIANTS = []
