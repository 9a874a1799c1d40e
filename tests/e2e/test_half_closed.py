"""A client that shuts its sending side down once its request is sent (`nc -N`, some scripts) still reads: it gets its answer."""

import time

import pytest
from support.http_client import Connection, wire
from support.upstream import Gate, created, wait_until

AUTH = {"Authorization": "Bearer alice"}
SLOW = 2.5  # longer than the gateway needs to look at the connection


def charge(key, body=b'{"amount":1}'):
    named = {"Idempotency-Key": key} if key else {}
    return wire("POST", "/charges", {**AUTH, **named, "Content-Length": str(len(body))}) + body


def after(seconds, then=created):
    def behave(request, wire_):
        time.sleep(seconds)
        then(request, wire_)

    return behave


def in_two_parts(size):
    """An answer that pauses in its middle."""

    def behave(request, wire_):
        wire_.upstream.executed(request)
        wire_.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * (size // 2))
        time.sleep(SLOW)
        wire_.send(b"x" * (size - size // 2))

    return behave


def send_and_finish(gateway, *requests):
    connection = Connection(gateway.address)
    connection.send(b"".join(requests))
    connection.finish_sending()
    return connection


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("behaviour", [created, after(SLOW), in_two_parts(2000)], ids=["at once", "slow", "slow in its middle"])
def test_it_gets_its_answer(gateway, upstream, key, keyed, behaviour):
    upstream.plan(behaviour)
    with send_and_finish(gateway, charge(key if keyed else None)) as connection:
        first = connection.read_answer()
        assert first.status in (200, 201) and connection.is_closed()
    if keyed:
        with send_and_finish(gateway, charge(key)) as connection:
            again = connection.read_answer()
            assert again.replayed and again.body == first.body
    assert len(upstream.effects) == 1


def test_the_rest_of_an_answer_that_is_not_kept_comes_too(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nmax_response_body = "1KiB"\n')
    upstream.plan(in_two_parts(100_000))
    with send_and_finish(gateway, charge(key)) as connection:
        assert len(connection.read_answer().body) == 100_000
    with send_and_finish(gateway, charge(key)) as connection:
        assert connection.read_answer().problem == "answer-not-kept"


def test_pipelined_requests_are_all_answered(gateway, upstream, key):
    upstream.plan(after(SLOW), after(SLOW))
    with send_and_finish(gateway, charge(key), charge(key), charge(key + "-2"), wire("GET", "/charges", AUTH)) as connection:
        answers = [connection.read_answer() for _ in range(4)]
    assert [answer.replayed for answer in answers] == [False, True, False, False]
    assert len({answer.body for answer in answers}) == 3


def test_one_that_waits_gives_its_place_back_and_is_told_to_come_again(start_gateway, upstream, key):
    """Whether it is still there cannot be seen, so it holds none of the few places; but it is not left without a word."""
    gateway = start_gateway('[defaults]\nin_progress = "wait"\nwait = "60s"\n')
    gate = Gate()
    upstream.plan(gate)
    with send_and_finish(gateway, charge(key)) as first:
        assert gate.entered.wait(20)
        with send_and_finish(gateway, charge(key)) as second:
            told = second.read_answer()
        assert told.problem == "in-progress" and told.header("Retry-After"), told
        gate.open()
        assert first.read_answer().status == 201


def test_a_stream_whose_client_has_been_reset_is_ended(gateway, upstream):
    gone = Gate()

    def silent(request, wire_):
        wire_.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert wire_.socket.recv(1) == b""
        gone.open()

    upstream.plan(silent)
    connection = Connection(gateway.address)
    connection.send(wire("GET", "/events", AUTH))
    connection.read_head()
    connection.reset()
    wait_until(gone.opened.is_set, 20, lambda: "the upstream still sends to nobody")
