"""The server as a Starlette application."""

import asyncio
import contextlib
import ipaddress
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treille.serve.api import Served, encoded, internal
from treille.serve.limits import Limits, Work, Workers
from treille.serve.openapi import description
from treille.serve.playground import Sample, asset, page
from treille.serve.requests import RequestError, check_length, check_type, too_large

Endpoint = Callable[[Request], Awaitable[Response]]
LINGER = 1 << 20  # bytes beyond the limit that are read and dropped: a client that still sends would not see the answer
LOCAL = ("localhost", "127.0.0.1", "::1")
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)  # colours of parts are style attributes; scripts come from the server's own file only
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def make_app(
    model: Any,
    *,
    name: str = "",
    samples: Sequence[Sample] = (),
    limits: Limits | None = None,
    hosts: Collection[str] = (),
    log: Callable[[str], None] | None = None,
) -> Starlette:
    """An ASGI application that answers for a fitted estimator; any ASGI server runs it.

    Parameters
    ----------
    model : estimator
        Fitted, or from `treille.load`. It is shared by threads, and must not be changed while it is served.
    name : str
        Shown on the page.
    samples : list of Sample
        Offered on the page.
    limits : Limits or None
        Of the body of a request, of time, of requests at once.
    hosts : list of str
        Names of this server besides those of the local machine; see `Guard`.
    log : function or None
        Called with a line for each request: method, path, status, milliseconds.

    >>> import treille
    >>> app = make_app(treille.SVC(treille.kernels.NGram(1)).fit(["aab", "bcc"], ["a", "c"]))
    >>> [route.path for route in app.routes if "POST" in route.methods]
    ['/predict', '/explain']
    """
    limits = limits or Limits()
    served, workers = Served(model, name), Workers(limits)
    own = {
        "/": ("text/html", page(served, samples).encode()),
        "/playground.css": ("text/css", asset("playground.css")),
        "/playground.js": ("text/javascript", asset("playground.js")),
        "/model": ("application/json", encoded(served.description())),
        "/openapi.json": ("application/json", encoded(description(served, limits))),
    }
    routes = [Route(path, _fixed(body, kind), methods=["GET"]) for path, (kind, body) in own.items()]
    routes += [
        Route("/healthz", _health(workers), methods=["GET"]),
        Route("/predict", _answered(workers, served.predict), methods=["POST"]),
        Route("/explain", _answered(workers, served.explain), methods=["POST"]),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        workers.stop()

    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, hosts=hosts, log=log)],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.workers = workers
    return app


def _fixed(body: bytes, kind: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return Response(body, media_type=kind)

    return endpoint


def _health(workers: Workers) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return json_response(encoded({"status": "ok", "requests": workers.jobs}))

    return endpoint


def _answered(workers: Workers, work: Work) -> Endpoint:
    """An endpoint whose answers `work` computes in a thread."""
    limits = workers.limits

    async def endpoint(request: Request) -> Response:
        end = time.monotonic() + limits.seconds
        try:
            check_type(request.headers)
            check_length(request.headers, limits.body)
            body = await _body(request, limits)
            answer = await workers.run(work, body, len(body), max(0.001, end - time.monotonic()))
        except RequestError as error:
            return error_response(error)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return error_response(internal(error))
        return json_response(answer)

    return endpoint


async def _body(request: Request, limits: Limits) -> bytes:
    """The body of a request, if it arrives in time and is not too long."""

    async def read() -> bytes:
        chunks, size = list[bytes](), 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > limits.body + LINGER:
                break
            if size <= limits.body:
                chunks.append(chunk)
        if size > limits.body:
            raise too_large(limits.body)
        return b"".join(chunks)

    try:
        return await asyncio.wait_for(read(), limits.seconds)
    except (asyncio.TimeoutError, TimeoutError):
        message = f"the body did not arrive within {limits.seconds:g} s"
        raise RequestError(408, message, {"Connection": "close"}) from None


async def _refused(request: Request, error: Exception) -> Response:
    """Paths that do not exist, and methods that a path does not have."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        allowed = headers.get("Allow", "another")
        return error_response(RequestError(405, f"{request.url.path} takes {allowed}, not {request.method}", headers))
    message = "there is no such path: see /openapi.json, or / for the playground"
    return error_response(RequestError(error.status_code, message, headers))


def json_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


def error_response(error: RequestError) -> Response:
    return json_response(encoded(error.body()), error.status, error.headers)


class Guard:
    """ASGI middleware around the application: checks the host, adds headers that protect browsers, and may log a line.

    A request must name this server as its host: otherwise the page of another site, whose name an attacker has pointed to this
    address, could read the answers. Addresses are always right: such an attack needs a name.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = (), log: Callable[[str], None] | None = None):
        self.app = app
        self.hosts = {host.lower() for host in (*LOCAL, *hosts)}
        self.log = log
        self.raw_headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = message["headers"]
                html = any(name == b"content-type" and value.startswith(b"text/html") for name, value in own)
                policy = (b"content-security-policy", (PAGE if html else NOTHING).encode())
                message = {**message, "headers": [*own, *self.raw_headers, policy]}
            await send(message)

        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if is_allowed(host, self.hosts):
            await self.app(scope, receive, answer)
        else:
            advice = "use the address that the server printed, or --allow-host NAME"
            error = RequestError(421, f"the request is for another host: {advice}")
            await error_response(error)(scope, receive, answer)
        if self.log is not None:
            self.log(line(scope, status, time.perf_counter() - began))


def is_allowed(host: str, names: Collection[str]) -> bool:
    """Returns whether the header Host names this server: by an address, or by one of its names, with or without a port.

    >>> [is_allowed(host, {"localhost"}) for host in ("localhost:8000", "127.0.0.1", "[::1]:80", "evil.example", "")]
    [True, True, True, False, False]
    """
    name = re.sub(r"(?<=.):[0-9]+\Z", "", host).lower().rstrip(".")
    if name in names:
        return True
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def line(scope: Any, status: int, seconds: float) -> str:
    """A line of the log: method, path, status and milliseconds. Queries, headers and bodies are not in it.

    >>> line({"method": "GET", "path": "/healthz"}, 200, 0.0012)
    'GET /healthz 200 1.2 ms'
    """
    path = scope["path"] if scope["path"].isprintable() and len(scope["path"]) <= 100 else ascii(scope["path"])[:100]
    return f"{scope['method']} {path} {status} {1000 * seconds:.1f} ms"
