"""What the upstream gets of a request (docs/http.md, "To the upstream"), keyed and unkeyed."""

import pytest
from support.http_client import wire
from support.stores import STORE
from support.upstream import sends

AUTH = {"Authorization": "Bearer alice"}


def test_the_operation_and_the_attempt_are_named(alice, upstream, key):
    answer = alice.post(key=key)
    got = upstream.seen[0]
    assert got.header("Stet-Operation") == answer.header("Stet-Operation")
    assert len(got.header("Stet-Operation")) == 32
    assert got.header("Stet-Attempt") == "1"
    assert got.key == key


def test_copies_that_a_client_sent_are_removed(alice, upstream, key):
    forged = [("Stet-Operation", "0" * 32), ("Stet-Attempt", "7"), ("Stet-Token", "t"), ("stet-attempt", "8"), ("Stet-New", "x")]
    alice.post(key=key, headers=forged)
    keyed = upstream.seen[0]
    assert keyed.header("Stet-Attempt") == "1" and keyed.header("Stet-Operation") != "0" * 32
    # A store that services can join names the token, its own; any other names none.
    assert keyed.header("Stet-Token") != "t" and (keyed.header("Stet-Token") is None) == (STORE == "sqlite")
    assert keyed.header("Stet-New") is None
    alice.post(headers=forged)
    assert [n for n, _ in upstream.seen[1].headers if n.lower().startswith("stet-")] == []


@pytest.mark.parametrize("keyed", [True, False])
def test_end_to_end_headers_pass_in_their_order(alice, upstream, key, keyed):
    lines = [("X-A", "1"), ("X-B", "two  words"), ("x-a", "3"), ("User-Agent", "me"), ("Accept", "a/b, c/d")]
    alice.post(key=key if keyed else None, headers=lines)
    got = upstream.seen[0]
    assert [(n, v) for n, v in got.headers if (n, v) in lines] == lines
    assert got.header("Authorization") == "Bearer alice"
    assert got.header("Content-Type") == "application/json"
    assert got.body == b'{"amount": 4900, "currency": "eur"}'


@pytest.mark.parametrize("keyed", [True, False])
def test_hop_by_hop_headers_do_not_pass(alice, upstream, key, keyed):
    alice.post(key=key if keyed else None, headers=[
        ("Connection", "keep-alive, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=1"), ("TE", "trailers"),
        ("Proxy-Connection", "x"), ("Proxy-Authorization", "Basic x"), ("X-Stays", "1")])
    got = upstream.seen[0]
    assert got.header("X-Stays") == "1"
    for name in ("X-Hop", "Keep-Alive", "TE", "Proxy-Connection", "Upgrade"):
        assert got.header(name) is None, name


@pytest.mark.parametrize("named", ["Content-Length", "Transfer-Encoding", "Host", "Idempotency-Key", "close, host",
                                   "IDEMPOTENCY-KEY"])
def test_connection_must_not_name_what_frames_or_identifies_a_request(alice, upstream, key, named):
    answer = alice.post(key=key, headers={"Connection": named})
    assert answer.status == 400 and answer.problem in ("bad-request", "key-invalid"), answer
    assert upstream.seen == []


def test_forwarding_headers_say_where_a_request_came_from(alice, upstream, key):
    alice.post(key=key)
    got = upstream.seen[0]
    assert got.header("Via") == "1.1 stet"
    assert got.header("X-Forwarded-For") == "127.0.0.1"
    assert got.header("X-Forwarded-Proto") == "http"
    assert got.header("X-Forwarded-Host") == "stet.test"
    forwarded = got.header("Forwarded").lower().replace(" ", "")
    assert "for=127.0.0.1" in forwarded and "proto=http" in forwarded


def test_forwarding_headers_are_extended(alice, upstream, key):
    alice.post(key=key, headers={"Via": "1.1 edge", "X-Forwarded-For": "192.0.2.1"})
    got = upstream.seen[0]
    assert ", ".join(got.all("Via")) == "1.1 edge, 1.1 stet"
    assert ", ".join(got.all("X-Forwarded-For")) == "192.0.2.1, 127.0.0.1"


def test_host_is_as_the_client_sent_it_or_the_upstreams(start_gateway, upstream, key):
    start_gateway().client(AUTH).post(key=key)
    assert upstream.seen[0].header("Host") == "stet.test"
    start_gateway('upstream_host = "upstream"\n').client(AUTH).post(key=key)
    assert upstream.seen[1].header("Host") == f"127.0.0.1:{upstream.port}"


def test_the_target_goes_below_the_upstreams_path(start_gateway, upstream, key):
    for url in (upstream.url + "/api/v1", upstream.url + "/api/v1/"):
        start_gateway(upstream_url=url).client(AUTH).post("/charges?a=1&b=%2F", key=key)
        assert upstream.seen[-1].target == "/api/v1/charges?a=1&b=%2F"


@pytest.mark.parametrize("target", ["/a%2Fb", "/a/../b", "/a//b", "/%63harges", "/a?x=%00&y=+", "/a;p=1/b", "/~!$&'()*+,=:@"])
def test_the_target_passes_as_it_came(alice, upstream, target):
    alice.get(target)
    assert upstream.seen[0].target == target


def test_absolute_form_becomes_origin_form(alice, upstream):
    with alice.connect() as connection:
        connection.send(b"GET http://stet.test/charges?a=1 HTTP/1.1\r\nHost: stet.test\r\n\r\n")
        assert connection.read_answer().status in (201, 400)
    for got in upstream.seen:
        assert got.target == "/charges?a=1" and got.header("Host") == "stet.test"


def test_routes_match_the_decoded_and_normalised_path(start_gateway, upstream):
    client = start_gateway('[[route]]\nmatch = "POST /charges"\nkey = "required"\n').client(AUTH)
    for target in ("/charges", "/%63harges", "/./charges", "/a/../charges", "//charges", "/charges?x=1", "/char%67es"):
        assert client.post(target).problem == "key-missing", target
    for target in ("/charges/", "/Charges", "/charges/x", "/charges%2F"):
        assert client.post(target).status == 201, target


def test_the_first_matching_route_wins_and_stars_match_a_segment_or_the_rest(start_gateway, upstream):
    client = start_gateway('[[route]]\nmatch = "POST /a/*/c"\nkey = "required"\n[[route]]\nmatch = "POST /a/**"\nkey = "off"\n'
                           '[[route]]\nmatch = "POST /b/**"\nkey = "required"\n').client(AUTH)
    assert client.post("/a/b/c").problem == "key-missing"
    assert client.post("/a/b/d").status == 201
    assert client.post("/a/b/c/d").status == 201
    assert client.post("/b/x/y/z").problem == "key-missing"
    assert client.post("/c").status == 201


@pytest.mark.parametrize("keyed", [True, False])
def test_expect_is_answered_by_the_gateway_and_not_forwarded(alice, upstream, key, keyed):
    headers = {**AUTH, "Expect": "100-continue", "Content-Length": "5", "Content-Type": "text/plain"}
    if keyed:
        headers["Idempotency-Key"] = key
    with alice.connect() as connection:
        connection.send(wire("POST", "/charges", headers))
        status, _, _ = connection.read_head()
        assert status == 100
        connection.send(b"hello")
        assert connection.read_answer().status == 201
    assert upstream.seen[0].body == b"hello"
    assert upstream.seen[0].header("Expect") is None


def test_expect_with_a_refusal_gets_the_refusal_and_no_100(alice, upstream):
    with alice.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Expect": "100-continue", "Content-Length": "5", "Idempotency-Key": "a b"}))
        answer = connection.read_answer()
        assert answer.problem == "key-invalid" and answer.interim == []
        assert connection.is_closed()
    assert upstream.seen == []


def test_another_expectation_is_refused(alice, upstream, key):
    answer = alice.post(key=key, headers={"Expect": "a-miracle"})
    assert answer.status in (400, 417)
    assert upstream.seen == []


def test_a_chunked_keyed_body_arrives_whole(alice, upstream, key):
    alice.post(key=key, headers={"Transfer-Encoding": "chunked", "Content-Type": "text/plain"},
               body=b"5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n")
    assert upstream.seen[0].body == b"hello world"


def test_two_upstreams_are_used_in_turn(start_gateway, make_upstream, key):
    servers = [make_upstream(), make_upstream()]
    client = start_gateway(upstream_url=[s.url for s in servers]).client(AUTH)
    for i in range(8):
        assert client.post(key=f"{key}-{i}").status == 201
    assert [len(s.seen) for s in servers] == [4, 4]


def test_upstream_connections_are_kept_and_used_again(alice, upstream, key):
    for i in range(10):
        assert alice.post(key=f"{key}-{i}").status == 201
    assert upstream.connections <= 4


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nConnection: close\r\n", b"HTTP/1.0 200 OK\r\n",
                                  b"HTTP/1.1 200 OK\r\nConnection: x, Close\r\n"])
def test_a_connection_that_the_upstream_has_given_up_is_not_used_again(alice, upstream, key, head):
    """Although its socket stays open: what is sent there may be thrown away."""
    upstream.plan(sends(head + b"Content-Length: 2\r\n\r\nok"))
    assert alice.post(key=key).body == b"ok"
    assert alice.post(key=key + "b").status == 201
    assert upstream.seen[0].connection != upstream.seen[1].connection
