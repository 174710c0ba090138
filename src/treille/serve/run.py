"""Runs an application until it is asked to stop: the socket, the signals, and the end."""

import asyncio
import contextlib
import errno
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import uvicorn
from starlette.applications import Starlette

from treille import InputError

BACKLOG = 2048
SWITCH = 0.0005  # seconds: threads that wait for the interpreter get it sooner than by default


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at this address; port 0 is a free one.

    >>> with listening("127.0.0.1", 0) as found:
    ...     found.getsockname()[1] > 0
    True
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        raise InputError(f"there is no host {host!r}: give an address of this machine, such as 127.0.0.1") from None
    found = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        raise InputError(_refused(error, host, port)) from None
    found.setblocking(False)
    return found


def _refused(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use: stop the program that uses it, choose another with --port, or give --port 0 "
            "for any that is free"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs rights that this user does not have: choose one from 1024 on with --port"
    return f"{host} is not an address of this machine: {error.strerror}"


def url_of(found: socket.socket) -> str:
    """The address of a listening socket for a browser on this machine."""
    host, port = found.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class Server(uvicorn.Server):
    """A server that ends with the exit code of the program, not by the signal, and says when it listens.

    Requests that are being answered when it is asked to stop have `seconds` to end.
    """

    def __init__(self, app: Starlette, seconds: float, started: Callable[[], None] | None = None):
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=max(1, round(seconds)),
            timeout_keep_alive=30,
        )
        super().__init__(config)
        self._when_started = started

    def run_on(self, found: socket.socket) -> None:
        """Serves at a listening socket until SIGINT or SIGTERM arrive, or `should_exit` is set."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            asyncio.run(self.serve(sockets=[found]))
        finally:
            sys.setswitchinterval(before)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._when_started is not None and not self.should_exit:
            self._when_started()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM stop the server; a second SIGINT does so at once."""
        main = threading.current_thread() is threading.main_thread()
        wanted = (signal.SIGINT, signal.SIGTERM) if main else ()
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
