"""Parts whose features would take more memory than is allowed are divided, by what the features of some examples take."""

import subprocess
import sys

import numpy as np
import pytest
from small_parts import divided, some_texts

from treille import SVC, DataWarning, InputError
from treille.kernels import GappedKmer, NGram
from treille.scale import Parts, counting
from treille.scale.folder import Folder
from treille.spaces import footprint

X, y = some_texts()


@pytest.fixture
def large(monkeypatch):
    """Features of 10 MB each, so that 40 of them are too many for a part."""
    monkeypatch.setattr(footprint, "PER_FEATURE", 10**7)
    monkeypatch.setattr(counting, "PER_FEATURE", 10**7)


def test_a_part_with_many_features_is_divided_and_the_optimum_is_the_same(large):
    kernel, weights = NGram(2).weighted("idf").normalized(), np.linspace(0.5, 2.0, len(X))
    whole = SVC(kernel, tol=1e-9).fit(X, y, weights)
    parts = SVC(kernel, tol=1e-9).fit(divided(X, y, 60, weights))
    assert ", 2 parts" not in parts.plan_.sizes
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-6)


def test_a_part_that_fits_is_not_divided():
    assert ", 2 parts" in SVC(NGram(2)).fit(divided(X, y, 60)).plan_.sizes


def test_labels_and_weights_of_a_divided_part_are_validated_as_a_whole(large):
    with pytest.raises(InputError, match="part 0: there are 60 examples but 61 labels"):
        SVC(NGram(2)).fit(Parts.of([(X[:60], y[:61])]))
    with pytest.raises(InputError, match=r"part 0: sample_weight has the shape \(59,\), expected \(60,\)"):
        SVC(NGram(2)).fit(Parts.of([(X[:60], y[:60], np.ones(59))]))


def test_counting_continues_within_a_divided_part(large, monkeypatch, tmp_path):
    whole = SVC(NGram(2), tol=1e-9).fit(X, y)
    check, done = counting._check_memory, []

    def stop(counted, part):
        check(counted, part)
        done.append(len(counted))
        if len(done) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Folder, "due", lambda self: True)
    monkeypatch.setattr(counting, "_check_memory", stop)
    with pytest.raises(KeyboardInterrupt):
        SVC(NGram(2), tol=1e-9).fit(divided(X, y, 60, checkpoint=tmp_path / "run"))
    assert done[2] not in (60, 120)  # saved in the middle of a part
    model = SVC(NGram(2), tol=1e-9).fit(divided(X, y, 60, checkpoint=tmp_path / "run"))
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-6)


SCRIPT = """
import resource, sys
import numpy as np
import treille
from treille.kernels import GappedKmer
from treille.scale import Parts

letters = np.array(list("ACGT"))[np.random.default_rng(0).integers(4, size=(4000, 200))]
texts = ["".join(row) for row in letters]
parts = Parts.of([(texts, np.arange(4000) % 2)], memory="700MB")
model = treille.SVC(GappedKmer(10, 6, skip="N", reverse_complement=True).normalized(), tol=0.5).fit(parts)
print(model.plan_.sizes, file=sys.stderr)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in kilobytes on Linux")
def test_gapped_k_mers_keep_to_the_memory_that_is_allowed():
    """In one part, the rows alone take 610 MB."""
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 700e6, found.stderr


def test_rows_that_do_not_fit_in_memory_are_refused_before_they_are_counted(monkeypatch):
    monkeypatch.setattr(footprint, "available_memory", lambda: 10**6)
    texts = ["".join(row) for row in np.array(list("ACGT"))[np.random.default_rng(0).integers(4, size=(1000, 30))]]
    with pytest.raises(
        InputError, match=r"of 1,000 examples would take about .* MB, .* train in parts, with --memory on the"
    ):
        SVC(GappedKmer(10, 6)).fit(texts, np.arange(1000) % 2)


def test_dna_in_parts_is_recognised_by_the_first_part():
    texts = ["".join(row) for row in np.array(list("acgt"))[np.random.default_rng(0).integers(4, size=(40, 30))]]
    with pytest.warns(
        DataWarning, match="are those of DNA, and no kernel is given: .* Write X = treille.dna.X. to say so"
    ):
        model = SVC().fit(divided(texts, np.arange(40) % 2))
    assert model.reading_ == {"alphabet": "dna"}
    assert model.predict([text.upper() for text in texts]).tolist() == model.predict(texts).tolist()
