"""From the bodies of requests to the bodies of answers, without HTTP: what the threads of a server run."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

from treille import InputError
from treille.explain.tasks import one
from treille.serve.answers import Served
from treille.serve.errors import RequestError
from treille.serve.requests import PredictRequest, explain_request, parsed, predict_request

T = TypeVar("T")


class Api:
    """The two questions that a model answers. Each method takes the bodies of several requests, and returns for each the body of
    its answer, or the error."""

    def __init__(self, served: Served):
        self.served = served

    def predict(self, bodies: Sequence[bytes]) -> list[bytes | RequestError]:
        """Predictions: the examples of all requests go to the model together, unless one of them is refused."""
        requests = [_tried(lambda body=body: predict_request(parsed(body))) for body in bodies]  # type: ignore[misc]
        sound = [request for request in requests if isinstance(request, PredictRequest)]
        together = _tried(lambda: self.served.predict([value for each in sound for value in each.examples]))
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
                answers.append(self._predicted(request, {name: each[first:last] for name, each in together.items()}))
                first = last
        return answers

    def _predicted(self, request: PredictRequest, found: dict[str, list[Any]]) -> bytes:
        classes = {"classes": self.served.task.labels} if "scores" in found else {}
        return encoded(classes | (one(found, 0) if request.single else found))

    def explain(self, bodies: Sequence[bytes]) -> list[bytes | RequestError]:
        """Explanations, one request after the other."""
        return [_tried(lambda body=body: self._explain(body)) for body in bodies]  # type: ignore[misc]

    def _explain(self, body: bytes) -> bytes:
        request = explain_request(parsed(body))
        found = self.served.explain(request.examples, request)
        classes = {"classes": self.served.task.labels} if "scores" in (found[0] if found else ()) else {}
        return encoded(classes | (found[0] if request.single else {"explanations": found}))


def encoded(value: Any) -> bytes:
    """JSON in ASCII, which holds every text, also one that UTF-8 cannot encode."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _tried(work: Callable[[], T]) -> T | RequestError:
    """What `work` returns, or what the client is told of the exception."""
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
    """For a fault of the program: where it happened, not what was being read."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {PurePath(last.filename).name}, line {last.lineno}"
    return RequestError(500, f"an error of the server, not of the request: {where}")
