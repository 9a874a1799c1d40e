"""Every case of tests/wire/answers.json from an upstream of the real binary, whole and cut, to keyed and unkeyed requests."""

import itertools
import threading
import time

import pytest
from support.http_client import Closed
from support.upstream import Upstream
from support.wire_cases import cut, interesting_cuts, load, named

CASES = load("answers.json")
RELEASED = {401, 403, 407, 425, 429}
UNKNOWN = {408, 502, 503, 504}
serial = itertools.count(1)


@pytest.fixture(scope="module")
def server():
    upstream = Upstream(lambda request, wire: wire.answer(200, {}, b"served"))
    yield upstream
    upstream.stop()
    assert not upstream.errors, upstream.errors


@pytest.fixture(scope="module")
def client(start_module_gateway, server):
    return start_module_gateway(server.url, '[defaults]\nscope = ["none"]\n').client()


class Says:
    """A behaviour: these pieces, then the end of the stream."""

    def __init__(self, pieces):
        self.pieces = pieces
        self.ended = threading.Event()

    def __call__(self, request, wire):
        for piece in self.pieces:
            wire.send(piece)
            if len(self.pieces) > 1:
                time.sleep(0.002)
        wire.end()
        self.ended.set()

    def wait_for_the_end(self):
        """Until then the gateway may send the next request on that connection, in vain."""
        assert self.ended.wait(10), "the upstream never got the request"


POSTS = [c for c in CASES if c["method"] == "POST"]


def check_next(client, said):
    """The next request gets its own answer."""
    said.wait_for_the_end()
    answer = client.get("/next")
    assert (answer.status, answer.body) == (200, b"served"), "the next request got what was left of another answer"


def check_keyed(client, server, case, pieces):
    key = f"answer-{next(serial)}"
    before = len(server.seen)
    said = Says(pieces)
    server.plan(said)
    first = client.post(key=key)
    said.wait_for_the_end()
    again = client.post(key=key)
    unknown = case["outcome"] in ("refused", "truncated") or case["status"] in UNKNOWN
    if case["outcome"] == "excess" and first.problem == "outcome-unknown":
        unknown = True  # as careful as it may be: bytes that belong to nothing came with it
    if unknown:
        assert first.status == again.status == 502
        assert first.problem == again.problem == "outcome-unknown", (first, again)
        assert first.outcome == again.outcome == "unknown"
        assert len(server.seen) == before + 1
    elif case["status"] in RELEASED:
        assert (first.status, first.body, first.outcome) == (case["status"], case["body"], "not-executed")
        assert again.outcome == "completed" and len(server.seen) == before + 2
    else:
        assert (first.status, first.body, first.outcome) == (case["status"], case["body"], "completed"), first
        assert (again.status, again.body, again.outcome) == (case["status"], case["body"], "replayed"), again
        assert len(server.seen) == before + 1
    check_next(client, said)


@pytest.mark.parametrize("case", named(POSTS))
def test_to_a_keyed_request(client, server, case):
    check_keyed(client, server, case, [case["bytes"]])


@pytest.mark.parametrize("case", named(POSTS))
def test_to_a_keyed_request_cut_in_a_few_places(client, server, case):
    check_keyed(client, server, case, cut(case["bytes"], interesting_cuts(case["bytes"])))


@pytest.mark.parametrize("case", named(CASES))
def test_to_an_unkeyed_request(client, server, case):
    said = Says([case["bytes"]])
    server.plan(said)
    try:
        answer = client.send(case["method"], "/x", body=b"b" if case["method"] == "POST" else b"")
    except Closed:
        assert case["outcome"] in ("refused", "truncated"), "an answer that was whole did not arrive whole"
    else:
        if case["outcome"] in ("whole", "excess"):
            assert (answer.status, answer.body) == (case["status"], case["body"])
        else:
            assert answer.status == 502, answer
    check_next(client, said)
