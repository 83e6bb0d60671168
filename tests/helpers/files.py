"""Files for a test, written below a folder."""

from pathlib import Path


def fill(folder: Path, files: dict[str, str]) -> Path:
    """Write files (relative path → text) and return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder
