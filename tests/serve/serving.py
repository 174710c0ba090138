"""Servers on free ports in a thread of the test, and a client that connects to them directly."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from dataclasses import dataclass
from typing import Any

from treille.serve.app import make_app
from treille.serve.run import Server, listening, url_of


@dataclass(frozen=True)
class Reply:
    """Status, headers in lower case, and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """The message of an error, after a check of its structure."""
        error = self.json()["error"]
        assert set(error) == {"status", "type", "message"}
        assert error["status"] == self.status
        assert "Traceback" not in error["message"]
        return error["message"]


class Client:
    """Sends requests to a port of this machine."""

    def __init__(self, port: int, app: Any = None):
        self.port = port
        self.app = app
        self.url = f"http://127.0.0.1:{port}/"

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, found, response.read())

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, value: Any) -> Reply:
        """Sends JSON; bytes are sent as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.send("POST", path, body, {"Content-Type": "application/json"})


@contextlib.contextmanager
def served(model: Any, **options: Any):
    """A client of a server of this model, which ends with the block."""
    app = make_app(model, **options)
    server = Server(app, 5)
    with listening("127.0.0.1", 0) as found:
        port = int(url_of(found).rstrip("/").rpartition(":")[2])
        thread = threading.Thread(target=server.run_on, args=(found,), daemon=True)
        thread.start()
        try:
            yield Client(port, app)
        finally:
            server.should_exit = True
            thread.join(60)
    assert not thread.is_alive()
