"""Kernels on the command line: what is read, what is refused, and that nothing is ever evaluated."""

import pytest
import typer

import treille.kernels
from treille.cli.kernel_option import known_kernels, parse_kernel, spell_kernel
from treille.kernels import Columns, Constant, NGram, Normalized

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
    assert parse_kernel(spell_kernel(kernel)).spec() == kernel.spec()
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
        "ngram(1, 2, 3, 4, 5)",
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
def test_everything_else_is_refused_and_the_kernels_are_listed(text):
    with pytest.raises(typer.BadParameter, match=r"The kernels are: .*ngram\(n, min_n, order_weights, unit\)"):
        parse_kernel(text)


def test_a_new_kernel_is_found_where_kernels_are_exported(monkeypatch):
    class Bigram(NGram):
        def __init__(self, unit="char"):
            super().__init__(2, unit=unit)

    monkeypatch.setattr(treille.kernels, "Bigram", Bigram, raising=False)
    monkeypatch.setattr(treille.kernels, "__all__", [*treille.kernels.__all__, "Bigram"])
    assert known_kernels()["bigram"] is Bigram
    assert parse_kernel("bigram(word)").unit == "word"
