"""Answers larger than a route keeps: streamed whole, recorded as not kept, never run again (docs/http.md)."""

import pytest
from support.expectations import expect_problem
from support.http_client import Closed, wire
from support.stores import about_one_process
from support.upstream import Gate, answers, refuses, sends

AUTH = {"Authorization": "Bearer alice"}


@pytest.mark.parametrize("framing", ["sized", "chunked", "until close"])
def test_an_answer_over_the_limit_is_streamed_whole_and_a_retry_is_409(start_gateway, upstream, key, framing):
    # mikkelchokolate/Veil#66: a body cut at the limit went to the first caller; fiber PR4287: oversize answers ran again.
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    client = gateway.client(AUTH)
    body = b"0123456789" * 300_000
    if framing == "sized":
        behaviour = answers(201, {"Location": "/big/1"}, body)
    elif framing == "chunked":
        chunk = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        behaviour = sends(b"HTTP/1.1 201 X\r\nLocation: /big/1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
    else:
        behaviour = sends(b"HTTP/1.1 201 X\r\nLocation: /big/1\r\nConnection: close\r\n\r\n" + body, "end")
    upstream.plan(behaviour)
    first = client.post(key=key)
    assert first.status == 201 and first.body == body
    assert first.outcome == "completed"
    for _ in range(2):
        again = client.post(key=key)
        document = expect_problem(again, "answer-not-kept", 409, retryable=False, new_key_safe=False)
        assert document["original_status"] == 201
        assert document["original_location"] == "/big/1"
        assert again.outcome == "replayed"
    assert len(upstream.seen) == 1


def test_an_answer_of_exactly_the_limit_is_kept(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    upstream.plan(answers(200, {}, b"x" * 1024))
    client = gateway.client(AUTH)
    assert client.post(key=key).body == client.post(key=key).body == b"x" * 1024
    assert len(upstream.seen) == 1


def test_a_large_answer_that_breaks_off_stays_completed_and_is_never_run_again(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    upstream.plan(sends(b"HTTP/1.1 201 X\r\nContent-Length: 100000\r\n\r\n" + b"x" * 50_000, "cut"))
    client = gateway.client(AUTH)
    with pytest.raises(Closed):
        answer = client.post(key=key)
        pytest.fail(f"half an answer was passed on as whole: {answer.status} with {len(answer.body)} bytes")
    assert client.post(key=key).problem == "answer-not-kept"
    assert len(upstream.seen) == 1


def test_a_caller_who_leaves_a_large_answer_changes_nothing(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    upstream.plan(answers(201, {}, b"x" * 20_000_000))
    client = gateway.client(AUTH)
    with client.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        connection.read_head()
        connection.reset()
    assert client.post(key=key, body=b"x").problem == "answer-not-kept"
    assert client.post(key=key + "b").status == 201
    assert len(upstream.seen) == 2


def test_a_large_answer_is_completed_before_its_first_byte_is_shown(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    gate = Gate()

    def behave(request, wire_):
        wire_.upstream.executed(request)
        wire_.send(b"HTTP/1.1 201 X\r\nContent-Length: 10000\r\n\r\n" + b"x" * 5000)
        gate.opened.wait(10)
        wire_.end()

    upstream.plan(behave)
    client = gateway.client(AUTH)
    with client.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        connection.read_head()
        gateway.kill()
    gate.open()
    gateway.restart()
    assert gateway.client(AUTH).post(key=key, body=b"x").problem == "answer-not-kept"
    assert len(upstream.seen) == 1


def test_a_large_released_or_unknown_answer_is_what_its_status_says(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    client = gateway.client(AUTH)
    upstream.plan(refuses(429, {}, b"l" * 5000))
    first = client.post(key=key)
    assert (first.status, len(first.body), first.outcome) == (429, 5000, "not-executed")
    upstream.plan(refuses(503, {}, b"l" * 5000))
    assert client.post(key=key).problem == "outcome-unknown"
    assert client.post(key=key).problem == "outcome-unknown"
    assert len(upstream.seen) == 2


@about_one_process("looks into its directory")
def test_a_route_that_records_nothing_keeps_no_answer_and_still_runs_once(start_gateway, upstream, key):
    # apache/polaris PR3803: credentials in stored answers, replayable by another principal.
    gateway = start_gateway('[[route]]\nmatch = "POST /tokens"\nrecord = []\n')
    client = gateway.client(AUTH)
    upstream.plan(answers(201, {}, b"a-freshly-minted-credential"))
    first = client.post("/tokens", key=key)
    assert (first.status, first.body, first.outcome) == (201, b"a-freshly-minted-credential", "completed")
    again = client.post("/tokens", key=key)
    assert expect_problem(again, "answer-not-kept", 409, retryable=False, new_key_safe=False)["original_status"] == 201
    assert len(upstream.seen) == 1
    gateway.kill()
    for file in gateway.directory.iterdir():
        assert b"a-freshly-minted-credential" not in file.read_bytes(), file
