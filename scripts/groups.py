"""Print the requirements of dependency groups of pyproject.toml, for a pip that does not support groups."""

import sys
import tomllib
from pathlib import Path


def requirements(groups: dict[str, list], name: str) -> list[str]:
    """Return the requirements of a group and of the groups that it includes."""
    out = []
    for item in groups[name]:
        out += [item] if isinstance(item, str) else requirements(groups, item["include-group"])
    return out


if __name__ == "__main__":
    table = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["dependency-groups"]
    for group in sys.argv[1:]:
        print(" ".join(f"'{item}'" if " " in item else item for item in requirements(table, group)))
