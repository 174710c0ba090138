"""Limits of size, time and concurrency; many requests at once; nothing of a request in the log."""

from __future__ import annotations

import copy
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import served

from treille.serve.limits import Limits


class Slow:
    """A model that waits at an example "slow" until it is let go, and counts its calls."""

    def __init__(self, model):
        self.inner = model
        self.go = threading.Event()
        self.reached = threading.Semaphore(0)
        self.batches = []

    def __call__(self, X):
        self.batches.append(len(X))
        if "slow" in X:
            self.reached.release()
            assert self.go.wait(60)
        if "broken" in X:
            raise ZeroDivisionError("the text was: broken")
        return self.inner.decision_function(X)


@pytest.fixture
def slow(wines):
    return Slow(wines)


@pytest.fixture
def model(wines, slow):
    """The model of the wines with a method that may be slow."""
    found = copy.copy(wines)
    found.decision_function = slow
    return found


@pytest.fixture
def pool():
    with ThreadPoolExecutor(64) as found:
        yield found


def test_bodies_over_the_limit_are_refused_before_they_are_read(wines):
    with served(wines, limits=Limits(body=1000)) as client:
        assert client.post("/predict", {"example": "a" * 900}).status == 200
        found = client.post("/predict", {"example": "a" * 2000})
        assert found.status == 413
        assert "longer than 1,000 bytes" in found.message
        head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n"
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
            connection.sendall(head.encode())  # and no body
            assert b" 413 " in connection.recv(1000)
        assert client.get("/healthz").status == 200


def test_bodies_without_a_length_are_counted(wines):
    def parts():
        for _ in range(100):
            yield b"a" * 100

    with served(wines, limits=Limits(body=1000)) as client:
        head = {"Content-Type": "application/json"}  # an iterator is sent in chunks
        assert client.send("POST", "/predict", parts(), head).status == 413
        assert client.send("POST", "/predict", iter([b'{"example"', b': "red"}']), head).json()["label"] == "red"


def test_a_body_that_does_not_arrive_ends_after_the_time_limit(wines):
    with served(wines, limits=Limits(seconds=0.2)) as client:
        head = (
            "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"
        )
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
            connection.sendall(head.encode())
            assert b" 408 " in connection.recv(1000)


def test_an_answer_that_takes_too_long_is_a_timeout_and_others_are_answered(model, slow):
    with served(model, limits=Limits(seconds=1.5, threads=2)) as client:
        found = client.post("/predict", {"example": "slow"})
        assert found.status == 504
        assert "within 1.5 s" in found.message
        assert client.post("/predict", {"example": "red"}).status == 200
        assert client.get("/healthz").json()["requests"] == 1  # it still runs
        slow.go.set()
        wait_until(lambda: client.get("/healthz").json()["requests"] == 0)


def test_requests_beyond_the_queue_are_refused_with_a_time_to_try_again(model, slow, pool):
    with served(model, limits=Limits(waiting=1, threads=1)) as client:
        running = pool.submit(client.post, "/predict", {"example": "slow"})
        assert slow.reached.acquire(timeout=60)
        waiting = pool.submit(client.post, "/predict", {"example": "red"})
        wait_until(lambda: client.get("/healthz").json()["requests"] == 2)
        found = client.post("/predict", {"example": "red"})
        assert (found.status, found.headers["retry-after"]) == (503, "1")
        assert "2 requests are being answered or wait" in found.message
        assert client.get("/").status == 200
        slow.go.set()
        assert (running.result().status, waiting.result().status) == (200, 200)
        assert client.post("/predict", {"example": "red"}).status == 200


def test_requests_that_wait_are_answered_together_and_each_gets_its_own_answer(model, slow, pool, wines):
    with served(model, limits=Limits(threads=1)) as client:
        first = pool.submit(client.post, "/predict", {"example": "slow"})
        assert slow.reached.acquire(timeout=60)
        texts = [f"{colour} {i}" for i in range(15) for colour in ("red", "white")]
        answers = [pool.submit(client.post, "/predict", {"example": text}) for text in texts]
        wrong = pool.submit(client.post, "/predict", b"{")
        wait_until(lambda: client.get("/healthz").json()["requests"] == 32)
        slow.go.set()
        found = [answer.result().json() for answer in answers]
        assert first.result().status == 200
        assert wrong.result().status == 400
    assert slow.batches == [1, 30]
    assert [answer["label"] for answer in found] == wines.predict(texts).tolist()


def test_one_bad_example_does_not_spoil_the_requests_beside_it(model, slow, pool):
    with served(model, limits=Limits(threads=1)) as client:
        first = pool.submit(client.post, "/predict", {"example": "slow"})
        assert slow.reached.acquire(timeout=60)
        sent = ["red", None, "white", "broken"]
        answers = [pool.submit(client.post, "/predict", {"example": value}) for value in sent]
        wait_until(lambda: client.get("/healthz").json()["requests"] == 5)
        slow.go.set()
        assert [answer.result().status for answer in answers] == [200, 422, 200, 500]
        assert "item 0" in answers[1].result().message
        assert first.result().status == 200


def test_a_fault_of_the_program_is_reported_without_what_was_sent(model, capfd):
    with served(model) as client:
        found = client.post("/predict", {"example": "broken"})
        assert found.status == 500
        assert "ZeroDivisionError in test_limits.py" in found.message
        assert "broken" not in found.message
        assert client.post("/predict", {"example": "red"}).status == 200
    assert capfd.readouterr() == ("", "")


def test_many_clients_at_once_get_right_answers(wines, pool):
    texts = [f"{'red' if i % 3 else 'white'} wine {i}" for i in range(200)]
    with served(wines, limits=Limits(waiting=1000, threads=3)) as client:
        found = list(pool.map(lambda text: client.post("/predict", {"example": text}).json(), texts))
        batch = client.post("/predict", {"examples": texts}).json()
    assert [answer["label"] for answer in found] == batch["labels"] == wines.predict(texts).tolist()
    assert [answer["scores"] for answer in found] == batch["scores"]


def test_a_client_that_goes_away_does_not_stop_the_server(model, slow):
    body = json.dumps({"example": "slow"}).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with served(model) as client:
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
            connection.sendall(head.encode() + body)
            assert slow.reached.acquire(timeout=60)
        slow.go.set()
        wait_until(lambda: client.get("/healthz").json()["requests"] == 0)


def test_the_log_has_method_path_status_and_time_only(wines):
    lines = []
    with served(wines, log=lines.append) as client:
        client.post("/predict?secret=1", {"example": "a secret wine"})
        client.post("/explain", {"example": ["secret"]})
        client.get("/nothing%1b[31m", Cookie="secret")
        client.get("/healthz", Host="secret.example")
    assert [line.rsplit(" ", 2)[0] for line in lines] == [
        "POST /predict 200",
        "POST /explain 422",
        "GET '/nothing\\x1b[31m' 404",
        "GET /healthz 421",
    ]
    assert "secret" not in "".join(lines)


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited for 60 s"
        time.sleep(0.01)
