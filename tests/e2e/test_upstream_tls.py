"""Upstreams under https: verified, refused when they do not verify, and unknown only after a byte was sent."""

import ssl

import pytest
from support.http_client import wire
from support.tls import Authority
from support.upstream import Gate, answers, cuts, sends

AUTH = {"Authorization": "Bearer alice"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def secure(make_upstream, authority):
    return make_upstream(ssl_context=authority.server_context())


def trusting(authority):
    return f'upstream_tls.ca = "{authority.certificate}"\n'


def test_a_verified_upstream_is_protected_like_any_other(start_gateway, secure, authority, key):
    client = start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH)
    first, again = client.post(key=key), client.post(key=key)
    assert (first.status, first.outcome, again.outcome) == (201, "completed", "replayed")
    assert client.post().status == 201
    assert client.get("/x").status == 201
    assert len(secure.effects) == 3


def test_an_upstream_that_nobody_vouches_for_gets_nothing(start_gateway, secure, key):
    client = start_gateway(upstream_url=secure.url).client(AUTH)
    answer = client.post(key=key)
    assert answer.status == 502 and answer.problem == "upstream-unreachable"
    assert answer.outcome == "not-executed" and answer.json()["new_key_safe"] is True
    assert client.post().status == 502
    assert secure.seen == [] and secure.heads == []


def test_a_certificate_for_another_host_is_refused(start_gateway, make_upstream, authority, key):
    server = make_upstream(ssl_context=authority.server_context("other", "DNS:example.test"))
    answer = start_gateway(trusting(authority), upstream_url=server.url).client(AUTH).post(key=key)
    assert answer.problem == "upstream-unreachable" and answer.outcome == "not-executed"
    assert server.heads == []


def test_verification_can_be_turned_off_on_purpose(start_gateway, secure, key):
    client = start_gateway("upstream_tls.verify = false\n", upstream_url=secure.url).client(AUTH)
    assert client.post(key=key).status == 201


def test_a_plain_upstream_behind_https_is_unreachable(start_gateway, upstream, authority, key):
    client = start_gateway(trusting(authority), upstream_url=upstream.url.replace("http", "https")).client(AUTH)
    upstream.errors.clear()
    answer = client.post(key=key)
    assert answer.problem == "upstream-unreachable" and answer.outcome == "not-executed"
    upstream.errors.clear()  # what a TLS hello looks like to it is not the point


def test_a_cut_under_tls_is_unknown(start_gateway, secure, authority, key):
    client = start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH)
    secure.plan(cuts)
    assert client.post(key=key).problem == "outcome-unknown"
    assert client.post(key=key).problem == "outcome-unknown"
    assert len(secure.seen) == 1


def closes_with_notify(raw):
    def behave(request, wire):
        wire.upstream.executed(request)
        wire.send(raw)
        try:
            wire.socket.unwrap()
        except (ssl.SSLError, OSError):
            pass
        wire.end()

    return behave


UNTIL_CLOSE = b"HTTP/1.1 201 Created\r\nConnection: close\r\n\r\nuntil the end"


def test_a_close_delimited_answer_ends_with_close_notify(start_gateway, secure, authority, key):
    client = start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH)
    secure.plan(closes_with_notify(UNTIL_CLOSE))
    assert client.post(key=key).body == b"until the end"
    assert client.post(key=key).outcome == "replayed"


def test_a_close_delimited_answer_without_close_notify_is_unknown(start_gateway, secure, authority, key):
    client = start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH)
    secure.plan(sends(UNTIL_CLOSE, "end"))  # FIN, and no close_notify: a truncation attack looks the same
    answer = client.post(key=key)
    assert answer.problem == "outcome-unknown", answer
    assert len(secure.seen) == 1


def test_a_large_answer_under_tls_is_whole(start_gateway, secure, authority, key):
    client = start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH)
    body = bytes(range(256)) * 3000
    secure.plan(answers(200, {}, body))
    assert client.post(key=key).body == body
    assert client.post(key=key).body == body


def test_forwarded_proto_is_the_clients_and_not_the_upstreams(start_gateway, secure, authority, key):
    start_gateway(trusting(authority), upstream_url=secure.url).client(AUTH).post(key=key)
    assert secure.seen[0].header("X-Forwarded-Proto") == "http"


def test_a_connection_that_nobody_verified_is_not_used_once_a_reload_wants_it_verified(start_gateway, secure, key):
    gateway = start_gateway("upstream_tls.verify = false\n", upstream_url=secure.url)
    gate = Gate()
    secure.plan(gate)
    with gateway.client().connect() as connection:  # one connection, one worker, one pool
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}))
        assert gate.entered.wait(20)
        gateway.reload("")
        gate.open()
        assert connection.read_answer("POST").status == 201
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": f"{key}-next"}))
        assert connection.read_answer("POST").problem == "upstream-unreachable"
    assert len(secure.seen) == 1
