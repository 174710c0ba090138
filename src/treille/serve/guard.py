"""What every answer of the server has in common: the host is checked, headers protect browsers, and a line may be logged."""

import ipaddress
import re
import time
from collections.abc import Callable, Collection
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treille.serve.api import encoded
from treille.serve.requests import RequestError

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


def json_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


def error_response(error: RequestError) -> Response:
    return json_response(encoded(error.body()), error.status, error.headers)


class Guard:
    """ASGI middleware around the application.

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
    """Whether the header Host names this server: by an address, or by one of its names, with or without a port.

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
