"""Reports: the content of the page for every kind of model."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import treille
from treille import InputError
from treille.explain.page import Origin, Page
from treille.explain.report import report_content, write_report
from treille.kernels import NGram, Subpath, WeisfeilerLehman

WINES = [f"a red wine number {i} of dark cherries" for i in range(20)]
WINES += [f"a white wine number {i} of green apples" for i in range(20)]
COLOURS = ["red"] * 20 + ["white"] * 20
WINES[3], WINES[30] = "a white wine of green apples", "a red wine of dark cherries"
EVEN, ODD = slice(0, None, 2), slice(1, None, 2)
KERNEL = NGram(1, unit="word").normalized()


def fitted(estimator=None, labels=COLOURS):
    return (estimator or treille.SVC(KERNEL)).fit(WINES[EVEN], labels[EVEN])


class Reader(HTMLParser):
    """Checks that tags are nested; keeps the texts, and the addresses that a browser would load."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.loads = [], [], []

    def handle_starttag(self, tag, attrs):
        self.loads += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


def read(path):
    page, reader = path.read_text(encoding="utf-8"), Reader()
    reader.feed(page)
    assert reader.open == []
    assert reader.loads == []
    assert "url(" not in page
    return re.sub(r"\s+", " ", " ".join(reader.texts))


def report_of(model, tmp_path, X=WINES[ODD], y=COLOURS[ODD], train=None):
    model.write_report(X, y, tmp_path / "report.html", train)
    return read(tmp_path / "report.html")


ORDER = ("Figures", "Examples", "Confusion matrix", "ROC and precision-recall", "Classes", "Convergence", "Features")


def test_the_page_has_the_sections_in_order(tmp_path):
    text = report_of(fitted(), tmp_path, train=(WINES[EVEN], COLOURS[EVEN]))
    page = (tmp_path / "report.html").read_text()
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert headings == [*ORDER, "Plan and data", "Commands"]
    assert "TF-IDF words, LinearSVC" in text
    assert "majority: red" in text
    assert f"treille {treille.__version__}" in text
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", text)


def test_figures_are_those_of_the_model_and_of_the_baselines():
    model = fitted()
    content = report_content(model, WINES[ODD], COLOURS[ODD], (WINES[EVEN], COLOURS[EVEN]))
    accuracy = content.figures[0]
    expected = model.score(WINES[ODD], COLOURS[ODD])
    assert accuracy.bars[0].share == pytest.approx(expected)
    assert [bar.name for bar in accuracy.bars] == ["this model", "TF-IDF words, LinearSVC", "majority: red"]
    assert accuracy.bars[2].share == COLOURS[ODD].count("red") / len(COLOURS[ODD])


def test_without_training_examples_a_note_says_how_to_get_the_other_baseline():
    content = report_content(fitted(), WINES[ODD], COLOURS[ODD])
    assert len(content.figures[0].bars) == 2
    assert "train=(X, y)" in content.figures_note


def test_a_report_of_the_training_data_is_marked(tmp_path):
    text = report_of(fitted(), tmp_path, None, None, (WINES[EVEN], COLOURS[EVEN]))
    assert "These are the training examples: the figures are too good." in text
    assert "too good" not in report_of(fitted(), tmp_path)


def test_a_model_without_data_shows_what_it_has(tmp_path):
    text = report_of(fitted(), tmp_path, None, None)
    assert "There are no examples" in text
    assert "cherries" in text  # a feature
    assert "Accuracy" not in text
    assert "of the objective (tol: 0.001)" in text


def test_examples_without_labels_are_shown_without_scores(tmp_path):
    text = report_of(fitted(), tmp_path, WINES[ODD], None)
    assert "There are no labels, so there are no scores." in text
    assert "Confusion matrix" not in text


def test_examples_are_highlighted_for_the_predicted_class_and_the_true_one():
    content = report_content(fitted(), WINES, COLOURS)
    wrong = [e for e in content.examples if e.wrong]
    assert {e.number for e in wrong} >= {3, 30}
    assert [p.title for p in wrong[0].highlights] == [
        f"for {wrong[0].predicted}",
        f"for {wrong[0].truth}, the true class",
    ]
    right = next(e for e in content.examples if not e.wrong)
    assert len(right.highlights) == 1
    assert "class=" in right.highlights[0].html
    assert max(content.examples, key=lambda e: e.error).wrong


def test_many_examples_are_chosen_from_errors_and_confident_ones(tmp_path):
    rng = np.random.default_rng(0)
    X = [" ".join(rng.choice(["red", "dark", "green", "pale"], 5)) for _ in range(5000)]
    y = [COLOURS[0] if x.count("red") + x.count("dark") > 2 else COLOURS[-1] for x in X]
    y[:300] = y[300:600]
    content = report_content(treille.SVC(KERNEL).fit(X[:500], y[:500]), X, y)
    assert len(content.examples) == 200
    assert "200 of 5,000" in content.examples_note
    assert 50 <= sum(e.wrong for e in content.examples) <= 150
    Page("many", [content]).write(tmp_path / "many.html")
    assert (tmp_path / "many.html").stat().st_size < 2_000_000


def test_a_page_stays_small_whatever_the_examples_are(tmp_path):
    X = [" ".join(f"w{i}" for i in range(k, k + 3000)) for k in range(0, 90000, 1000)] + [" ".join(["long"] * 20_000)]
    y = [i % 2 for i in range(len(X))]
    content = report_content(treille.SVC(KERNEL).fit(X, y), X, y)
    assert (
        any("too many to highlight" in p.html for e in content.examples for p in e.highlights)
        or len(content.examples) < 91
    )
    Page("long", [content]).write(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size < 5_000_000


def test_more_than_two_classes_have_curves_of_each(tmp_path):
    labels = [f"{c}{i % 2}" for i, c in enumerate(COLOURS)]
    model = treille.SVC(NGram(2)).fit(WINES, labels)
    content = report_content(model, WINES, labels)
    assert sorted(panel.name for panel in content.curves) == ["red0", "red1", "white0", "white1"]
    assert content.figures[1].name == "Macro F1"
    assert content.confusion.counts == treille.explain.scores.measure(labels, model.predict(WINES).tolist()).confusion


def test_hundreds_of_classes_fit_on_a_page(tmp_path):
    X = [f"item{i} item{i} of kind" for i in range(150)] * 2
    y = [f"class {i}" for i in range(150)] * 2
    model = treille.SVC(KERNEL).fit(X, y)
    text = report_of(model, tmp_path, X[:200], y[1:201])
    assert "The 20 of 151 classes with most errors." in text or "The 20 of 150 classes" in text
    assert (tmp_path / "report.html").stat().st_size < 4_000_000


def test_labels_that_the_model_does_not_know_are_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"y: 1 example has a label that the model does not know, rosé \(1\); it knows red, white"
    ):
        report_of(fitted(), tmp_path, WINES[:3], ["red", "rosé", "red"])


def test_a_model_that_did_not_converge_says_so(tmp_path):
    with pytest.warns(treille.ConvergenceWarning):
        model = fitted(treille.SVC(NGram(2), tol=1e-12, max_epochs=1))
    assert "stopped at max_epochs with a relative duality gap" in report_of(model, tmp_path)


def test_probabilities_are_shown_and_calibrated(tmp_path):
    text = report_of(fitted(treille.LogisticRegression(KERNEL)), tmp_path)
    assert re.search(r"probability 0\.\d{3}", text)
    assert "Calibration" in text


@pytest.mark.parametrize("estimator", [treille.SVR(KERNEL), treille.Ridge(KERNEL), treille.LearnedRidge(KERNEL)])
def test_regressors_have_errors_and_a_scatter_plot(tmp_path, estimator):
    numbers = [float(len(x)) for x in WINES]
    text = report_of(fitted(estimator, numbers), tmp_path, WINES[ODD], numbers[ODD], (WINES[EVEN], numbers[EVEN]))
    assert "R²" in text
    assert "always the mean" in text
    assert "Predicted against true" in text
    assert "largest error first" in text


def test_several_targets_have_a_panel_each(tmp_path):
    numbers = np.array([[len(x), x.count("e")] for x in WINES], float)
    content = report_content(fitted(treille.Ridge(KERNEL), numbers), WINES[ODD], numbers[ODD])
    assert [panel.name for panel in content.curves] == ["target 0", "target 1"]
    assert list(content.features) == ["target 0", "target 1"]
    assert len(content.examples[0].highlights) == 2


def test_outliers_have_reports_with_and_without_labels(tmp_path):
    model = treille.OneClassSVM(KERNEL, nu=0.2).fit(WINES[:20])
    assert "inlier" in report_of(model, tmp_path, WINES, None)
    assert "Accuracy" in report_of(model, tmp_path, WINES, [1] * 20 + [-1] * 20)


def test_learned_kernels(tmp_path):
    assert "Accuracy" in report_of(fitted(treille.LearnedSVC(NGram(2))), tmp_path)


def test_kernels_without_features_have_a_report(tmp_path):
    model = fitted(treille.SVC(treille.kernels.Subsequence(2, 0.5)))
    assert "Accuracy" in report_of(model, tmp_path)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Subpath(0.5), ["(S (NP a) (VP b))", "(S (NP b) (VP a))", "(S (VP a))", "(S (NP c))"]),
        (WeisfeilerLehman(1), [([(0, 1)], ["a", "b"]), ([(0, 1), (1, 2)], ["a", "b", "c"])] * 2),
        (treille.kernels.Linear(), np.arange(12.0).reshape(4, 3)),
        (NGram(3).normalized(), ["ACGTACGT", "TTTTACG", "ACGTTTT", "GGGGGACG"]),
    ],
    ids=["trees", "graphs", "numbers", "sequences"],
)
def test_other_kinds_of_data_have_reports_without_tfidf(tmp_path, kernel, X):
    y = ["p", "q", "p", "q"]
    text = report_of(treille.SVC(kernel).fit(X, y), tmp_path, X, y, (X, y))
    assert "All 4 examples." in text
    assert "TF-IDF" not in text


def test_tree_fragments_take_the_place_of_features(tmp_path):
    trees = [
        "(S (NP (D a) (N cat)) (VP sat))",
        "(S (NP (D a) (N dog)) (VP ran))",
        "(S (NP he) (VP sat))",
        "(S (NP it))",
    ]
    y = ["noun", "noun", "pronoun", "pronoun"]
    text = report_of(treille.SVC(treille.kernels.SubsetTree()).fit(trees, y), tmp_path, trees, y)
    assert "The tree fragments with the largest weights" in text
    assert re.search(r"\(NP·?\s?\(D\)·?\s?\(N\)\)", text)


def test_joined_features_have_a_place_where_they_occur():
    content = report_content(treille.SVC(NGram(4)).fit(WINES, COLOURS), WINES, COLOURS)
    found = {feature.name: feature for feature in content.features["red"]}
    assert "cherries" in " ".join(found)
    assert any(feature.documents and "cherries" in feature.place for feature in found.values())


def test_a_perceptron_reports_its_mistakes(tmp_path):
    with pytest.warns(treille.ConvergenceWarning):
        model = fitted(treille.Perceptron(KERNEL, max_epochs=5))
    text = report_of(model, tmp_path)
    assert "in the last of 5 epochs" in text
    assert "there may be none" in text
    assert "Accuracy" in text


def test_columns_of_a_frame_have_a_report(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": WINES, "length": [float(len(x)) for x in WINES]})
    kernel = treille.kernels.Columns({"text": KERNEL, "length": treille.kernels.Linear()})
    text = report_of(treille.SVC(kernel, tol=0.1).fit(frame, COLOURS), tmp_path, frame, COLOURS, (frame, COLOURS))
    assert "All 40 examples." in text
    assert "TF-IDF" not in text


@pytest.mark.parametrize("container", ["series", "frame", "dict of columns", "list of dicts", "structured array"])
def test_every_container_of_texts_and_columns_has_a_report_and_a_search(container, tmp_path):
    pandas = pytest.importorskip("pandas")
    index = range(100, 140)  # rows are selected by position, not by name
    X = {
        "series": pandas.Series(WINES, index=index),
        "frame": pandas.DataFrame({"text": WINES}, index=index),
        "dict of columns": {"text": WINES},
        "list of dicts": [{"text": wine} for wine in WINES],
        "structured array": np.array([(wine,) for wine in WINES], dtype=[("text", object)]),
    }[container]
    kernel = KERNEL if container == "series" else treille.kernels.Columns({"text": KERNEL})
    search = treille.SVCCV(kernel, Cs=[1.0], cv=2, tol=0.1).fit(X, COLOURS)
    assert search.score(X, COLOURS) > 0.9
    assert "All 40 examples." in report_of(search.best_estimator_, tmp_path, X, COLOURS, (X, COLOURS))


def test_convergence_is_plotted_with_the_gap(tmp_path):
    content = report_content(fitted(), WINES, COLOURS)
    assert len(content.convergence.plots) == 2
    fitted().save(tmp_path / "m.treille")
    report_of(treille.load(tmp_path / "m.treille"), tmp_path)


def test_an_empty_example_is_no_error(tmp_path):
    assert "the score is the intercept" in report_of(fitted(), tmp_path, ["", *WINES[ODD]], ["red", *COLOURS[ODD]])


def test_a_tagger_has_scores_of_chunks_and_its_errors_marked(tmp_path):
    X = [["the", "cat", "sleeps"], ["a", "dog", "barks"]] * 3
    y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]] * 3
    model = treille.Tagger(min_count=1).fit(X, y)
    model.write_report([["the", "dog", "sleeps"]], [["B-NP", "I-NP", "O"]], tmp_path / "report.html", (X, y))
    text = read(tmp_path / "report.html")
    for wanted in (
        "F1 of chunks",
        "Accuracy of tags",
        "most frequent tag of the word",
        "1 of 3 tags wrong",
        "sleeps",
        "Chunks",
    ):
        assert wanted in text
    model.write_report(None, None, tmp_path / "report.html")
    assert "There are no examples" in read(tmp_path / "report.html")
    model.write_report(None, None, tmp_path / "report.html", (X, y))
    assert "too good" in read(tmp_path / "report.html")


def test_plain_tags_and_pairs_of_tags_have_a_report(tmp_path):
    X, y = [["to", "sing"], ["a", "song"], ["to", "be"]], [["TO", "VB"], ["DT", "NN"], ["TO", "VB"]]
    model = treille.Tagger(min_count=1, multiclass="pairs").fit(X, y)
    model.write_report(X, y, tmp_path / "report.html")
    text = read(tmp_path / "report.html")
    assert "F1 of chunks" not in text
    assert "Decisions are not explained" in text


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202etxet\u202c",
    "\x00\x07\x1b[31m",
    "\ud800",
]
HOSTILE += ["{{ 7777 * 7 }}", "</style>"]


def test_hostile_text_stays_text(tmp_path):
    X = [f"{h} {h} word{i}" for i in range(3) for h in HOSTILE]
    y = [h for _ in range(3) for h in HOSTILE]
    model = treille.SVC(NGram(1, unit="word")).fit(X, y)
    write_report(
        model, X, y[1:] + y[:1], tmp_path / "report.html", (X, y), Origin("<b>x", names=[f"<i>{h}" for h in X])
    )
    page = (tmp_path / "report.html").read_bytes().decode("utf-8")
    for raw in ("<script>alert", "<img", "<b>x", "<i>", "\u202e", "\x00", "\x1b", '</style>"', "54439"):
        assert raw not in re.sub(r'<svg.*?</svg>|data-[a-z]+="[^"]*"|style="[^"]*"|\d\.\d+', "", page, flags=re.S), raw
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    read(tmp_path / "report.html")


def test_only_its_own_script_may_run(tmp_path):
    import base64
    import hashlib

    report_of(fitted(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WINES, COLOURS[:3]), "there are 40 examples in X and 3 labels in y"),
        (([], []), "there are no examples"),
        ((None, COLOURS), "y was given without X"),
    ],
)
def test_bad_input_is_refused_in_words(tmp_path, arguments, message):
    with pytest.raises(treille.InputError, match=message):
        fitted().write_report(*arguments, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_training_examples_are_a_pair(tmp_path):
    with pytest.raises(treille.InputError, match="expected a pair"):
        fitted().write_report(WINES, COLOURS, tmp_path / "report.html", train=WINES)
