"""``python -m tests.fuzz --minutes 60``: fuzzes every target for its share of the time; see `--help`."""

import argparse
import sys
import time
from pathlib import Path

from .runner import fuzz
from .targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", help="targets, or beginnings of their names; all if none is given")
    parser.add_argument("--minutes", type=float, default=1.0, help="in all, shared equally by the targets")
    parser.add_argument("--count", type=int, default=1 << 60, help="at most this many inputs per target")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same seed gives the same inputs")
    parser.add_argument("--case", type=int, default=0, help="the first case of each target")
    parser.add_argument("--save", type=Path, default=Path("build/fuzz"), help="folder for inputs that were found")
    parser.add_argument("--list", action="store_true", help="list the targets")
    options = parser.parse_args()
    chosen = {n: t for n, t in TARGETS.items() if not options.names or n.startswith(tuple(options.names))}
    if options.list or not chosen:
        print(*(chosen or TARGETS), sep="\n")
        return 0 if options.list else 2
    print(f"{len(chosen)} targets, {options.minutes:g} minutes, seed {options.seed}", flush=True)
    total = wrong = 0
    for name, make in chosen.items():
        begun = time.monotonic()
        done, findings = fuzz(name, make, 60 * options.minutes / len(chosen), options.seed, options.case, options.count)
        print(f"{name}: {done:,} inputs, {time.monotonic() - begun:.0f} s, {len(findings)} findings", flush=True)
        for finding in findings:
            options.save.mkdir(parents=True, exist_ok=True)
            path = options.save / f"{name}-{options.seed}-{finding.case}"
            path.write_bytes(finding.data)
            print(f"  {path}: case {finding.case}: {finding.detail}\n    {finding.what.strip()[-600:]}", flush=True)
        total, wrong = total + done, wrong + len(findings)
    print(f"{total:,} inputs in all, {wrong} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
