"""Highlights of every kind in a real browser: nothing off-screen on a phone, nothing logged, nothing run, keys work."""

import numpy as np
import pytest

import treille
from treille.data import Graph, Graphs
from treille.explain.explanation import page as page_of
from treille.kernels import Linear, NGram, Subpath, WeisfeilerLehman

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202ertl " + "long" * 500


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A page with an example of every kind."""
    random = np.random.default_rng(0)
    sequences = ["".join(random.choice(list("ACGT"), 200)) for _ in range(6)]
    parses = treille.Trees(
        ["(S (NP (DT the) (NN vine)) (VP (VBD bore) (NP (CD twelve) (NNS grapes))))", "(S (NP ale))"] * 2
    )
    ring = Graph(["C"] * 12, [(i, (i + 1) % 12) for i in range(12)], edge_labels=["single"] * 12)
    chain = Graph(["O"] * 3, [(0, 1), (1, 2)], edge_labels=["single"] * 2)
    words = [f"word{i}" for i in range(30)]
    arcs = [(i, word, word, 0.5, i + 1) for i in range(30) for word in (words[i], "other")]
    lattices = treille.Lattices([treille.Fst.from_arcs(arcs, {30: 1.0}), treille.Fst.from_string(["ale"])] * 2)
    kinds = [
        (None, [HOSTILE, "pale ale"] * 2),
        (NGram(3), treille.dna(sequences[:4])),
        (Subpath(0.5), parses),
        (WeisfeilerLehman(1), Graphs([ring, chain] * 2)),
        (NGram(1), lattices),
        (Linear(), [{HOSTILE: 1.0, **{f"column {i}": float(i) for i in range(50)}}, {"b": 1.0}] * 2),
        (lambda x, y: float(len(set(x) & set(y))), [HOSTILE, "pale ale"] * 2),
    ]
    shown = []
    for kernel, X in kinds:
        model = treille.SVC(kernel).fit(X, [HOSTILE, "b"] * 2)
        shown.append(model.explain_all(X[:1])[0].shown(name=HOSTILE))
    sentence = [(word, "NN") for word in [*words, HOSTILE]]
    tagger = treille.Tagger(min_count=1).fit([sentence], [["B-NP"] * len(sentence)])
    page = tmp_path_factory.mktemp("page") / "page.html"
    page.write_text(page_of(HOSTILE, [*shown, tagger.explain(sentence).shown(name="sentence 1")]), "utf-8")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1100])
def test_nothing_is_off_screen_and_nothing_runs(browser, path, width, scheme):
    page, said = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: None if request.url.startswith("file:") else said.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".highlighted .logo svg").count() == 7
    assert page.locator(".highlighted .scroll > svg").count() == 3
    assert page.locator(".highlighted script, .highlighted img").count() == 0
    for opened in page.locator("summary").all()[:12]:
        opened.focus()
        page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 12
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
    assert said == []


def test_colours_are_those_of_the_sides(browser, path):
    page = browser.new_page()
    page.goto(path.as_uri())
    fill = "element => getComputedStyle(element).fill"
    assert page.locator(".logo .for").first.evaluate(fill) == "rgb(30, 115, 215)"
    assert page.locator(".logo .against").first.evaluate(fill) == "rgb(215, 110, 0)"
    shade = page.locator(".text .for").first.evaluate("element => getComputedStyle(element).backgroundColor")
    assert shade.startswith("rgba(30, 115, 215, 0.")
    page.close()
