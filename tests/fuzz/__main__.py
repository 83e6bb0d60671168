"""Fuzz the readers for long: `python -m tests.fuzz --minutes 60`; read one input: `--reader source --seed 3`.

With `--record FILE`, a call continues where the last one stopped, and FILE holds the findings of all calls.
"""

import argparse
import json
import sys
from pathlib import Path

from .readers import READERS, read_seed
from .run import Findings, fuzz, recorded


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time for each reader")
    parser.add_argument(
        "--reader", choices=READERS, action="append", help="only this reader; may be repeated"
    )
    parser.add_argument(
        "--seed", type=int, help="only read the input of this seed, in this process and without limits"
    )
    parser.add_argument("--record", type=Path, help="a JSON file with the findings of all calls")
    options = parser.parse_args()
    names = options.reader or list(READERS)
    if options.seed is not None:
        for name in names:
            read_seed(name, options.seed)
        return 0
    found = recorded(options.record)
    for name in names:
        before = found.get(name, Findings())
        found[name] = before + fuzz(name, before.inputs, seconds=60 * options.minutes)
        print(f"{name}: {found[name]}", flush=True)
        for seed, fault in found[name].faults[:10]:
            print(f"  python -m tests.fuzz --reader {name} --seed {seed}\n    {fault}", flush=True)
        if options.record:
            plain = {name: vars(findings) for name, findings in found.items()}
            options.record.write_text(json.dumps(plain, indent=1) + "\n", "utf-8")
    print(f"all readers: {sum(findings.inputs for findings in found.values())} inputs", flush=True)
    return 0 if all(findings.is_clean for findings in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
