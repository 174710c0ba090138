"""Requests that cannot be answered: the status, a message, no traceback; and what browsers are protected from."""

from __future__ import annotations

import json
import socket

import pytest

GOOD = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "line 1, column 1: not JSON"),
        (b'{"example": "a"', "line 1, column 16: not JSON"),
        (b'{"example":\n "a" "b"}', "line 2, column 6: not JSON"),
        (b'{"example": "\xff"}', "byte 13: not UTF-8"),
        ('{"example": "a"}'.encode("utf-16"), "not UTF-8"),
        (b'{"example": NaN}', "NaN is not a number"),
        (b'{"example": [-Infinity]}', "-Infinity is not a number"),
        (b'{"example": [1e999]}', "1e999 is too large"),
        (b'{"example": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b'{"example": ' + b"[" * 40 + b"]" * 40 + b"}", "nested more than 32 deep"),
        (b'{"example": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested more than 32 deep"),
        (b"[1]", "expected an object"),
        (b"null", "expected an object"),
        (b"{}", "expected either 'example'"),
        (b'{"example": "a", "examples": []}', "expected either 'example'"),
        (b'{"examples": "a"}', "'examples' must be a list"),
        (b'{"example": "a", "exmaples": 1}', "unknown field 'exmaples'"),
    ],
)
def test_invalid_requests_are_refused_with_the_reason(client, body, said):
    for path in ("/predict", "/explain"):
        found = client.post(path, body)
        assert found.status == 400
        assert said in found.message


def test_html_is_true_or_false(client):
    found = client.post("/explain", {"example": "a", "html": "yes"})
    assert (found.status, found.message) == (400, "'html' must be true or false")
    assert "unknown field 'html'" in client.post("/predict", {"example": "a", "html": True}).message


def test_an_unknown_class_is_refused_with_the_known_ones(client):
    for label in ("rosé", 7, ["red"], {}):
        found = client.post("/explain", {"example": "a", "class": label})
        assert found.status == 422
        assert "the classes are 'red', 'white'" in found.message


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_only_plain_json_is_read(client, headers):
    found = client.send("POST", "/predict", b'{"example": "a"}', headers)
    assert found.status == 415
    assert "JSON" in found.message or "json" in found.message


def test_json_is_recognised_with_parameters(client):
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"):
        assert client.send("POST", "/predict", b'{"example": "a"}', {"Content-Type": kind}).status == 200


@pytest.mark.parametrize(
    "path", ["/nothing", "/predict/", "/explain/x", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/static/x"]
)
def test_unknown_paths_are_not_found(client, path):
    found = client.get(path)
    assert found.status == 404
    assert "there is no such path" in found.message


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/predict", "POST"),
        ("DELETE", "/explain", "POST"),
        ("POST", "/healthz", "GET"),
        ("OPTIONS", "/predict", "POST"),
    ],
)
def test_wrong_methods_are_refused_with_the_right_one(client, method, path, allowed):
    found = client.send(method, path, b"{}" if method == "POST" else None, GOOD)
    assert found.status == 405
    assert allowed in found.headers["allow"]
    assert found.message.startswith(f"{path} takes ")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""]
)
def test_requests_for_another_host_are_refused(client, host):
    found = client.get("/model", Host=host)
    assert found.status == 421
    assert "for another host" in found.message


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:80", "[::1]", "192.168.1.7", "localhost."]
)
def test_local_names_and_addresses_are_accepted(client, host):
    assert client.get("/healthz", Host=host).json() == {"status": "ok", "requests": 0}


def test_answers_have_headers_that_protect_browsers(client):
    for path in ("/", "/healthz", "/nothing", "/playground.js"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert not [name for name in headers if name.startswith("access-control")]
        assert "server" not in headers
    policy = client.get("/", Origin="https://evil.example").headers["content-security-policy"]
    script = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert script == "script-src 'self'"


def test_the_head_of_a_page_has_no_body(client):
    found = client.send("HEAD", "/")
    assert (found.status, found.body) == (200, b"")


def test_any_text_is_answered(client):
    for text in ("\x00\x1f\u202e<script>alert(1)</script>", "😀\ud800", "a" * 100_000, "\r\n\t", "&lt;"):
        found = client.post("/explain", {"example": text, "html": True})
        assert found.status == 200
        assert "".join(found.json()["parts"]) == text
        assert "<script" not in found.json()["html"]


def test_invalid_http_does_not_stop_the_server(client):
    for noise in (
        b"\x16\x03\x01\x00\xa5\x01\x00",
        b"GET\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
            connection.sendall(noise)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
    assert client.get("/healthz").status == 200


def test_requests_on_one_connection_are_answered_in_turn(client):
    body = json.dumps({"example": "red"}).encode()
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", client.port), timeout=60) as connection:
        connection.sendall(2 * (head.encode() + body))
        received = b""
        while received.count(b'"label":"red"') < 2:
            received += connection.recv(4096)
    assert received.count(b"HTTP/1.1 200 OK") == 2
