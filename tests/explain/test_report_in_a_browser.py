"""Reports in a real browser: Chromium, from the system or from playwright; skipped where there is none."""

import numpy as np
import pytest

import treille
from treille.explain.page import Origin, Page
from treille.explain.report import report_content, write_report
from treille.kernels import NGram, Subpath

BAD = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202eright to left\u202c",
    "\u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627",
    "\x00\x07\x1b[31m control",
    "long" * 500,
    "</script></style><!--",
    "{{ 7 * 7 }} &amp; ${x}",
]


@pytest.fixture
def visit(browser):
    """Opens a page of a given width and colour scheme; at the end, nothing may have been logged or loaded."""
    pages, said = [], []

    def go(path, width=1100, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith("file:") else said.append(request.url))
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield go
    for page in pages:
        page.close()
    assert said == []


def overflow(page):
    """How many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.fixture(scope="module")
def wines(tmp_path_factory):
    """A report with some errors, of three classes."""
    rng = np.random.default_rng(1)
    words = {
        "red": ["dark", "cherry", "oak"],
        "white": ["pale", "apple", "citrus"],
        "rosé": ["pale", "cherry", "berry"],
    }
    y = [["red", "white", "rosé"][i % 3] for i in range(90)]
    X = [f"a wine {i} with " + " ".join(rng.choice(words[c], 2)) for i, c in enumerate(y)]
    model = treille.LogisticRegression(NGram(1, unit="word").normalized()).fit(X[:45], y[:45])
    path = tmp_path_factory.mktemp("report") / "wines.html"
    model.write_report(X[45:], y[45:], path, (X[:45], y[:45]))
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report of hostile texts, labels, features and names."""
    X = [f"{bad} {bad} word{i}" for i in range(4) for bad in BAD]
    y = [bad for _ in range(4) for bad in BAD]
    model = treille.SVC(NGram(1, unit="word")).fit(X, y)
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    source = Origin(BAD[0], BAD[1], names=X, warnings=BAD, model=BAD[5])
    write_report(model, X, y[1:] + y[:1], path, (X, y), source)
    return path


def shown(page):
    return page.locator(".example:not([hidden])")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["wines", "hostile"])
def test_it_opens_without_errors_in_both_colour_schemes_and_on_a_phone(visit, request, which, scheme):
    path = request.getfixturevalue(which)
    page = visit(path, scheme=scheme)
    assert overflow(page) <= 0
    ink, paper = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
    light = [sum(map(int, c[4:-1].split(","))) for c in (ink, paper)]
    assert (light[0] < light[1]) == (scheme == "light")
    phone = visit(path, 420, scheme)
    assert overflow(phone) <= 0


def test_examples_are_sorted_searched_and_filtered(visit, wines):
    page = visit(wines)
    assert page.locator("[data-count]").inner_text() == "8 of 45 shown"
    errors = shown(page).evaluate_all("all => all.map(e => +e.dataset.error)")
    assert errors == sorted(errors, reverse=True)
    page.select_option("[data-sort]", "confidence")
    sure = shown(page).evaluate_all("all => all.map(e => +e.dataset.confidence)")
    assert sure == sorted(sure, reverse=True)
    page.select_option("[data-sort]", "number")
    assert shown(page).first.get_attribute("data-number") == "0"
    page.get_by_role("button", name="Show more").click()
    assert shown(page).count() == 16
    page.fill("[data-search]", "WINE 50 with")
    assert shown(page).count() == 1
    assert "50" in shown(page).inner_text()
    page.fill("[data-search]", "nothing like this")
    assert page.locator("[data-count]").inner_text() == "None of the examples fits."
    page.fill("[data-search]", "")
    page.select_option("[data-show]", "wrong")
    assert shown(page).count() > 0
    assert shown(page).evaluate_all("all => all.every(e => e.classList.contains('wrong'))")
    truth = shown(page).first.get_attribute("data-true")
    page.select_option(".tools [data-true]", truth)
    assert set(shown(page).evaluate_all("all => all.map(e => e.dataset.true)")) == {truth}


def test_an_example_switches_between_the_predicted_and_the_true_class(visit, wines):
    page = visit(wines)
    card = page.locator(".example.wrong:not([hidden])").first
    buttons, canvases = card.locator("[data-highlighting]"), card.locator(".canvas")
    assert (canvases.nth(0).is_visible(), canvases.nth(1).is_visible()) == (True, False)
    buttons.nth(1).focus()
    page.keyboard.press("Enter")
    assert (canvases.nth(0).is_visible(), canvases.nth(1).is_visible()) == (False, True)
    assert buttons.nth(1).get_attribute("aria-pressed") == "true"


def test_a_cell_of_the_confusion_matrix_shows_its_examples(visit, wines):
    page = visit(wines)
    cell = page.locator("td.off button").first
    n = int(cell.inner_text())
    true, predicted = cell.get_attribute("data-true"), cell.get_attribute("data-predicted")
    cell.click()
    assert shown(page).count() == min(n, 8)
    pairs = shown(page).evaluate_all("all => all.map(e => [e.dataset.true, e.dataset.predicted])")
    assert all(pair == [true, predicted] for pair in pairs)


def test_tables_sort_by_buttons_in_their_headers(visit, wines):
    page = visit(wines)
    table = page.locator("table.sortable").first
    column = "t => [...t.tBodies[0].rows].map(r => r.cells[%d].textContent)"
    button = table.get_by_role("button", name="recall")
    button.focus()
    page.keyboard.press("Enter")
    values = [float(v) for v in table.evaluate(column % 2)]
    assert values == sorted(values, reverse=True)
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    button.click()
    values = [float(v) for v in table.evaluate(column % 2)]
    assert values == sorted(values)
    table.get_by_role("button", name="class").click()
    names = table.evaluate(column % 0)
    assert [n.strip() for n in names] == ["red", "rosé", "white"]
    assert table.locator("th[aria-sort]").count() == 1


def test_features_are_searched_and_classes_are_chosen(visit, wines):
    page = visit(wines)
    rows = page.locator(".features tbody tr:visible")
    before = rows.count()
    page.fill("[data-filter]", "cherry")
    assert 0 < rows.count() < before
    page.fill("[data-filter]", "")
    page.select_option("[data-panels$='-f']", "1")
    assert page.locator("[data-features] h3:visible").inner_text() == "rosé"
    page.select_option("[data-panels$='-c']", "1")
    assert page.locator("[data-panel$='-c']:visible").count() == 1


def test_a_command_is_copied(visit, wines):
    page = visit(wines)
    button = page.locator("[data-copy]").first
    button.click()
    page.wait_for_function("b => b.textContent !== 'Copy'", arg=button.element_handle())
    assert button.text_content() in ("Copied", "Selected")


def test_everything_is_reached_by_the_keyboard_and_has_a_visible_focus(visit, wines):
    page = visit(wines)
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        tag, outline = page.evaluate(
            "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
        )
        seen.add(tag)
        assert outline != "none", tag
    assert {"A", "INPUT", "SELECT", "BUTTON"} <= seen


def test_hostile_text_is_shown_as_text(visit, hostile):
    page = visit(hostile)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    text = page.locator("body").inner_text()
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    page.fill("[data-search]", "<script>")
    assert shown(page).count() > 0
    page.locator("td.off button").first.click()
    assert shown(page).count() > 0
    page.fill("[data-filter]", "<img")
    page.get_by_role("button", name="weight").first.click()


def test_a_page_of_several_models_shows_one_at_a_time(visit, tmp_path):
    trees, y = ["(S (NP a))", "(S (VP b))", "(S (NP b))", "(S (VP a))"], ["n", "v", "n", "v"]
    texts = ["a red wine", "a pale ale", "red wine", "pale"]
    contents = []
    for name, kernel, X in (("trees", Subpath(0.5), trees), ("texts", NGram(1, unit="word"), texts)):
        contents.append(report_content(treille.SVC(kernel).fit(X, y), X, y, source=Origin(name=name)))
    Page("two", contents).write(tmp_path / "two.html")
    page = visit(tmp_path / "two.html", 420)
    assert (page.locator("#m0").is_visible(), page.locator("#m1").is_visible()) == (True, False)
    page.get_by_role("button", name="texts").click()
    assert (page.locator("#m0").is_visible(), page.locator("#m1").is_visible()) == (False, True)
    assert overflow(page) <= 0


def test_numbers_and_sentences_have_pages_too(visit, tmp_path):
    X = [f"{'very ' * (i % 5)}good {i}" for i in range(30)]
    numbers = [float(i % 5) for i in range(30)]
    treille.Ridge(NGram(1, unit="word")).fit(X, numbers).write_report(X, numbers, tmp_path / "ridge.html")
    page = visit(tmp_path / "ridge.html", 420)
    assert overflow(page) <= 0
    page.select_option("[data-sort]", "confidence")
    page.fill("[data-search]", "good 7")
    assert shown(page).count() == 1
    sentences = [["the", "cat", "sleeps" * 40], ["a", "dog", "barks"]] * 3
    tags = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]] * 3
    tagger = treille.Tagger(min_count=1).fit(sentences, tags)
    tagger.write_report(sentences, [*tags[:5], ["O", "O", "O"]], tmp_path / "tagger.html")
    page = visit(tmp_path / "tagger.html", 420)
    assert overflow(page) <= 0
    page.select_option("[data-show]", "wrong")
    assert shown(page).count() == 1


def test_the_page_prints_without_its_navigation(visit, wines):
    page = visit(wines)
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert overflow(page) <= 0
