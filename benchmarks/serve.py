"""Load on `treille serve`: predictions of Reuters stories per second, and the time of requests.

Server and client run on this machine and share its cores. The client writes prepared requests to sockets that stay open; it
checks the status of every answer, and compares the labels of the first ones with the predictions of the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import treille
from harness import Page, arguments, installed, sized
from public_sets import reuters
from treille.kernels.parse import parse_kernel

KERNELS = {"5-grams": "ngram(5)", "default": None}
TRAIN, CHECKED = 5000, 64


def prepared(port: int, texts: list[str], size: int) -> list[bytes]:
    """Requests of `size` examples each, ready to be written to a socket."""
    groups = [texts[i : i + size] for i in range(0, len(texts) - size + 1, size)]
    bodies = [json.dumps({"examples": group} if size > 1 else {"example": group[0]}).encode() for group in groups]
    head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: "
    return [head.encode() + f"{len(body)}\r\n\r\n".encode() + body for body in bodies]


class Connection(asyncio.Protocol):
    """One connection that sends the next request as soon as the answer to the last one is complete."""

    def __init__(self, load: Load):
        self.load = load
        self.received = b""
        self.wanted = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        """The next request, or the end."""
        self.current = self.load.next()
        if self.current < 0:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(self.load.requests[self.current % len(self.load.requests)])

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.wanted < 0:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return
            begin = self.received.lower().index(b"content-length:") + 15
            self.body = end + 4
            self.wanted = self.body + int(self.received[begin : self.received.index(b"\r", begin)])
        if len(self.received) >= self.wanted:
            self.load.answered(self, time.perf_counter() - self.began)
            self.received, self.wanted = self.received[self.wanted :], -1
            self.send()

    def connection_lost(self, error: Exception | None) -> None:
        self.load.closed(self)


class Load:
    """A number of requests over several connections."""

    def __init__(self, requests: list[bytes], total: int, connections: int):
        self.requests, self.total, self.open = requests, total, connections
        self.sent, self.errors, self.seconds = 0, 0, list[float]()
        self.first = dict[int, bytes]()
        self.done = asyncio.get_running_loop().create_future()

    def next(self) -> int:
        """The number of the next request; -1 after the last."""
        self.sent += 1
        return self.sent - 1 if self.sent <= self.total else -1

    def answered(self, connection: Connection, seconds: float) -> None:
        self.seconds.append(seconds)
        self.errors += not connection.received.startswith(b"HTTP/1.1 200 ")
        if connection.current < min(CHECKED, len(self.requests)):
            self.first[connection.current] = connection.received[connection.body : connection.wanted]

    def closed(self, connection: Connection) -> None:
        self.open -= 1
        if connection.current >= 0:  # the server closed the connection before it answered
            self.errors += 1
        if self.open == 0:
            self.done.set_result(None)


async def loaded(port: int, requests: list[bytes], total: int, connections: int) -> tuple[Load, float]:
    """Sends `total` requests, and waits for all answers."""
    loop, load = asyncio.get_running_loop(), Load(requests, total, connections)
    began = time.perf_counter()
    await asyncio.gather(
        *(loop.create_connection(lambda: Connection(load), "127.0.0.1", port) for _ in range(connections))
    )
    await load.done
    return load, time.perf_counter() - began


def started(model: Path) -> tuple[subprocess.Popen[str], int]:
    """Starts a server in a separate process; returns it and its port."""
    command = [sys.executable, "-m", "treille", "serve", str(model), "--port", "0", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, json.loads(server.stdout.readline())["port"]


def checked(load: Load, size: int, expected: list[str]) -> None:
    """Checks that the labels of the first answers are the predictions of the model."""
    for number, body in load.first.items():
        answer = json.loads(body)
        labels = answer["labels"] if size > 1 else [answer["label"]]
        assert labels == expected[number * size : (number + 1) * size], f"request {number}"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument(
        "--requests", type=int, default=sized(100_000, 60), help="single requests; a tenth as many batches of 32"
    )
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS)[: sized(None, 1)])
    options = parser.parse_args()
    if not all(map(installed, ("starlette", "uvicorn"))):
        return
    (train, topics), (test, _) = reuters("train"), reuters("test")
    labels = ["acq" if "acq" in topic else "other" for topic in topics]
    page, rows = Page("Serving Reuters stories", ("starlette", "uvicorn")), list[list[str]]()
    page.say(f"Other programs ran at the same time: the load average was {os.getloadavg()[0]:.1f} at the start.")
    for name in options.kernels:
        text = KERNELS[name]
        model = treille.SVC(parse_kernel(text) if text else None, n_jobs=-1).fit(train[:TRAIN], labels[:TRAIN])
        expected = model.predict(test[: CHECKED * 32]).tolist()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "reuters.treille"
            model.save(path)
            server, port = started(path)
            try:
                for size, total in ((32, options.requests // 10), (1, options.requests)):
                    print(name, size, flush=True)
                    rows.append(measured(name, port, test, size, total, options, expected))
            finally:
                server.terminate()
                code = server.wait(30)
            assert code == 0, f"the server ended with code {code}"
    title = f"{options.connections} connections, server and client on the same cores: median (best) of {options.repeats} runs"
    page.table(title, HEADER, rows)
    page.write(options.write, "load")


HEADER = ["kernel", "examples per request", "requests", "predictions per second", "p50, ms", "p99, ms", "errors"]


def measured(
    name: str, port: int, texts: list[str], size: int, total: int, options: argparse.Namespace, expected: list[str]
) -> list[str]:
    """A row of the table; the requests are divided among the repeats."""
    requests, runs, errors = prepared(port, texts, size), list[tuple[float, float, float]](), 0
    asyncio.run(loaded(port, requests, min(total, 200), options.connections))  # warm up
    for _ in range(options.repeats):
        load, seconds = asyncio.run(loaded(port, requests, total // options.repeats, options.connections))
        checked(load, size, expected)
        cuts = statistics.quantiles(load.seconds, n=100)
        runs.append((len(load.seconds) * size / seconds, 1000 * cuts[49], 1000 * cuts[98]))
        errors += load.errors
        print("  {:,.0f} per second, p50 {:.1f} ms, p99 {:.1f} ms".format(*runs[-1]), flush=True)
    rates, middles, tails = zip(*runs, strict=True)
    rate = f"{statistics.median(rates):,.0f} ({max(rates):,.0f})"
    times = [f"{statistics.median(each):.1f} ({min(each):.1f})" for each in (middles, tails)]
    return [name, str(size), f"{total // options.repeats * options.repeats:,}", rate, *times, str(errors)]


if __name__ == "__main__":
    main()
