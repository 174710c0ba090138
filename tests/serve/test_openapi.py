"""The description of the interface is sound, and fits what the server answers."""

from __future__ import annotations

import pytest
from served_models import CASES
from serving import served

KINDS = {"string": str, "number": (int, float), "integer": int, "array": list, "object": dict, "boolean": bool}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    found = CASES[request.param]()
    with served(found.model) as client:
        yield found, client, client.get("/openapi.json").json()


def assert_fits(value, schema, document, place="answer"):
    """A small part of JSON Schema: what the descriptions use."""
    if "$ref" in schema:
        path = schema["$ref"].removeprefix("#/").split("/")
        found = document
        for name in path:
            found = found[name]
        return assert_fits(value, found, document, place)
    if "enum" in schema:
        assert value in schema["enum"], place
    if "const" in schema:
        assert value == schema["const"], place
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or isinstance(value, tuple(each for kind in kinds for each in _types(kind))), (place, value, kinds)
    for name, inner in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            assert_fits(value[name], inner, document, f"{place}.{name}")
    for name in schema.get("required", []):
        assert name in value, f"{place} has no {name}"
    if schema.get("additionalProperties") is False:
        assert set(value) <= set(schema["properties"]), place
    if isinstance(value, list) and "items" in schema:
        for i, each in enumerate(value):
            assert_fits(each, schema["items"], document, f"{place}[{i}]")
    for quantity, count in (("anyOf", None), ("oneOf", 1)):
        if quantity in schema:
            fits = [_fits(value, each, document) for each in schema[quantity]]
            assert sum(fits) == count if count else any(fits), (place, quantity, value)
    return None


def _types(kind):
    found = KINDS[kind]
    return found if isinstance(found, tuple) else (found,)


def _fits(value, schema, document):
    try:
        assert_fits(value, schema, document)
    except AssertionError:
        return False
    return True


def test_the_document_is_complete(case):
    _, client, document = case
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {"/predict", "/explain", "/model", "/healthz", "/openapi.json"}
    names = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            names.append(operation["operationId"])
            assert operation["summary"].endswith(".")
            assert "200" in operation["responses"]
            assert all(response["description"] for response in operation["responses"].values())
            assert client.send(method.upper(), path, headers={"Content-Type": "application/json"}).status in (200, 400)
    assert len(set(names)) == len(names)
    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"]


def references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from references(each)


def test_requests_and_answers_fit_the_schemas(case):
    (_, _, value, _), client, document = case
    schemas = document["components"]["schemas"]
    assert_fits(value, schemas["Example"], document, "example")
    for path, name in (("/predict", "Prediction"), ("/explain", "Explanation")):
        for request, kind in (({"example": value}, name), ({"examples": [value, value]}, f"{name}s")):
            assert_fits(request, schemas[f"{path[1:].title()}Request"], document, "request")
            reply = client.post(path, request)
            assert_fits(reply.json(), schemas[kind if reply.status == 200 else "Error"], document, path)


def test_wrong_requests_do_not_fit_the_schemas(case):
    (_, _, value, _), _, document = case
    schema = document["components"]["schemas"]["PredictRequest"]
    for wrong in (
        {},
        {"example": value, "examples": [value]},
        {"example": value, "exmaple": 1},
        {"examples": value},
        [value],
    ):
        if not (isinstance(value, list) and wrong == {"examples": value}):
            assert not _fits(wrong, schema, document)


def test_errors_fit_their_schema(case):
    _, client, document = case
    for reply in (client.post("/predict", b"{"), client.get("/nothing"), client.get("/predict")):
        assert_fits(reply.json(), document["components"]["schemas"]["Error"], document, "error")
