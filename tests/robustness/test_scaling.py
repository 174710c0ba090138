"""Readers take time in proportion to their input: twice the input takes at most 2.5 times as long.

Sixteen times the input is read, which makes up for noise: 39 times as long is allowed, where quadratic time would be 256 times.
"""

import gc
import gzip
import io
import time
import zipfile

import pytest

import treille
from treille import Trees
from treille.kernels import NGram

LIMIT = 2.5**4


def rows(row):
    return lambda n: row * n


# For each case: how to read a file, its name, and its content of size n; reading size n takes some hundredths of a second.
def table(name, content, n):
    return pytest.param(name, content, n, id=name)


FILES = [
    table("a.jsonl", rows('{"text": "a vine", "label": "x"}\n'), 10_000),
    table("deep.jsonl", lambda n: '{"text": "a", "label": "x", "more": [' + "1, " * n + "1]}\n", 150_000),
    table("a.csv", lambda n: "text,label\n" + "a vine,x\n" * n, 10_000),
    table("wide.csv", lambda n: "text,label," + ",".join(f"c{i}" for i in range(n)) + "\n" + "x," * (n + 1) + "y\n", 20_000),
    table("headless.tsv", lambda n: "\t".join("0" * n) + "\n" + "\t".join("1" * n) + "\n", 20_000),
    table("quoted.csv", lambda n: 'text,label\n"' + "a\n" * n + '",x\n', 100_000),
    table("a.txt", rows("x\ta vine\n"), 20_000),
    table("a.fasta", rows(">x id=1\nACGT\nACGT\n"), 10_000),
    table("fields.fasta", lambda n: ">x " + " ".join(f"k{i}=1" for i in range(n)) + "\nACGT\n", 6_000),
    table("lines.fasta", lambda n: ">x\n" + "ACGT\n" * n, 50_000),
    table("a.fastq", rows("@x\nACGT\n+\nIIII\n"), 10_000),
    table("a.svmlight", rows("1 1:0.5 7:1\n"), 10_000),
    table("wide.svmlight", lambda n: "1 " + " ".join(f"{i}:1" for i in range(1, n)) + "\n", 30_000),
    table("digits.svmlight", lambda n: "1 1:" + "1" * n + "x\n", 1_000_000),
    table("a.mrg", rows("(S (NP he) (VP (V sat)))\n"), 10_000),
    table("deep.mrg", lambda n: "(a " * n + "b" + ")" * n + "\n", 50_000),
    table("label.trees", rows("x\t(S (NP he) (VP (V sat)))\n"), 10_000),
    table("marked.trees", rows("x |BT| (S (NP he)) |ET|\n"), 5_000),
    table("a.conllu", rows("# label = x\n1\the\the\tPRON\t_\t_\t0\troot\t_\t_\n\n"), 4_000),
    table("long.conllu", lambda n: "".join(f"{i}\ta\t_\t_\t_\t_\t{i - 1}\tx\t_\t_\n" for i in range(1, n)), 7_500),
    table("a.nwk", rows("((A,B),C);\n"), 4_000),
    table("label.nwk", rows("x\t((A,B),C);\n"), 2_000),
    table("comments.nwk", lambda n: "(A" + "[x]" * n + ",B);\n", 30_000),
    table("deep.nwk", lambda n: "(" * n + "A" + ")" * n + ";\n", 15_000),
    table("a.xml", lambda n: "<a>" + "<b>x</b>" * n + "</a>", 20_000),
    table("deep.xml", lambda n: "<a>" * n + "</a>" * n, 20_000),
    table("a.plf", rows("((('a', 0.5, 1), ('b', 0.5, 1),),)\n"), 1_500),
    table("long.plf", lambda n: "(" + "(('a', 1, 1),)," * n + ")\n", 4_000),
    table("a.slf", lambda n: f"N={n + 1} L={n}\n" + "".join(f"I={i}\n" for i in range(n + 1))
          + "".join(f"J={i} S={i} E={i + 1} W=a a=-1\n" for i in range(n)), 2_000),
    table("a.fst.txt", lambda n: "".join(f"{i} {i + 1} 1 1 0.5\n" for i in range(n)) + f"{n}\n", 4_000),
    table("a.lat", lambda n: "u\n" + "".join(f"{i} {i + 1} 1 1,2,\n" for i in range(n)) + f"{n} 0,0,\n\n", 4_000),
    table("arcs.jsonl", lambda n: f'{{"finals": {{"{n}": 1.0}}, "arcs": ['
          + ", ".join(f'[{i}, "a", 1.0, {i + 1}]' for i in range(n)) + "]}\n", 4_000),
]  # fmt: skip

DOCUMENTS = {
    "html": (Trees.from_html, lambda n: "<p>" + "<b>x</b>" * n, 15_000),
    "json": (Trees.from_json, lambda n: "[" + "1," * n + "1]", 30_000),
    "python": (Trees.from_ast, lambda n: "x = 1\n" * n, 2_000),
}


def assert_linear(run, small, large):
    """The time of this process alone, the least of several runs, measured again where another process may have disturbed it.

    Without the garbage collector, whose time depends on what else the process holds.
    """
    ratios = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            times = []
            for size in (small, large):
                best = float("inf")
                for _ in range(2):
                    begun = time.process_time()
                    run(size)
                    best = min(best, time.process_time() - begun)
                times.append(best)
            ratios.append(times[1] / max(times[0], 1e-4))
            if ratios[-1] <= LIMIT:
                return
    finally:
        gc.enable()
    pytest.fail(f"sixteen times the input takes {min(ratios):.1f} times as long")


@pytest.mark.parametrize(("name", "content", "n"), FILES)
def test_the_time_to_read_a_file_is_linear_in_its_size(name, content, n, tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    for folder, size in ((small, n // 4), (large, 4 * n)):
        folder.mkdir()
        (folder / name).write_text(content(size))

    def run(folder):
        try:
            treille.io.read(folder / name)
        except treille.InputError:
            assert name.startswith(("digits", "headless"))

    assert_linear(run, small, large)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_time_to_read_a_document_is_linear_in_its_size(kind):
    read, content, n = DOCUMENTS[kind]
    assert_linear(lambda document: read([document]), content(n // 4), content(4 * n))


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_the_time_to_read_compressed_files_is_linear_in_their_size(kind, tmp_path):
    def packed(n):
        data = b"((('a', 0.5, 1), ('b', 0.5, 1),),)\n" * 20
        path = tmp_path / f"{n}.plf.{kind}"
        if kind == "gz":
            path.write_bytes(gzip.compress(data * n))
        else:
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                for i in range(n):
                    archive.writestr(f"{i}.plf", data)
            path.write_bytes(buffer.getvalue())
        return path

    assert_linear(treille.io.read, packed(12), packed(192))


def test_orders_beyond_the_longest_text_cost_nothing():
    texts = ["abab" * 5, "bbaa" * 5] * 50
    assert_linear(lambda n: NGram(n, min_n=1)(texts), 2_500, 40_000)
    begun = time.process_time()
    kernel = NGram(2**31 - 1, min_n=1)
    features, _ = kernel.fit_features(kernel.batch(texts))
    assert features.transform(kernel.batch(["abab" * 30])).diag()[0] == NGram(120, min_n=1).diag(["abab" * 30])[0]
    assert time.process_time() - begun < 5
