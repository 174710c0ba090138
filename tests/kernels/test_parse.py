"""Kernels as text: valid expressions, refusals, and no evaluation of code."""

import numpy as np
import pytest

import treille.kernels
from treille import InputError, registry
from treille.kernels import Columns, Constant, NGram, Normalized, Rational
from treille.kernels.parse import PYTHON_ONLY, format_kernel, known_kernels, parse_kernel

KERNELS = [
    NGram(5),
    NGram(3, min_n=1),
    NGram(2, unit="word").normalized(),
    NGram(2, min_n=1, order_weights=[0.5, 1.0], unit="byte").normalized().normalized(),
    0.5 * NGram(3) + NGram(5).normalized(),
    NGram(1) + (NGram(2) + NGram(3)),
    (NGram(1) + 1) * NGram(2) * NGram(3),
    NGram(1) * (NGram(2) * NGram(3)),
    2 * (3.5 * NGram(1)) * (0.5 * NGram(2)),
    (1 + NGram(3)) ** 2,
    ((1e-7 + NGram(3) ** 2) ** 3).centered().normalized(),
    Constant(1) + Constant(2) + NGram(1),
    Constant(1) + (Constant(2) + NGram(1)),
    Constant(2.5).normalized() * NGram(1),
    Columns({"title": 0.5 * NGram(3) + 1, "kernel": NGram(2, unit="word")}, column_weights={"title": 2}),
]


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("ngram", NGram()),
        ("NGram(4)", NGram(4)),
        (" ngram( 3, min_n=1, unit=word ) ", NGram(3, min_n=1, unit="word")),
        ("ngram(3, unit='byte')", NGram(3, unit="byte")),
        ("ngram(2, 1, [0.5, 1])", NGram(2, 1, [0.5, 1])),
        ("ngram(4).normalized()", NGram(4).normalized()),
        ("normalized(ngram)", Normalized(NGram())),
        ("0.5*ngram(3) + ngram(5).normalized()", 0.5 * NGram(3) + NGram(5).normalized()),
        ("ngram(3)*2", 2 * NGram(3)),
        ("1+ngram(3)*ngram(2)**3", 1 + NGram(3) * NGram(2) ** 3),
        ("(1 + ngram(3))**2", (1 + NGram(3)) ** 2),
        ("normalized(ngram + ngram(2))", (NGram() + NGram(2)).normalized()),
        ("(ngram + ngram(2)).centered()", (NGram() + NGram(2)).centered()),
        ("Normalized(kernel=NGram(n=3, min_n=None))", NGram(3).normalized()),
    ],
)
def test_kernels_are_read(text, kernel):
    assert parse_kernel(text).spec() == kernel.spec()


@pytest.mark.parametrize("kernel", KERNELS)
def test_spelling_then_reading_is_the_identity_and_so_is_reading_what_python_prints(kernel):
    assert parse_kernel(format_kernel(kernel)).spec() == kernel.spec()
    assert parse_kernel(repr(kernel)).spec() == kernel.spec()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ngram(",
        "rbf(3)",
        "kernel()",
        "featuremap",
        "ngram(k=3)",
        "ngram(1, 2, 3, 4, 5, 6)",
        "ngram(**{'n': 3})",
        "ngram(3).normalized(1)",
        "ngram(3).save('x')",
        "ngram(3).kernel",
        "ngram(open('x'))",
        "ngram(1 + 1)",
        "ngram(lambda: 1)",
        "[ngram(3)]",
        "3",
        "normalized()",
        "__import__('os').getcwd()",
        "ngram(3) if True else ngram(4)",
        "(" * 500,
        "ngram(3)\x00",
        "1 + 1",
        "2 ** ngram(3)",
        "ngram(3) ** ngram(2)",
        "ngram(3) - ngram(2)",
        "ngram(3) @ ngram(2)",
        "ngram(3) + word",
        "-ngram(3)",
        "'a' * ngram(3)",
        "True * ngram(3)",
        "(ngram(3) + ngram(2)).centered(1)",
        "columns({'a': 1 + 1})",
        "columns({**{'a': ngram(3)}})",
        " + ".join(["ngram"] * 5000),
    ],
)
def test_everything_else_is_refused_and_an_example_is_shown(text):
    with pytest.raises(InputError, match=r"Write a kernel as in 'ngram\(5\)\.normalized\(\)'") as caught:
        parse_kernel(text)
    assert len(str(caught.value)) < 400 + len(text)


@pytest.mark.parametrize(
    ("text", "near"),
    [("gappedkmr(6)", "gappedkmer"), ("subpaht(2)", "subpath"), ("weisfeilerlehmann(2)", "weisfeilerlehman")],
)
def test_an_unknown_kernel_brings_the_names_that_are_near(text, near):
    with pytest.raises(InputError, match=f"there is no kernel .*; did you mean {near}"):
        parse_kernel(text)


def test_what_says_how_much_may_differ_is_printed_even_with_its_default_value():
    assert format_kernel(parse_kernel("gappedkmer(10)")) == "gappedkmer(10, k=6)"
    assert repr(parse_kernel("gappedkmer(8)")) == "GappedKmer(length=8, k=6)"


def test_a_new_kernel_is_found_where_kernels_are_exported(monkeypatch):
    class Bigram(NGram):
        def __init__(self, unit="char"):
            super().__init__(2, unit=unit)

    monkeypatch.setattr(treille.kernels, "Bigram", Bigram, raising=False)
    monkeypatch.setattr(treille.kernels, "__all__", [*treille.kernels.__all__, "Bigram"])
    assert known_kernels()["bigram"] is Bigram
    assert parse_kernel("bigram(word)").unit == "word"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Two files of one transducer, over the reals and as costs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub-folder").mkdir()
    machine = treille.automata.library.ngram(2, "ab")
    machine.write("bigrams.fst.txt")
    machine.astype("log").write("sub-folder/my-bigrams.fst")
    return machine


@pytest.mark.parametrize(
    "text",
    [
        "rational(sub-folder/my-bigrams.fst)",
        "rational('sub-folder/my-bigrams.fst')",
        "rational(T='sub-folder/my-bigrams.fst', factored=True)",
        "2 * rational(sub-folder/my-bigrams.fst).normalized() + ngram(1)",
    ],
)
def test_a_transducer_is_named_by_its_file(text, machine):
    own = Rational(machine)
    expected = 2 * own.normalized() + NGram(1) if "ngram" in text else own
    X = ["abab", "ba", "b"]
    assert np.allclose(parse_kernel(text)(X), expected(X))


def test_a_file_that_is_no_transducer_is_refused_by_its_name(machine):
    with pytest.raises(InputError, match=r"'rational\(none\.fst\)': none\.fst: no such file"):
        parse_kernel("rational(none.fst)")


@pytest.mark.parametrize(
    ("name", "why"), [("precomputed", "a matrix of kernel values"), ("callablekernel", "a Python")]
)
def test_kernels_for_python_alone_say_so(name, why):
    with pytest.raises(InputError, match=rf"{name} takes {why}.*: use it in Python"):
        parse_kernel(f"{name}()")


def test_every_kernel_of_treille_can_be_named_or_says_why_not():
    classes = {name.lower() for name in registry.known("kernels")}
    assert classes == {*known_kernels(), *PYTHON_ONLY}
