"""Fuzz the readers for long: `python -m tests.fuzz --minutes 60`, or one input: `--reader source --seed 123`."""

import argparse
import sys

from .readers import READERS, one
from .run import fuzz


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time for each reader")
    parser.add_argument(
        "--reader", choices=READERS, action="append", help="only this reader; may be repeated"
    )
    parser.add_argument("--seed", type=int, help="read the input of one seed in this process, without limits")
    parser.add_argument("--first", type=int, default=0, help="the seed to start from")
    options = parser.parse_args()
    names = options.reader or list(READERS)
    if options.seed is not None:
        for name in names:
            one(name, options.seed)
        return 0
    clean = True
    for name in names:
        findings = fuzz(name, options.first, seconds=60 * options.minutes)
        print(f"{name}: {findings}", flush=True)
        for seed, fault in findings.faults[:10]:
            print(f"  python -m tests.fuzz --reader {name} --seed {seed}\n    {fault}", flush=True)
        clean = clean and findings.is_clean
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
