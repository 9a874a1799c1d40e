"""Every case of tests/wire/requests.json on the real binary: whole, cut in a few places, and as a keyed request."""

import itertools

import pytest
from support.http_client import Closed, Connection
from support.upstream import Upstream, wait_until
from support.wire_cases import cut, interesting_cuts, load, named

CASES = load("requests.json")
REFUSALS = (400, 413, 414, 431)
serial = itertools.count(1)


@pytest.fixture(scope="module")
def server():
    upstream = Upstream(lambda request, wire: wire.answer(200, {}, b"served"))
    yield upstream
    upstream.stop()
    assert not upstream.errors, upstream.errors


@pytest.fixture(scope="module")
def stet(start_module_gateway, server):
    return start_module_gateway(server.url, '[defaults]\nscope = ["none"]\n')


def talk(stet, pieces, methods, then):
    """Sends the pieces; the answers to `methods`, then what else came: a refusal, `closed` or `quiet`."""
    with Connection(stet.address, timeout=20) as connection:
        try:
            connection.send_in_pieces(pieces, 0.002 if len(pieces) > 1 else 0)
        except OSError:
            pass  # refused before everything was sent: the answer is there all the same
        answers = [connection.read_answer(method) for method in methods]
        return answers, after(connection, then)


def after(connection, then):
    if then != "refused":
        connection.socket.settimeout(0.15)  # nothing is to come; a refusal is waited for
    try:
        rest = connection.read_answer()
    except Closed as closed:
        assert closed.got == b"", closed
        return "closed"
    except TimeoutError:
        assert connection.pending == b"", connection.pending
        return "quiet"
    assert rest.status in REFUSALS, rest
    assert rest.problem == "bad-request" or rest.status != 400, rest
    assert rest.outcome is None
    assert connection.is_closed(), "the connection stays open after a refusal"
    return "refused"


def check(stet, server, case, pieces):
    before = len(server.seen)
    answers, rest = talk(stet, pieces, [r["method"] for r in case["requests"]], case["then"])
    assert [a.status for a in answers] == [200] * len(answers), answers
    expected = {"refused": ("refused",), "more": ("quiet",), "end": ("quiet", "closed")}[case["then"]]
    assert rest in expected
    arrived = server.seen[before:]
    assert len(arrived) == len(case["requests"]), arrived
    for got, wanted in zip(arrived, case["requests"]):
        assert got.method == wanted["method"]
        for part in ("target", "body"):
            if wanted.get(part) is not None:
                assert getattr(got, part) == wanted[part]


UNKEYED = [c for c in CASES if "keyed request" not in c["name"] or "unkeyed" in c["name"]]


@pytest.mark.parametrize("case", named(UNKEYED))
def test_whole(stet, server, case):
    check(stet, server, case, [case["bytes"]])


@pytest.mark.parametrize("case", named([c for c in UNKEYED if len(c["bytes"]) > 1]))
def test_cut_in_a_few_places(stet, server, case):
    check(stet, server, case, cut(case["bytes"], interesting_cuts(case["bytes"])))


def reached(server, key):
    """The heads with that key. (Those of unkeyed requests before may still be coming.)"""
    return [head for head in server.heads if key.encode() + b"\r\n" in head.raw_head]


KEYED = [c for c in CASES if c["then"] == "refused" and not c["requests"] and c["bytes"].startswith(b"POST")
         and b"Host: h\r\n" in c["bytes"]]


@pytest.mark.parametrize("case", named(KEYED))
def test_a_keyed_request_claims_nothing_and_reaches_nobody(stet, server, case):
    key = f"wire-{next(serial)}"
    data = case["bytes"].replace(b"Host: h\r\n", b"Host: h\r\nIdempotency-Key: " + key.encode() + b"\r\n", 1)
    _, rest = talk(stet, [data], [], "refused")
    assert rest == "refused"
    assert not reached(server, key), "even its head must not reach the upstream"
    assert stet.operations(f"?key={key}") == []


def test_half_a_keyed_request_claims_nothing_wherever_it_ends(stet, server):
    data = (b"POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: wire-half\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    for end in range(1, len(data)):
        with Connection(stet.address) as connection:
            connection.send(data[:end])
            if end % 2:
                connection.reset()
            else:
                connection.finish_sending()
                connection.read_to_end()
    assert not reached(server, "wire-half")
    assert stet.operations("?key=wire-half") == []
    with Connection(stet.address) as connection:
        connection.send(data)
        assert connection.read_answer().status == 200


def test_a_keyed_request_cut_at_every_byte_is_one_request(stet, server):
    key = f"wire-{next(serial)}"
    data = (f"POST /charges HTTP/1.1\r\nHost: h\r\nIdempotency-Key: {key}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
            + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    before = len(server.seen)
    for at in range(1, len(data)):
        with Connection(stet.address) as connection:
            connection.send_in_pieces(cut(data, [at]), 0.001)
            assert connection.read_answer().status == 200
    assert len(server.seen) == before + 1
    assert server.seen[-1].body == b"abcde"


def test_what_follows_a_refused_request_is_never_served(stet, server):
    before = len(server.seen)
    smuggled = b"POST /smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
    for case in KEYED[:60]:
        with Connection(stet.address) as connection:
            try:
                connection.send(case["bytes"] + smuggled)
                while connection.read_answer().status in REFUSALS:
                    pass
                pytest.fail(f"an answer after the refusal: {case['name']}")
            except (Closed, OSError):
                pass
    assert len(server.seen) == before


def test_the_gateway_is_alive_after_all_of_this(stet, server):
    with Connection(stet.address) as connection:
        connection.send(b"GET /alive HTTP/1.1\r\nHost: h\r\n\r\n")
        assert connection.read_answer().body == b"served"
    wait_until(lambda: server.seen[-1].target == "/alive")
