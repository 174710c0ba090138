"""A lack of memory raises a MemoryError, nothing is lost, and the process continues."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are those of Linux")

# The limit falls from far above what an operation needs to below it; whatever happens, the process and its data must survive.
CHILD = """
import resource, sys, numpy as np, treille
from treille import SVC, Strings
from treille.kernels import NGram, GappedKmer, Subsequence, Subpath, SubsetTree, AllSubstrings

rng = np.random.default_rng(0)
texts = ["".join(rng.choice(list("abcd"), 400)) for _ in range(150)]
trees = ["(a " + " ".join(f"(b{i % 7} (c{i % 5} d))" for i in rng.integers(0, 99, 40)) + ")" for _ in range(150)]
labels = [i % 2 for i in range(150)]
path = sys.argv[1]
model = SVC(NGram(3), tol=0.1).fit(texts[:20], labels[:20])
model.save(path)
before, known = open(path, "rb").read(), model.predict(texts).tolist()


def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()


def train_and_save():
    SVC(NGram(8, min_n=6), tol=0.5).fit(texts, labels).save(path)


operations = {
    "save": train_and_save,
    "strings": lambda: Strings(texts * 20),
    "gapped": lambda: GappedKmer(6, 4).fit_features(GappedKmer(6, 4).batch(texts)),
    "subsequence": lambda: Subsequence(3)(texts[:25]),
    "substrings": lambda: AllSubstrings(0.5)(texts),
    "paths": lambda: Subpath(0.5)(trees * 10),
    "fragments": lambda: SubsetTree(0.4)(trees[:50]),
    "load": lambda: treille.load(path),
}
operation, refused = operations[sys.argv[2]], 0
free = resource.getrlimit(resource.RLIMIT_AS)
for megabytes in (16, 4, 1, 0):
    resource.setrlimit(resource.RLIMIT_AS, (used() + (megabytes << 20), free[1]))
    try:
        operation()
        done = True
    except MemoryError:
        done, refused = False, refused + 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, free)
    if not done:
        assert open(path, "rb").read() == before, "the older model was lost"
    before = open(path, "rb").read()
    assert model.predict(texts).tolist() == known
operation()
print("refused", refused)
"""


@pytest.mark.parametrize(
    "operation", ["save", "strings", "gapped", "subsequence", "substrings", "paths", "fragments", "load"]
)
def test_a_lack_of_memory_is_a_memory_error_and_loses_nothing(operation, tmp_path):
    run = [sys.executable, "-c", CHILD, str(tmp_path / "model.treille"), operation]
    environment = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(run, capture_output=True, text=True, env=os.environ | environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[1]) > 0 or operation not in ("save", "strings", "gapped")  # others need little
    assert [path.name for path in tmp_path.iterdir()] == ["model.treille"]  # no temporary file is left
