"""The answers of the server equal those of the model, for every kind of data and estimator."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from served_models import CASES, lattices
from serving import served

import treille
from treille import Tagger, kernels
from treille.data import Graph


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """A model, its example, and a client of its server."""
    found = CASES[request.param]()
    with served(found.model, name=request.param) as client:
        yield found, client


def test_predictions_are_those_of_the_model(case):
    (model, _, value, example), client = case
    one, several = client.post("/predict", {"example": value}), client.post("/predict", {"examples": [value, value]})
    assert (one.status, several.status) == (200, 200), (one.body, several.body)
    answer, answers = one.json(), several.json()
    predicted = model.predict([example])
    if isinstance(model, Tagger):
        assert (answer, answers) == ({"tags": predicted[0]}, {"tags": predicted * 2})
        return
    if not hasattr(model, "decision_function"):
        assert answer == {"value": predicted.tolist()[0]}
        assert answers == {"values": predicted.tolist() * 2}
        return
    scores = model.decision_function([example])
    rows = scores[0] if scores.ndim == 2 else [-scores[0], scores[0]]
    assert answer["label"] == predicted.tolist()[0]
    assert answers["labels"] == predicted.tolist() * 2
    assert answer["classes"] == (model.classes_.tolist() if hasattr(model, "classes_") else [-1, 1])
    np.testing.assert_allclose(answer["scores"], rows, rtol=1e-12)
    np.testing.assert_allclose(answers["scores"], [rows, rows], rtol=1e-12)
    assert ("probabilities" in answer) == hasattr(model, "predict_proba")
    if "probabilities" in answer:
        np.testing.assert_allclose(answer["probabilities"], model.predict_proba([example])[0], rtol=1e-12)


def reason(model, example):
    """Why a model has no explanation of an example; None if it has one."""
    try:
        model.explain(example)
    except treille.InputError as error:
        return str(error)
    return None


@pytest.fixture
def explained(case):
    """The same, of a model that explains this example; of others, the answer says why not."""
    (model, _, value, example), client = case
    why = reason(model, example)
    if why is None:
        return case
    found = client.post("/explain", {"example": value})
    assert (found.status, found.message) == (422, why)
    return pytest.skip(why)


def test_contributions_base_and_intercept_sum_to_the_score(explained):
    (model, _, value, example), client = explained
    found = client.post("/explain", {"example": value})
    assert found.status == 200, found.body
    answer = found.json()
    if isinstance(model, Tagger):
        assert answer["tags"] == model.predict([example])[0]
        each = answer["tokens"]
        assert [token["token"] for token in each] == value
    else:
        each = [answer | {"scores": None}]
    for part in each:
        total = sum(part["contributions"]) + part["intercept"] + part.get("base", 0.0)
        assert total == pytest.approx(part["score"], abs=1e-9)
        assert len(part["parts"]) == len(part["contributions"])
    if hasattr(model, "classes_"):
        assert answer["score"] == pytest.approx(answer["scores"][answer["classes"].index(answer["label"])])
        assert answer["class"] == answer["label"]


def test_every_class_can_be_explained_and_highlighted(explained):
    (model, _, value, example), client = explained
    if not hasattr(model, "classes_"):
        refused = client.post("/explain", {"example": value, "class": "red"})
        assert refused.status == 422
        assert "leave out 'class'" in refused.message
        return
    for k, label in enumerate(model.classes_.tolist()):
        answer = client.post("/explain", {"example": value, "class": label, "html": True}).json()
        own = model.explain(example)
        assert (answer["class"], answer["score"]) == (label, pytest.approx(answer["scores"][k]))
        np.testing.assert_allclose(answer["contributions"], own.contributions(label), rtol=1e-9, atol=1e-12)
        if example == value:
            assert answer["html"] == own.html(label)
        assert client.post("/explain", {"example": value, "class": str(label)}).json()["class"] == label


def test_several_examples_are_explained_at_once(explained):
    (_, _, value, _), client = explained
    one = client.post("/explain", {"example": value}).json()
    answer = client.post("/explain", {"examples": [value, value]}).json()
    one.pop("classes", None)
    assert answer["explanations"] == [one, one]


def test_threads_get_the_same_answers(case):
    (_, _, value, _), client = case
    paths = ["/predict", "/explain"] * 8
    alone = {path: client.post(path, {"example": value}).body for path in paths[:2]}
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda path: client.post(path, {"example": value}).body, paths)) == [
            alone[p] for p in paths
        ]


def test_no_examples_have_an_empty_answer(case):
    _, client = case
    answer = client.post("/predict", {"examples": []}).json()
    assert all(value == [] for name, value in answer.items() if name != "classes")
    assert client.post("/explain", {"examples": []}).json() == {"explanations": []}


def test_the_model_is_described(case):
    (model, kind, _, _), client = case
    answer = client.get("/model").json()
    assert answer["data"] == kind
    assert answer["estimator"] == type(model).__name__
    assert answer["version"] == treille.__version__
    assert answer["report"] == json.loads(json.dumps(model.report_.as_dict()))
    assert answer["kernel"]


@pytest.mark.parametrize(
    "value", [None, 5, True, {"a": [{}]}, [[[]]], [{"b": 1}, 2], {"nodes": 10**12, "edges": []}, {"edges": {}}]
)
def test_examples_of_another_kind_are_refused_with_the_library_s_message(case, value):
    _, client = case
    for path in ("/predict", "/explain"):
        found = client.post(path, {"examples": [value]})
        assert found.status == 422, found.body
        assert len(found.message) < 400


@pytest.mark.parametrize(
    ("name", "empty"),
    [("texts", ""), ("dna", ""), ("graphs", {"nodes": [], "edges": []}), ("lattices", []), ("vectors", [0, 0, 0])],
)
def test_the_score_of_an_empty_example_is_the_intercept(name, empty):
    model = CASES[name]().model
    with served(model) as client:
        found = client.post("/predict", {"example": empty})
        assert found.json()["scores"][-1] == pytest.approx(float(model.intercept_[0]))
        if reason(model, CASES[name]().example):
            return
        answer = client.post("/explain", {"example": empty, "html": True}).json()
        assert sum(answer["contributions"]) == 0
        assert answer["score"] == answer["intercept"]
        assert client.post("/predict", {"example": empty}).json()["scores"] == pytest.approx(answer["scores"])


def test_an_empty_sentence_has_no_tags():
    with served(CASES["tagger"]().model) as client:
        assert client.post("/predict", {"example": []}).json() == {"tags": []}
        assert client.post("/explain", {"example": []}).json() == {"tags": [], "tokens": []}


def test_words_of_a_text_come_with_the_highlighting(client):
    answer = client.post("/explain", {"example": "a red wine", "html": True}).json()
    assert [word for word, _ in answer["words"]] == ["a", "red", "wine"]
    assert "words" not in client.post("/explain", {"example": "a red wine"}).json()


def test_lattices_are_read_from_plf_and_from_lists_of_words():
    with served(lattices().model) as client:
        arcs = client.post("/predict", {"example": lattices().json}).json()["scores"]
        text = "((('red', 0.75, 1), ('wine', 0.25, 1),),)"
        assert client.post("/predict", {"example": {"plf": text, "weights": "prob"}}).json()["scores"] == pytest.approx(
            arcs
        )
        one = client.post("/predict", {"example": ["red"]}).json()["scores"]
        path = {"arcs": [[0, "red", 1, 1]], "finals": {"1": 1}}
        assert client.post("/predict", {"example": path}).json()["scores"] == pytest.approx(one)
        mixed = client.post("/predict", {"examples": [path, "red"]})
        assert (mixed.status, "item 1" in mixed.message) == (422, True)
        for wrong in ({"plf": "((("}, {"plf": text, "weights": "kg"}, {"arcs": [[0, "a", 1, 99999999]], "finals": {}}):
            assert client.post("/predict", {"example": wrong}).status == 422


def test_a_model_without_features_predicts_and_explains():
    model = treille.SVC(kernels.SubsetTree()).fit(["(S (NP he) (VP sat))", "(Q (WH who) (VP is))"], [0, 1])
    with served(model) as client:
        assert client.post("/predict", {"example": "(S (NP she) (VP is))"}).json()["label"] in (0, 1)
        answer = client.post("/explain", {"example": "(S (NP she) (VP is))", "html": True}).json()
        assert sum(answer["contributions"]) + answer["intercept"] == pytest.approx(answer["score"], abs=1e-9)
        assert "svg" in answer["html"]


def test_training_examples_explain_where_parts_cannot():
    examples = [Graph(["C", "O"], [(0, 1)]), Graph(["C", "N"], [(0, 1)])]
    model = treille.SVC(kernels.RandomWalk(0.1)).fit(examples, ["alcohol", "amine"])
    with served(model) as client:
        answer = client.post("/explain", {"example": {"nodes": ["C", "N"], "edges": [[0, 1]]}, "html": True}).json()
        assert answer["by_support"] is True
        assert sum(answer["contributions"]) + answer["intercept"] == pytest.approx(answer["score"], abs=1e-9)


def test_roots_that_were_labels_in_training_are_not_read():
    model = treille.SVC(kernels.Subpath()).fit(["(ROOT (NP he))", "(ROOT (VP sat))"], ["3", "4"])
    model.reading_ = {"root_label": True}
    with served(model) as client:
        scores = [client.post("/predict", {"example": f"({root} (NP he))"}).json()["scores"] for root in (3, 4, "ROOT")]
        assert scores[0] == scores[1] == scores[2]


def test_fields_are_joined_as_in_training():
    model = treille.SVC(kernels.NGram(2)).fit(["red wine", "ale pale"], [0, 1])
    model.reading_ = {"text": "title+body"}
    with served(model) as client:
        joined = client.post("/predict", {"example": "red wine"}).json()
        assert client.post("/predict", {"example": {"title": "red", "body": "wine"}}).json() == joined
        assert "title" in client.post("/predict", {"example": {"body": "wine"}}).message


def test_a_precomputed_kernel_cannot_be_served():
    model = treille.SVC("precomputed").fit(np.eye(4), WORDS)
    with pytest.raises(treille.InputError, match="precomputed"), served(model):
        pass


WORDS = ["red", "red", "white", "white"]


def test_residues_may_be_pasted_as_fasta_or_on_several_lines():
    model = treille.SVC(kernels.GappedKmer(4, 3)).fit(
        treille.dna(["ACGTACGT", "AACCGGTT", "TTTTAAAA", "TATATATA"]), [1, 1, 0, 0]
    )
    with served(model) as client:
        plain = client.post("/predict", {"example": "ACGTACGTAC"}).json()
        for pasted in (">chr1:5-15 strand=+\nACGTAC\nGTAC\n", "\n>x\r\nacgtacgtac\r\n", "ACGTA\n CGTAC\n"):
            assert client.post("/predict", {"example": pasted}).json() == plain
        reply = client.post("/predict", {"examples": ["ACGT", ">a\nACGT\n>b\nACGT\n"]})
        assert reply.status == 422
        assert "item 1 holds 2 records of FASTA, expected one sequence" in reply.message
