"""Public sets of trees, skipped where they are missing."""

from collections import Counter

import numpy as np
import pytest
from test_public_sets import need

from public_sets import cslog, inex, kegg_glycan, trec_qc, treebank_sample
from treille import InputError


def test_questions_have_the_published_counts():
    need("trec_qc")
    trees, labels = trec_qc()
    assert Counter(labels) == {"ENTY": 1250, "HUM": 1223, "DESC": 1162, "NUM": 896, "LOC": 835, "ABBR": 86}
    assert len(trees.labels) / len(trees) == pytest.approx(29.7, abs=0.05)
    assert len(set(trec_qc("all", fine=True)[1])) == 50
    assert str(trec_qc("test", "grct")[0][0]).startswith("(SYNT##root")


def test_a_tree_that_questions_do_not_have_is_refused():
    with pytest.raises(InputError, match="trees is 'dep', expected parse, grct, lct or loct"):
        trec_qc(trees="dep")


@pytest.mark.parametrize(
    ("name", "visits", "class_0"), [("cslog1", 8074, 1962), ("cslog2", 7409, 1687), ("cslog12", 13934, 2969)]
)
def test_visits_have_the_published_counts(name, visits, class_0):
    need("cslog")
    trees, labels = cslog(name)
    assert len(trees) == len(labels) == visits
    assert labels.count("0") == class_0
    assert set(trees.labels[trees.offsets[:-1]].tolist()) == {trees.alphabet.index("0")}


def test_documents_have_the_published_counts():
    need("inex")
    trees, labels = inex()
    assert (len(trees), len(set(labels)), len(trees.alphabet)) == (4820, 11, 354)
    assert len(inex("all")[0]) == len(inex("all")[1]) == 4820 + 4811


@pytest.mark.parametrize(("name", "n", "positive"), [("leukemia", 442, 139), ("cystic", 160, 89)])
def test_glycans_have_ten_folds(name, n, positive):
    need("kegg_glycan")
    trees, labels, folds = kegg_glycan(name)
    assert len(trees) == n
    assert Counter(labels)["1"] == positive
    assert np.array_equal(np.unique(folds), np.arange(10))


def test_the_treebank_sample_has_the_published_count():
    need("treebank_sample")
    batch = treebank_sample()
    assert len(batch) == 3914
    assert int((~batch.is_leaf).sum()) == 179_360
    assert len({batch.alphabet[x] for x in batch.labels[~batch.is_leaf]}) == 707
