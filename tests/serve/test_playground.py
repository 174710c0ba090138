"""The page in a browser: it answers while one types, for every kind of data, on a phone, and for hostile texts."""

from __future__ import annotations

import contextlib
import json

import pytest
from served_models import CASES
from serving import served

import treille
from treille.serve.playground import Sample

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, which the extra [test] installs")
PHONE = {"width": 420, "height": 800}
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202eright to left \u0627\u0644\u0643\u0631\u0645",
    "\x00\x01\x1b[31m\ufffe",
    "x" * 20_000,
    "{{ 7 * 7 }} & < > \" '",
]


class Page:
    """A page of the browser that collects errors and foreign requests."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.faults = []
        self.ignored = None  # what the browser itself writes on its console for a request that is refused
        self.requested = []
        self.page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append("a dialog"))
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.url = url
        self.page.goto(url)

    def type(self, text, field=0):
        self.page.locator(f"#field-{field}").fill(text)

    def assert_shows(self, selector, text):
        playwright.expect(self.page.locator(selector)).to_contain_text(text, timeout=20_000)

    def close(self):
        self.context.close()
        assert [fault for fault in self.faults if not (self.ignored and self.ignored in fault)] == []
        assert all(url.startswith((self.url, "data:")) for url in self.requested)


@pytest.fixture
def opened(browser):
    """Serves a model and opens its page; at the end there was no error, and no request to anywhere else."""
    with contextlib.ExitStack() as stack:

        def call(model, viewport=None, color_scheme=None, **options):
            client = stack.enter_context(served(model, **options))
            page = Page(browser, client.url, viewport=viewport, color_scheme=color_scheme)
            stack.callback(page.close)
            return page

        yield call


def off_screen(page):
    """Elements that reach beyond the right border of the window, unless a box around them scrolls."""
    return page.page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? []
        : [...document.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
          .map((each) => each.outerHTML.slice(0, 80))""")


def test_the_answer_follows_what_is_typed(wines, opened):
    page = opened(wines)
    page.page.locator("#field-0").press_sequentially("dark red", delay=5)
    page.assert_shows("#label", "red")
    page.assert_shows("#scores", "white")
    playwright.expect(page.page.locator(".highlighted .for").first).to_be_visible()
    page.assert_shows("#sum", "intercept")
    page.type("white and green")
    page.assert_shows("#label", "white")
    page.assert_shows("#parts", "+")


def test_a_class_can_be_chosen_from_the_keyboard(wines, opened):
    page = opened(wines)
    page.type("red")
    page.assert_shows("#label", "red")
    before = page.page.locator(".highlighted").inner_html()
    page.page.locator("#field-0").press("Tab")
    assert page.page.evaluate("document.activeElement.id") == "class"
    page.page.keyboard.press("w")  # selects white
    page.page.wait_for_function("before => document.querySelector('.highlighted').innerHTML !== before", arg=before)
    page.assert_shows("#label", "red")


def test_answers_to_earlier_text_are_dropped(wines, opened):
    page = opened(wines)
    held = []

    def hold(route):
        if '"white"' in route.request.post_data:
            held.append(route)  # is answered last
        else:
            route.continue_()

    page.page.route("**/explain", hold)
    page.type("white")
    page.page.wait_for_timeout(300)
    page.type("red")
    page.assert_shows("#label", "red")
    for route in held:
        try:
            route.continue_()
        except playwright.Error:  # the page has given the request up
            continue
    page.page.wait_for_timeout(200)
    page.assert_shows("#label", "red")
    assert held


def test_hostile_texts_are_shown_and_nothing_of_them_runs(wines, opened):
    page = opened(wines)
    for text in HOSTILE:
        page.type("")
        page.type(text)
        page.page.wait_for_function(
            "text => document.getElementById('highlighting').textContent.length >= Math.min(text.length / 2, 1000)",
            arg=text,
        )
        assert page.page.locator("#highlighting script, #highlighting img").count() == 0
        assert off_screen(page) == []


def test_hostile_classes_and_samples_are_shown_and_nothing_of_them_runs(opened):
    model = treille.SVC(treille.kernels.NGram(1)).fit(["a", "b", "c"], [HOSTILE[0], HOSTILE[1], "\u202e" + "z" * 300])
    samples = [Sample(text[:60], text) for text in HOSTILE]
    page = opened(model, viewport=PHONE, name=HOSTILE[0], samples=samples)
    page.assert_shows("#scores", "script")
    for k in range(len(samples)):
        page.page.locator("#sample").select_option(str(k))
        page.page.wait_for_timeout(100)
        assert off_screen(page) == []


TYPED = {
    "texts": ("very red", "red"),
    "dna": ("acgtacgn", "1"),
    "trees": ("(S (NP they) (VP sat))", "s"),
    "graphs": ('{"nodes": ["C", "N"], "edges": [[0, 1]]}', "amine"),
    "lattices": ("((('red', 0.75, 1), ('wine', 0.25, 1),),)", "red"),
    "vectors": ("1, 0 0.5", "red"),
    "tagger": ("The/DT dog/NN", "2 tokens"),
    "probabilities": ("reddish", "red"),
    "numbers": ("reddish", "."),
    "one_class": ("a red wine", "1"),
}


@pytest.mark.parametrize("name", TYPED)
def test_examples_of_every_kind_can_be_typed_on_a_phone_and_in_the_dark(name, opened):
    text, label = TYPED[name]
    page = opened(CASES[name]().model, viewport=PHONE, color_scheme="dark", name=name)
    page.type(text)
    page.assert_shows("#label", label)
    assert off_screen(page) == []
    if name == "tagger":
        page.assert_shows("#highlighting", "B-NP")
        page.page.locator("summary", has_text="dog").press("Enter")
        page.assert_shows("#highlighting details[open]", "I-NP: score")


def test_columns_have_a_field_each(opened):
    page = opened(CASES["columns"]().model)
    page.type("red wine")
    page.type("2.5", field=1)
    page.assert_shows("#label", "red")
    page.type("-20.5", field=1)
    page.assert_shows("#label", "white")


def test_invalid_examples_are_named_and_the_page_still_works(opened):
    page = opened(CASES["trees"]().model)
    page.ignored = "status of 422"
    page.type("(S (NP")
    page.assert_shows("#note", "is not closed")
    page.type("(S (NP he))")
    page.assert_shows("#label", "s")
    playwright.expect(page.page.locator("#note")).to_be_empty()


def test_samples_are_offered_and_shown_at_once(wines, opened):
    samples = [Sample("first", "red wine"), Sample("second", "white wine")]
    page = opened(wines, samples=samples)
    page.assert_shows("#label", "red")
    page.page.locator("#sample").select_option("1")
    page.assert_shows("#label", "white")
    assert page.page.locator("#field-0").input_value() == "white wine"
    page.type("own text")
    assert page.page.locator("#sample").input_value() == ""


def test_the_page_carries_its_setup_as_data(client):
    page = client.get("/").body.decode()
    data = page.partition('type="application/json">')[2].partition("</script>")[0]
    assert json.loads(data)["classes"] == ["red", "white"]
