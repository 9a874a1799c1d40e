"""What a replay carries of the first answer, byte for byte, and what it leaves out (docs/http.md)."""

import pytest
from support.upstream import answers, sends

AUTH = {"Authorization": "Bearer alice"}


def twice(client, key):
    first, again = client.post(key=key), client.post(key=key)
    assert first.outcome == "completed" and again.outcome == "replayed", (first, again)
    assert again.status == first.status and again.body == first.body
    return first, again


def test_end_to_end_headers_come_again_with_their_order_and_repeats(alice, upstream, key):
    # gofiber/fiber PR4693: a replay split header lines at commas; concerns_on_rails PR47: it had no Location.
    lines = [("Content-Type", "application/json"), ("Location", "/charges/1"), ("Link", "</a>; rel=x, </b>; rel=y"),
             ("X-Many", "1"), ("Content-Disposition", 'attachment; filename="a,b.pdf"'), ("X-Many", "2"), ("x-Odd-Case", "a  b"),
             ("X-Empty", ""), ("X-Many", "1"), ("ETag", 'W/"1"'), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]
    upstream.plan(answers(201, lines, b"{}"))
    first, again = twice(alice, key)
    for answer in (first, again):
        kept = [(n, v) for n, v in answer.headers if n.lower() in {m.lower() for m, _ in lines}]
        assert kept == lines


def test_set_cookie_and_challenges_go_to_the_first_caller_only(alice, upstream, key):
    upstream.plan(answers(201, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2"), ("Authentication-Info", "x"),
                                ("WWW-Authenticate", "Basic"), ("Proxy-Authentication-Info", "y"), ("X-Stays", "1")], b"{}"))
    first, again = twice(alice, key)
    assert first.all("Set-Cookie") == ["a=1; Path=/", "b=2"]
    assert again.all("Set-Cookie") == [] and again.header("WWW-Authenticate") is None
    assert again.header("X-Stays") == "1"


def test_keep_headers_names_exceptions_and_drop_headers_others(start_gateway, upstream, key):
    client = start_gateway('[defaults]\nresponse.keep_headers = ["Set-Cookie"]\nresponse.drop_headers = ["X-Trace"]\n').client(AUTH)
    upstream.plan(answers(201, [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Trace", "t1"), ("X-Stays", "1")], b"{}"))
    first, again = twice(client, key)
    assert first.header("X-Trace") == "t1"
    assert again.all("Set-Cookie") == ["a=1", "b=2"]
    assert again.header("X-Trace") is None and again.header("X-Stays") == "1"


def test_hop_by_hop_headers_are_neither_passed_nor_stored(alice, upstream, key):
    # IdempotentAPI#21: a stored Transfer-Encoding corrupted the replay.
    upstream.plan(sends(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
                        b"Keep-Alive: timeout=5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nTrailer: X-After\r\nX-End: 1\r\n\r\n"
                        b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-After: smuggled\r\n\r\n"))
    for answer in twice(alice, key):
        assert answer.body == b"abcde"
        assert answer.header("X-End") == "1"
        for name in ("X-Hop", "Keep-Alive", "Proxy-Connection", "Upgrade", "Trailer", "X-After"):
            assert answer.header(name) is None, name


def test_the_upstreams_own_stet_headers_and_replay_marker_are_removed(alice, upstream, key):
    upstream.plan(answers(201, [("Stet-Outcome", "unknown"), ("Stet-Anything", "x"), ("Idempotent-Replayed", "true"),
                                ("Stet-Operation", "f" * 32)], b"{}"))
    first, again = twice(alice, key)
    assert first.header("Idempotent-Replayed") is None
    assert first.header("Stet-Anything") is None and again.header("Stet-Anything") is None
    assert first.header("Stet-Operation") == again.header("Stet-Operation") != "f" * 32


EMPTY = {
    "204": answers(204),
    "an empty 200": answers(200),
    "an empty 201 with a location": answers(201, {"Location": "/x"}),
    "0": answers(200, {"Content-Type": "application/json"}, b"0"),
    "[]": answers(200, {"Content-Type": "application/json"}, b"[]"),
    "null": answers(200, {"Content-Type": "application/json"}, b"null"),
    "an empty chunked body": sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "304": answers(304, {"ETag": '"a"'}),
    "205": answers(205),
}


@pytest.mark.parametrize("what", EMPTY)
def test_empty_is_an_answer(alice, upstream, key, what):
    # Sidarthapati PR61, aws-powertools-python#8090: 204 and empty answers never stored; 0 and [] lost.
    upstream.plan(EMPTY[what])
    twice(alice, key)
    assert len(upstream.seen) == 1


def test_the_body_is_bytes_and_not_json(alice, upstream, key):
    # langwatch PR6511: jsonb reordered the answer's members.
    body = b'{"b":1,  "a":1e2,"a":\x00\xff}\n'
    upstream.plan(answers(201, {"Content-Type": "application/json"}, body))
    for answer in twice(alice, key):
        assert answer.body == body


def test_a_body_until_close_is_replayed_with_its_length(alice, upstream, key):
    upstream.plan(sends(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", "end"))
    for answer in twice(alice, key):
        assert answer.body == b"until the end"


def test_an_answer_of_http_1_0_is_an_answer(alice, upstream, key):
    upstream.plan(sends(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "end"))
    for answer in twice(alice, key):
        assert answer.body == b"ok"


def test_keyed_requests_ask_for_an_uncompressed_answer(alice, upstream, key):
    alice.post(key=key, headers={"Accept-Encoding": "gzip, br"})
    assert upstream.seen[0].all("Accept-Encoding") == ["identity"]
    alice.post(headers={"Accept-Encoding": "gzip, br"})
    assert upstream.seen[1].header("Accept-Encoding") == "gzip, br"


def test_a_replay_to_http_1_0_and_to_a_closing_client_is_whole(alice, upstream, key):
    upstream.plan(answers(201, {"X-A": "1"}, b"whole"))
    assert alice.post(key=key, body=b"b").body == b"whole"
    with alice.connect() as connection:
        connection.send(b"POST /charges HTTP/1.0\r\nAuthorization: Bearer alice\r\nHost: stet.test\r\nIdempotency-Key: %s\r\n"
                        b"Content-Length: 1\r\n\r\nb" % key.encode())
        answer = connection.read_answer()
        assert (answer.status, answer.body, answer.outcome) == (201, b"whole", "replayed")
        assert connection.is_closed()
