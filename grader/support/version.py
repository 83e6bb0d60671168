"""The version of this package: the only place that holds it; pyproject.toml reads it from here."""

__version__ = "0.1.0"
