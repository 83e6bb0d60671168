"""Translation, exceptions, atomic files and clean text."""
