"""String kernels compared with other programs: gapped k-mers on DNA and proteins, subsequences (strkernels), SMO (LIBSVM), all
substrings.

Each part is a separate page. The sets of FastSK and the Reuters stories are read from the folder that TREILLE_DATA names; install
the other programs with ``pip install '.[test]' strkernels libsvm-official``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from _all_substrings import all_substrings
from _gapped_kmers import gapped_kmers
from _smo import smo
from _subsequence import subsequence

from harness import Page, arguments, installed

PARTS = {
    "gapped_kmers": (gapped_kmers, ()),
    "subsequence": (subsequence, ("strkernels",)),
    "smo": (smo, ("libsvm-official",)),
    "all_substrings": (all_substrings, ()),
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    for part in options.parts:
        run, peers = PARTS[part]
        if not all(map(installed, peers)):
            continue
        page = Page(f"String kernels: {part.replace('_', ' ')}", peers)
        run(page, options.repeats)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
