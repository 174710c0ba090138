"""Explanations as HTML: every kind of example, of bounded size, safe, readable on light and dark pages."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn

import treille
from treille.data import Graph
from treille.explain.highlighting import bars, highlighted, highlighted_sentence, logo, stylesheet
from treille.kernels import Columns, Linear, NGram, Subpath, WeisfeilerLehman

HOSTILE = "</span><script>alert(1)</script> \x1b[31m \u202ertl \x00 \"' onload=x"
LATTICE = treille.Fst.from_arcs([(0, "wine", "wine", 0.75, 1), (0, "ale", "ale", 0.25, 1)], {1: 1.0})
ALLOWED = {"div", "span", "p", "i", "b", "small", "ol", "li", "details", "summary", "table", "tbody", "tr", "th", "td"}
DRAWN = {"svg", "title", "g", "path", "rect", "text", "polygon"}


class Reader(HTMLParser):
    """Tags, attributes and text of a fragment; tags must nest."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = [], [], "", []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open and self.open[-1] == "title" else data


def read(html):
    found = Reader(html)
    assert set(found.tags) <= ALLOWED | DRAWN
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)
    return found


def explain(kernel, X, x, y=(0, 1)):
    return treille.SVC(kernel).fit(X, list(y)).explain(x)


def test_a_text_is_highlighted_by_character_with_hints():
    found = explain(NGram(1), ["aa", "cc"], "abc")
    html = highlighted(found, 1)
    assert read(html).text == "abc"
    assert '<span class="against" style="--share: 1.00" title="-0.5">a</span>b' in html
    assert '<span class="for" style="--share: 1.00" title="+0.5">c</span>' in html


def test_words_and_characters_are_highlighted_together_on_the_text_as_given():
    kernel = NGram(1, unit="word+lower") + NGram(2, unit="char+lower")
    found = explain(kernel, ["red wine", "pale ale"], "A RED  Ale,\nwith wine")
    assert read(highlighted(found)).text == "A RED  Ale,\nwith wine"


def test_tokens_are_separated_by_blanks():
    found = explain(NGram(1), [["red", "wine"], ["pale", "ale"]], ["red", "ale", "<b>"])
    assert read(highlighted(found)).text == "red ale <b>"


def test_residues_are_a_logo_upwards_for_and_downwards_against():
    html = highlighted(explain(NGram(1), ["AAAAAAAAAA", "CCCCCCCCCC"], "AACCGTACGT" * 10), 1)
    found = read(html)
    assert html.count("<svg") == 4  # 100 letters in rows of 30
    assert "AACCGTACGT" in found.text
    heights = re.findall(r'class="(for|against)"[^>]*matrix\(1 0 0 ([\d.]+) \d+ ([\d.]+)\)', html)
    assert {side for side, _, _ in heights} == {"for", "against"}
    feet = {side: float(foot) for side, _, foot in heights}
    assert feet["for"] < feet["against"]
    assert 'width="' not in html.partition("<svg")[2].partition(">")[0]  # as wide as there is space
    assert "<svg" not in highlighted(explain(NGram(1), ["red wine", "ale"], "a red ale"))
    model = treille.SVC(NGram(1)).fit(treille.protein(["MKVL", "GGGG"] * 2), [0, 1] * 2)
    assert "<svg" in highlighted(model.explain(treille.protein(["MKVLGGGGMK"])))


def test_long_sequences_are_shown_where_they_contribute_most():
    letters, values = "ACGT" * 2500, np.zeros(10_000)
    values[7000] = 1.0
    html = logo(letters, values)
    assert "24 of 334 rows" in html
    assert "A at 7,001: +1" in html
    assert len(html) < 60_000


def test_long_texts_are_cut_with_a_note_where_contributions_are_small():
    model = treille.SVC(NGram(1, unit="word")).fit(["red wine", "pale ale"], [0, 1])
    text = "filler " * 10_000 + "wine " + "filler " * 10_000
    html = highlighted(model.explain(text))
    found = read(html)
    assert "wine" in found.text
    assert "3,000 of 140,005 characters" in found.text
    assert len(html) < 50_000


@pytest.mark.parametrize(
    ("kernel", "X", "x"),
    [
        (Subpath(0.5), treille.Trees(["(S (NP wine))", "(S (VP flows))"]), treille.Trees(["(S (NP wine) (VP))"])),
        (
            WeisfeilerLehman(1),
            [Graph(["C", "O"], [(0, 1)]), Graph(["N"], [])],
            Graph(["C", "O", "N"], [(0, 1), (1, 2)]),
        ),
        (NGram(1), treille.Lattices([LATTICE, treille.Fst.from_string(["ale"])]), treille.Lattices([LATTICE])),
    ],
    ids=["trees", "graphs", "lattices"],
)
def test_trees_graphs_and_lattices_are_drawn_in_a_box_that_scrolls(kernel, X, x):
    html = highlighted(explain(kernel, X, x))
    found = read(html)
    assert '<div class="scroll" tabindex="0"' in html
    assert "svg" in found.tags
    assert re.search('<g class="(for|against)" style="--share: [01].[0-9][0-9]">', html)


def test_numbers_are_a_table_of_bars_the_largest_first():
    found = explain(Linear(), [{"gc": 1.0, "<b>": 2.0}, {"gc": -1.0}], {"gc": 1.0, "<b>": 3.0})
    html = highlighted(found)
    assert re.findall(r'<th scope="row">(.*?)</th>', html) == ["&lt;b&gt;", "gc"]
    assert "and 70 more" in bars([(f"x{i}", 1.0 + i) for i in range(100)])
    assert "x99" in bars([(f"x{i}", 1.0 + i) for i in range(100)])


def test_columns_are_highlighted_one_after_another_with_their_names():
    kernel = Columns({"title": NGram(1, unit="word"), "price": Linear()})
    X = [{"title": "red wine", "price": 3.0}, {"title": "pale ale", "price": 1.0}]
    html = highlighted(explain(kernel, X, {"title": "red ale", "price": 2.0}))
    read(html)
    assert re.findall('<p class="column">(.*?)</p>', html) == ["title", "price"]
    assert html.index("red") < html.index('class="contributions"')


def test_an_example_without_parts_says_that_the_score_is_the_intercept():
    assert "its score is the intercept" in highlighted(explain(NGram(1), ["a", "b"], ""))
    assert "no part of it is known" in highlighted(explain(Linear(), [{"a": 1.0}, {"b": 1.0}], {"c": 1.0}))


def common_letters(x, y):
    return float(len(set(x) & set(y)))


def test_explanations_by_support_examples_are_a_list():
    found = explain(common_letters, ["red wine", "<b>ale"], "a red ale")
    html = highlighted(found)
    read(html)
    assert "training examples" in html
    assert "&lt;b&gt;ale" in html


@pytest.fixture
def decisions():
    X = [[("The", "DT"), ("cat", "NN")], [("A", "DT"), ("dog", "NN")]]
    return treille.Tagger(min_count=1).fit(X, [["B-NP", "O"]] * 2).explain([("The", "DT"), (HOSTILE, "NN")])


def test_sentences_show_tags_and_features_on_demand(decisions):
    html = decisions.html()
    found = read(html)
    assert found.tags.count("details") == 2
    assert "B-NP" in found.text
    assert 'class="tag plain">O<' in html
    assert decisions[0].names[0] in found.text
    for token in (("The", "DT"), ["word=the", "title"], [], "x"):
        read(highlighted_sentence([token], ["O"], None, decisions[:1]))
        read(highlighted_sentence([token], ["O"], ["B-NP"]))


def test_hostile_text_stays_text():
    X = [HOSTILE, "plain"]
    for kernel in (NGram(2), NGram(1, unit="word"), NGram(1, unit="word") + NGram(2)):
        assert "<script>alert(1)</script>" in read(highlighted(explain(kernel, X, HOSTILE))).text
    read(highlighted(explain(NGram(1), [[HOSTILE], ["b"]], [HOSTILE, "b"])))
    read(highlighted(explain(Linear(), [{HOSTILE: 1.0}, {"b": 1.0}], {HOSTILE: 1.0, "b": 1.0})))
    graph = Graph([HOSTILE, "C"], [(0, 1)], edge_labels=[HOSTILE])
    read(highlighted(explain(WeisfeilerLehman(1), [graph, Graph(["C", "C"], [(0, 1)], edge_labels=["x"])], graph)))
    found = treille.SVC(NGram(1)).fit(X, [HOSTILE, "<b>"]).explain(HOSTILE)
    shown = found._repr_html_().partition("</style>")[2]
    assert "<script" not in shown
    assert "\x1b" not in shown


def test_all_rules_of_the_style_are_inside_highlights():
    rules = re.sub(r"/\*.*?\*/", "", stylesheet(), flags=re.S)
    selectors = [each.strip() for rule in re.findall(r"([^{}]+)\{", rules) for each in rule.split(",")]
    assert selectors
    assert all(selector.startswith(".highlighted") for selector in selectors)


def luminance(rgb):
    parts = np.array(rgb) / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def colour_of(side):
    return np.array([float(v) for v in re.search(rf"--{side}: ([\d ]+);", stylesheet()).group(1).split()])


@pytest.mark.parametrize("side", ["for", "against"])
@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        ((29, 42, 34), (251, 250, 246)),
        ((0, 0, 0), (255, 255, 255)),
        ((231, 230, 223), (22, 26, 23)),
        ((255, 255, 255), (18, 18, 18)),
    ],
    ids=["light", "white", "dark", "black"],
)
def test_text_on_the_strongest_colours_can_be_read_on_light_and_dark_pages(side, ink, paper):
    rule = rf"\.text \.{side} \{{\s*background: rgb\(var\(--{side}\) / calc\(var\(--share\) \* (\d+)%"
    strength = float(re.search(rule, stylesheet()).group(1)) / 100
    assert contrast(ink, strength * colour_of(side) + (1 - strength) * np.array(paper)) >= 4.5
    assert contrast(colour_of(side), paper) >= 3  # bars, lines and letters of logos


def test_for_and_against_differ_by_more_than_red_and_green():
    assert colour_of("for")[2] - colour_of("against")[2] > 150  # blue and orange
    assert "underline" in stylesheet()
    assert "dasharray" in stylesheet()


def test_notebooks_show_explanations_models_plans_and_reports():
    model = treille.SVC(NGram(1)).fit(["aa", "cc", "bb"], ["left", "right", "<b>"])
    shown = model.explain("abc")._repr_html_()
    assert '<div class="highlighted"><div class="text">' in shown
    assert "<style>" in shown
    assert "Largest contributions" in shown
    html = model._repr_html_()
    for word in ("NGram(n=1)", "duality gap", "3 problems", "SVC"):
        assert word in html
    assert model._repr_mimebundle_()["text/html"].count("duality gap") == html.count("duality gap")
    assert "not with its square" in model.plan_._repr_html_()
    assert "converged" in model.report_._repr_html_()
    assert "duality gap" not in treille.SVC()._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
    assert "duality gap" in treille.SVCCV(NGram(1), Cs=[1.0], cv=2).fit(["a", "b"] * 4, [0, 1] * 4)._repr_html_()
