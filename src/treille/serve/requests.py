"""The bodies of requests, read and checked, and the errors that clients receive when a request cannot be answered."""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

DEPTH = 32  # lists and objects inside each other
JSON_TYPE = "expected Content-Type: application/json (curl: -H 'Content-Type: application/json')"
KINDS = {
    400: "bad request",
    404: "not found",
    405: "method not allowed",
    408: "request timeout",
    413: "too large",
    415: "unsupported media type",
    421: "misdirected request",
    422: "bad example",
    500: "internal error",
    503: "busy",
    504: "timeout",
}


class RequestError(Exception):
    """The end of a request that cannot be answered: status, message, and headers that belong to it."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})

    def body(self) -> dict[str, object]:
        """The answer as JSON values.

        >>> RequestError(404, "there is no /x")
        RequestError('there is no /x')
        >>> RequestError(404, "there is no /x").body()
        {'error': {'status': 404, 'type': 'not found', 'message': 'there is no /x'}}
        """
        return {"error": {"status": self.status, "type": KINDS.get(self.status, "error"), "message": self.message}}


class Request(NamedTuple):
    """Examples, and whether there was one, not a list of them; of an explanation also the class, if one is named, and whether the
    example is wanted highlighted as HTML."""

    examples: list[Any]
    single: bool
    label: Any = None
    html: bool = False


def check_type(headers: Mapping[str, str]) -> None:
    """Refuses a body that is not declared as JSON. A page of another site could send any other type without asking first."""
    found = headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != "application/json" and not (found.startswith("application/") and found.endswith("+json")):
        raise RequestError(415, f"the body is {found or 'of no type'}, {JSON_TYPE}")
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise RequestError(415, f"the body is compressed ({encoding}), expected plain JSON")


def check_length(headers: Mapping[str, str], most: int) -> None:
    """Refuses a body that is declared too long, before any of it is read."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large(most)


def too_large(most: int) -> RequestError:
    """The error for a body with more bytes than allowed."""
    message = f"the body is longer than {most:,} bytes, the limit: send fewer examples"
    return RequestError(413, message, {"Connection": "close"})


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    >>> parsed(b'{"example": "a vine"}')
    {'example': 'a vine'}
    >>> parsed(b'{"example": }')
    Traceback (most recent call last):
    treille.serve.requests.RequestError: line 1, column 13: not JSON: Expecting value
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_constant, parse_float=_number)
    except UnicodeDecodeError as error:
        raise RequestError(400, f"byte {error.start}: not UTF-8, expected JSON in UTF-8") from None
    except json.JSONDecodeError as error:
        raise RequestError(400, f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise RequestError(400, f"JSON that cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise RequestError(400, 'expected an object, {"example": ...} or {"examples": [...]}')
    _check_depth(value)
    return value


def request_of(value: dict[str, Any], explain: bool = False) -> Request:
    """The request for predictions, or for explanations, that a JSON object makes.

    >>> request_of({"examples": ["a", "b"]})
    Request(examples=['a', 'b'], single=False, label=None, html=False)
    """
    allowed = ("example", "examples", *(("class", "html") if explain else ()))
    unknown = [name for name in value if name not in allowed]
    if unknown:
        raise RequestError(400, f"unknown field {unknown[0][:40]!r}, expected {', '.join(allowed)}")
    single = "example" in value
    if single == ("examples" in value):
        raise RequestError(400, "expected either 'example', one example, or 'examples', a list of them")
    examples, html = [value["example"]] if single else value["examples"], value.get("html", False)
    if not isinstance(examples, list):
        raise RequestError(400, "'examples' must be a list; for one example, use 'example'")
    if not isinstance(html, bool):
        raise RequestError(400, "'html' must be true or false")
    return Request(examples, single, value.get("class"), html)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large for a float64")
    return number


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH):
        inner = [each for box in level for each in (box.values() if isinstance(box, dict) else box)]
        level = [each for each in inner if isinstance(each, (list, dict))]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> RequestError:
    return RequestError(400, f"lists and objects are nested more than {DEPTH} deep")
