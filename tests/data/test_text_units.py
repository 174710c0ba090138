"""Units with modifiers, and characters that stop at word borders: against regular expressions and scikit-learn."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import treille
from treille import Features, InputError, Lattices, Strings
from treille.io.units import MODIFIERS, TextUnit
from treille.kernels import (
    AllSubstrings,
    GappedKmer,
    Gappy,
    Mismatch,
    NGram,
    Rational,
    Subsequence,
    WeightedDegree,
    Wildcard,
)
from treille.kernels.parse import format_kernel, parse_kernel
from treille.testing import check_kernel

TEXTS = [
    "The Château's wine-list -- 1,200 bottles! -- impressed us; ANGELIKI said: “Über good”.",
    "Don't buy it. It BROKE after 2 days... (refund_pending)",
    "naïve café, ＦＵＬＬＷＩＤＴＨ ﬁne Straße",
    "ΟΔΥΣΣΕΥΣ и Война\tи\nмир   東京タワー",
    "",
    " \n ",
    "x",
] * 3
SIGNS = "aAbZ_9 .,!\t\n\u00a0éÉßẞİıΣσςﬁＡ①東\u0301Å\U0001f600\U00010400\ud800"
WILD = st.lists(st.text(st.sampled_from(SIGNS), max_size=12), max_size=6)


def lowered(text):
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def definition(text, unit):
    base, *modifiers = unit.split("+")
    for form in {"nfc", "nfkc"} & set(modifiers):
        text = unicodedata.normalize(form.upper(), text)
    text = lowered(text) if "lower" in modifiers else text
    if base == "word":
        return re.findall(r"\w+" if "alnum" in modifiers else r"\w+|[^\w\s]", text)
    return text if base == "char" else f" {' '.join(text.split())} " if text.split() else ""


@pytest.mark.parametrize(
    "unit",
    ["char+lower", "char+nfkc", "char_wb", "char_wb+nfc+lower", "word+lower", "word+alnum", "word+nfkc+lower+alnum"],
)
@settings(deadline=None)
@given(texts=WILD)
def test_texts_are_split_as_defined(unit, texts):
    batch = Strings(texts, unit)
    assert list(batch) == [definition(text, unit) for text in texts]
    assert batch.alphabet == sorted({symbol for text in batch for symbol in text})
    assert batch.unit == unit


@pytest.mark.parametrize("unit", ["char+lower", "char_wb+lower", "word+lower+alnum"])
def test_threads_do_not_change_the_symbols(unit):
    texts = [f"{text} Nr. {i}" for i, text in enumerate(TEXTS * 400)]
    one, many = Strings(texts, unit, n_jobs=1), Strings(texts, unit, n_jobs=3)
    np.testing.assert_array_equal(one.symbols, many.symbols)
    np.testing.assert_array_equal(one.offsets, many.offsets)
    assert one.alphabet == many.alphabet


def counted(transformer, texts):
    """The counts in every text by the name of the feature."""
    columns = transformer.fit_transform(texts).toarray().T.tolist()
    return dict(zip(transformer.get_feature_names_out(), columns, strict=True))


# Lower case is taken character by character: str.lower writes a sigma at the end of a word otherwise.
PLAIN = [text for text in TEXTS if "Σ" not in text]


@pytest.mark.parametrize(("unit", "pattern"), [("word+lower", r"\w+|[^\w\s]"), ("word+lower+alnum", r"\w+")])
@pytest.mark.parametrize("n", [1, 3])
def test_words_equal_those_of_scikit_learn(unit, pattern, n):
    theirs = CountVectorizer(token_pattern=pattern, ngram_range=(1, n))
    assert counted(Features(NGram(n, min_n=1, unit=unit)), PLAIN) == counted(theirs, PLAIN)


def test_characters_in_lower_case_are_those_of_scikit_learn():
    texts = [" ".join(text.split()) for text in PLAIN]  # which scikit-learn does to characters, too
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 4))
    assert counted(Features(NGram(4, min_n=2, unit="char+lower")), texts) == counted(theirs, texts)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_characters_within_words_are_those_of_scikit_learn_where_words_are_long_enough(n):
    texts = [" \t".join(word for word in text.split() if len(word) >= n) for text in PLAIN]
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=(2, n))
    assert counted(Features(NGram(n, min_n=2, unit="char_wb+lower")), texts) == counted(theirs, texts)


def test_short_words_and_single_spaces_are_counted_as_in_the_text_not_as_in_scikit_learn():
    assert sorted(Features(NGram(4, unit="char_wb")).fit(["a bcd"]).get_feature_names_out()) == [" bcd", "bcd "]
    assert NGram(1, unit="char_wb").diag(["a b"]).tolist() == [3**2 + 1 + 1]


def windows(text, n):
    padded = definition(text, "char_wb+lower")
    grams = (padded[i : i + n] for i in range(len(padded) - n + 1))
    return [gram for gram in grams if " " not in gram[1:-1]]


@settings(deadline=None)
@given(train=WILD, new=WILD, n=st.integers(1, 5))
def test_no_n_gram_has_a_space_inside_and_norms_agree(train, new, n):
    kernel = NGram(n, min_n=1, unit="char_wb+lower")
    counts = [[[windows(text, k) for k in range(1, n + 1)] for text in texts] for texts in (train, new)]
    expected = [[sum(a.count(z) for a, b in zip(x, y, strict=True) for z in b) for y in counts[1]] for x in counts[0]]
    np.testing.assert_array_equal(kernel(train, new), np.array(expected).reshape(len(train), len(new)))
    batch = kernel.batch(new)
    features, _ = kernel.fit_features(kernel.batch(train))
    np.testing.assert_array_equal(features.transform(batch).diag(), kernel.diag(new))
    occurrences = features.occurrences(batch)
    np.testing.assert_array_equal(np.diff(occurrences.examples), features.transform(batch).to_csr(1).sum(axis=1).A1)


def test_a_kernel_of_characters_within_words_keeps_the_laws_of_kernels():
    check_kernel(NGram(3, min_n=2, unit="char_wb+lower").normalized(), TEXTS)


def test_units_are_equal_whatever_the_order_of_their_modifiers():
    batch = Strings(["B a"], "word+alnum+lower")
    assert batch.unit == "word+lower+alnum"
    assert NGram(1, unit="word+lower+alnum")(batch).tolist() == [[2.0]]
    both = NGram(1, unit="word+lower+alnum") + NGram(2, unit="word+alnum+lower")
    assert both.batch(["B a"]).unit == "word+lower+alnum"
    with pytest.raises(InputError, match=r"split into units of 'word\+lower\+alnum', but the kernel has unit='word'"):
        NGram(1, unit="word")(batch)
    features, _ = NGram(1, unit="word+lower").fit_features(Strings(["B a"], "word+lower"))
    assert features.transform(Strings([["b", "a"]])).to_csr(1).sum() == 2
    with pytest.raises(InputError, match=r"the features have the unit 'word\+lower', but the new sequences 'word'"):
        features.transform(Strings(["b"], "word"))


@given(base=st.sampled_from(["char", "char_wb", "word"]), some=st.lists(st.sampled_from(MODIFIERS)))
def test_parsing_a_unit_is_the_inverse_of_writing_it(base, some):
    try:
        unit = TextUnit.parse("+".join([base, *some]))
    except InputError:
        assert {"nfc", "nfkc"} <= set(some) or ("alnum" in some and base != "word")
    else:
        assert TextUnit.parse(str(unit)) == unit
        assert set(unit.modifiers) == set(some)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("words", r"unit is 'words', expected one of 'char', 'char_wb', 'word', 'byte', where modifiers may follow"),
        ("token", "unit is 'token', expected one of"),
        (3, "unit is 3, expected one of"),
        ("word+upper", r"the modifier 'upper': expected 'nfc', 'nfkc', 'lower', 'alnum'"),
        ("char+alnum", "'char' has no modifier 'alnum': it has 'nfc', 'nfkc', 'lower'"),
        ("byte+lower", "'byte' has no modifier 'lower': it has none"),
        ("word+nfc+nfkc", "two normal forms: use nfc or nfkc"),
        ("word+", "the modifier ''"),
    ],
)
def test_an_unknown_unit_is_refused_with_the_choices(unit, message):
    for split in (
        lambda: Strings(["a"], unit),
        lambda: NGram(1, unit=unit)(["a"]),
        lambda: NGram(1, unit=unit)(Strings(["a"])),
    ):
        with pytest.raises(InputError, match=message):
            split()


def test_bytes_have_no_other_unit():
    assert Strings([b"Ab"], "byte")[0] == b"Ab"
    for unit in ("char", "word+lower", "char_wb"):
        with pytest.raises(InputError, match="the strings are bytes, but unit is"):
            Strings([b"Ab"], unit)


@pytest.mark.parametrize(
    "kernel",
    [
        Gappy(2, max_gap=1, unit="char_wb"),
        GappedKmer(4, k=2, unit="char_wb"),
        Mismatch(3, m=1, alphabet="ab ", unit="char_wb+lower"),
        Wildcard(3, unit="char_wb"),
        AllSubstrings(unit="char_wb"),
        Subsequence(2, unit="char_wb"),
        WeightedDegree(2, unit="char_wb"),
        Rational(treille.automata.library.ngram(2, "ab "), unit="char_wb"),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_kernels_that_cannot_stop_at_borders_refuse_the_unit(kernel):
    for X in (["ab a"], Strings(["ab a"], kernel.unit)):
        with pytest.raises(InputError, match="does not stop at the borders of words: use NGram"):
            kernel(X)


def test_products_and_lattices_do_not_stop_at_borders():
    kernel = NGram(3, unit="char_wb")
    batch = kernel.batch(["ab abc"])
    assert not kernel.multiplies(batch)
    assert not (kernel + NGram(2)).multiplies((kernel + NGram(2)).batch(["ab abc"]))
    with pytest.raises(InputError, match="fast product does not stop at the borders of words"):
        kernel.fit_product(batch)
    with pytest.raises(InputError, match="'char_wb', which lattices do not have"):
        Lattices(batch)


@pytest.mark.parametrize(
    "kernel",
    [NGram(3, min_n=2, unit="char_wb+lower"), NGram(1, unit="word+alnum+lower"), Subsequence(2, unit="char+nfkc")],
)
def test_models_keep_the_unit(kernel, tmp_path):
    labels = np.arange(len(TEXTS)) % 7 < 3
    model = treille.SVC(kernel).fit(TEXTS, labels)
    model.save(tmp_path / "m.treille")
    loaded = treille.load(tmp_path / "m.treille")
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), model.decision_function(TEXTS))
    if kernel.has_features:
        assert loaded.features_.unit == kernel.batch(TEXTS).unit
    np.testing.assert_array_equal(model.predict(kernel.batch(TEXTS)), model.predict(TEXTS))


@pytest.mark.parametrize("unit", ["char_wb", "word+lower", "char+lower", "word+nfkc+lower+alnum"])
def test_kernels_as_text_name_units_without_quotes(unit):
    kernel = parse_kernel(f"ngram(2, unit={unit})")
    assert kernel.unit == unit
    assert format_kernel(kernel) == f"ngram(2, unit={unit})"
    assert format_kernel(parse_kernel(f"ngram(3) + ngram(2, unit={unit}).normalized()")).endswith(
        "unit=" + unit + ").normalized()"
    )
    assert f"unit='{unit}'" in repr(treille.SVC().fit(Strings(TEXTS, unit), np.arange(len(TEXTS)) % 2).plan_.kernel)


def test_reverse_complements_and_dna_read_characters_of_any_case():
    batch = Strings(["ACgT"], "char+lower")
    assert list(treille.dna(batch)) == ["ACGT"]
    assert treille.reverse_complement(batch).unit == "char+lower"
    with pytest.raises(InputError, match="of unit 'char_wb', expected strings of letters"):
        treille.dna(Strings(["AC"], "char_wb"))
