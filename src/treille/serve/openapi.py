"""The description of the server in OpenAPI 3.1, for the model that it serves."""

from typing import Any

import treille
from treille.explain.tasks import SINGULAR
from treille.serve.api import Served
from treille.serve.limits import Limits
from treille.serve.requests import KINDS

FAILURES = (400, 408, 413, 415, 421, 422, 500, 503, 504)
NUMBER, TEXT = {"type": "number"}, {"type": "string"}
NUMBERS = {"type": "array", "items": NUMBER}


def description(served: Served, limits: Limits) -> dict[str, Any]:
    """The document at `/openapi.json`."""
    about = (
        f"A model of {type(served.model).__name__} that reads {served.reader.kind}. Bodies have at most {limits.body:,} bytes; "
        f"an answer takes at most {limits.seconds:g} s."
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": served.name or "treille", "description": about, "version": treille.__version__},
        "paths": {
            "/predict": _post("predict", "Predict one example, or several."),
            "/explain": _post("explain", "What each part contributes to the score."),
            "/model": _get("model", "The model: kernel, classes, kind of data, report.", {"type": "object"}),
            "/healthz": _get("healthz", "Whether the server answers.", _object({"status": {"const": "ok"}})),
            "/openapi.json": _get("openapi", "This document.", {"type": "object"}),
        },
        "components": {"schemas": _schemas(served)},
    }


def _schemas(served: Served) -> dict[str, Any]:
    labels = served.task.labels
    label = {"enum": labels} if labels else {"type": "integer", "description": "The number of a target."}
    examples = {"example": _ref("Example"), "examples": {"type": "array", "items": _ref("Example")}}
    either = {"oneOf": [{"required": ["example"]}, {"required": ["examples"]}], "additionalProperties": False}
    options = {"class": label, "html": {"type": "boolean", "default": False}}
    error = _object({"status": {"type": "integer"}, "type": TEXT, "message": TEXT})
    single, several = _predictions(served, label)
    explanation = _explanation(served, label, single)
    return {
        "Example": dict(served.reader.schema),
        "PredictRequest": _object(examples, required=False) | either,
        "ExplainRequest": _object(examples | options, required=False) | either,
        "Prediction": single,
        "Predictions": several,
        "Explanation": explanation,
        "Explanations": _object({"explanations": {"type": "array", "items": _ref("Explanation")}}),
        "Error": _object({"error": error}),
    }


def _predictions(served: Served, label: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers for one example, and for several."""
    value = {"type": ["number", "array"], "description": "A number, or one for each target."}
    tags = {"type": "array", "items": label}
    known = {"labels": label, "scores": NUMBERS, "probabilities": NUMBERS, "values": value, "tags": tags}
    rows = {name: known[name] for name in served.task.fields}
    order = {"classes": {"type": "array", "items": label, "description": "The order of the scores."}}
    classes = order if "scores" in rows else {}
    single = {SINGULAR.get(name, name): row for name, row in rows.items()}
    several = {name: {"type": "array", "items": row} for name, row in rows.items()}
    return _object(classes | single), _object(classes | several)


def _explanation(served: Served, label: dict[str, Any], single: dict[str, Any]) -> dict[str, Any]:
    own = {"score": NUMBER, "intercept": NUMBER, "parts": {"type": "array", "items": TEXT}, "contributions": NUMBERS}
    if served.task.per_token:
        token = _object({"token": served.reader.schema["items"], "tag": label} | own)
        return _object({"tags": {"type": "array", "items": label}, "tokens": {"type": "array", "items": token}})
    html = {"type": "string", "description": "The highlighted example, on request."}
    optional = {"html": html, "class": label, "columns": {"type": "array"}, "words": {"type": "array"}}
    optional["by_support"] = {
        "const": True,
        "description": "The parts are training examples, the kernel has no others.",
    }
    known = {name: schema for name, schema in single["properties"].items() if name not in ("classes", "value")}
    described = _object(known | own | {"base": NUMBER})
    return described | {"properties": described["properties"] | optional}


def _object(properties: dict[str, Any], required: bool = True) -> dict[str, Any]:
    return {"type": "object", "properties": properties} | ({"required": list(properties)} if required else {})


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _get(name: str, summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    answers = {"200": {"description": "OK"} | _json(schema)}
    return {"get": {"operationId": name, "summary": summary, "responses": answers}}


def _post(name: str, summary: str) -> dict[str, Any]:
    answers = {"predict": ("Prediction", "Predictions"), "explain": ("Explanation", "Explanations")}[name]
    failures = {str(status): {"description": KINDS[status]} | _json(_ref("Error")) for status in FAILURES}
    request = {"required": True} | _json(_ref(f"{name.capitalize()}Request"))
    responses = {"200": {"description": "OK"} | _json({"anyOf": [_ref(each) for each in answers]})} | failures
    return {"post": {"operationId": name, "summary": summary, "requestBody": request, "responses": responses}}
