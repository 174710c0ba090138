"""The answers of a model: from the bodies of requests to the bodies of answers, without HTTP. The threads of a server run it."""

import json
import traceback
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import treille
from treille import InputError
from treille.explain.tasks import one
from treille.kernels.parse import format_kernel
from treille.serve.kinds import reader_of
from treille.serve.requests import Request, RequestError, parsed, request_of

T = TypeVar("T")


class Served:
    """A fitted estimator, the name shown for it, and how its examples are read."""

    def __init__(self, model: Any, name: str = ""):
        self.model, self.name, self.reader, self.task = model, name, reader_of(model), model.task()

    def description(self) -> dict[str, Any]:
        """The model in JSON values, for `GET /model`."""
        model = self.model
        return {
            "name": self.name,
            "estimator": type(model).__name__,
            "kernel": format_kernel(model.plan_.kernel),
            "classes": self.task.labels,
            "probabilities": "probabilities" in self.task.fields,
            "data": self.reader.kind,
            "columns": {name: column.kind for name, column in self.reader.columns.items()} or None,
            "example": self.reader.expected,
            "reading": dict(model.reading_),
            "sizes": model.plan_.sizes,
            "report": model.report_.as_dict(),
            "version": treille.__version__,
        }

    def predict(self, bodies: Sequence[bytes]) -> list[bytes | RequestError]:
        """Returns the body of the answer, or the error, for each request. The model gets the examples of all requests together,
        unless one of them is refused."""
        requests = [_tried(lambda body=body: request_of(parsed(body))) for body in bodies]  # type: ignore[misc]
        sound = [request for request in requests if isinstance(request, Request)]
        together = _tried(lambda: self.answers([value for each in sound for value in each.examples]))
        if isinstance(together, RequestError) and len(sound) > 1:
            return [self.predict([body])[0] for body in bodies]
        answers, first = list[bytes | RequestError](), 0
        for request in requests:
            if isinstance(request, RequestError):
                answers.append(request)
            elif isinstance(together, RequestError):
                answers.append(together)
            else:
                last = first + len(request.examples)
                found = {name: each[first:last] for name, each in together.items()}
                answers.append(encoded(self._classes(found) | (one(found, 0) if request.single else found)))
                first = last
        return answers

    def explain(self, bodies: Sequence[bytes]) -> list[bytes | RequestError]:
        """Explanations, one request after the other."""
        return [_tried(lambda body=body: self._explained(body)) for body in bodies]  # type: ignore[misc]

    def answers(self, values: list[Any]) -> dict[str, list[Any]]:
        """One item per example in each list: labels and scores, or values, or tags."""
        return self.task.answers(self.reader.read(values)) if values else {name: [] for name in self.task.fields}

    def _explained(self, body: bytes) -> bytes:
        request = request_of(parsed(body), explain=True)
        label = None if request.label is None else self.task.label_named(request.label)
        explained = self.model.explain_all(self.reader.read(request.examples)) if request.examples else []
        html = [each.drawn(label) if request.html else {} for each in explained]
        found = [self.task.explained(each, label) | own for each, own in zip(explained, html, strict=True)]
        classes = self._classes(found[0]) if found else {}
        return encoded(classes | (found[0] if request.single else {"explanations": found}))

    def _classes(self, found: dict[str, Any]) -> dict[str, Any]:
        """The classes in the order of the scores, if an answer has scores."""
        return {"classes": self.task.labels} if "scores" in found else {}


def encoded(value: Any) -> bytes:
    """JSON in ASCII, which holds every text, also one that UTF-8 cannot encode."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _tried(work: Callable[[], T]) -> T | RequestError:
    """The result of `work`, or the error that the client receives for its exception."""
    try:
        return work()
    except RequestError as error:
        return error
    except InputError as error:
        return RequestError(422, str(error))
    except MemoryError:
        return RequestError(413, "there is not enough memory for these examples: send fewer at once")
    except Exception as error:
        return internal(error)


def internal(error: Exception) -> RequestError:
    """The error for a fault of the program: it names the place in the code, and shows nothing of the request."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {PurePath(last.filename).name}, line {last.lineno}"
    return RequestError(500, f"an error of the server, not of the request: {where}")
