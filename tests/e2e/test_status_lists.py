"""What each status of the upstream means for the record, and the lists record, release and unknown that change it."""

import pytest
from support.upstream import answers, refuses, sends

AUTH = {"Authorization": "Bearer alice"}

RELEASED = {401, 403, 407, 425, 429}
UNKNOWN = {408, 502, 503, 504}
RECORDED = [200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 307, 308, 400, 402, 404, 405, 406, 409, 410, 411, 412, 413,
            415, 418, 422, 423, 424, 428, 431, 451, 500, 501, 505, 507, 511, 599]


def what_became_of(client, upstream, key, status):
    """recorded, released or unknown, seen from outside: by two requests and what reached the upstream."""
    before = len(upstream.seen)
    upstream.plan(answers(status, {}, b"" if status in (204, 205, 304) else b"first"))
    first = client.post(key=key)
    second = client.post(key=key)
    reached = len(upstream.seen) - before
    if second.outcome == "replayed":
        assert (first.status, first.outcome, second.status, second.body) == (status, "completed", status, first.body)
        assert reached == 1
        return "recorded"
    if second.outcome == "unknown":
        assert first.problem == second.problem == "outcome-unknown" and reached == 1
        return "unknown"
    assert (first.status, first.outcome, second.outcome) == (status, "not-executed", "completed"), (first, second)
    assert reached == 2
    return "released"


@pytest.mark.parametrize("status", sorted(RELEASED) + sorted(UNKNOWN) + RECORDED)
def test_the_default_meaning_of(alice, upstream, key, status):
    # LabsCrypt/remitlend#1329, useautumn PR1851: a 503 pinned for 24 h; elsewhere every 5xx released after a side effect.
    expected = "released" if status in RELEASED else "unknown" if status in UNKNOWN else "recorded"
    assert what_became_of(alice, upstream, key, status) == expected


@pytest.mark.parametrize("lists, status, expected", [
    ("release = [503]", 503, "released"),
    ("release = [400]", 400, "released"),  # Truxify#2869: a wrong one-time code's 400 was pinned
    ("release = [400]", 422, "recorded"),
    ('release = ["5xx"]', 500, "released"),
    ('release = ["5xx"]', 599, "released"),
    ("record = [429]", 429, "recorded"),
    ('record = ["5xx"]', 503, "recorded"),
    ("record = [504]", 503, "unknown"),
    ("unknown = [500]", 500, "unknown"),
    ('unknown = ["5xx"]', 501, "unknown"),
    ('unknown = ["4xx"]', 404, "unknown"),
    # The most specific wins, whatever list it stands in and whatever the order.
    ('release = ["5xx"]\nrecord = [500]', 500, "recorded"),
    ('record = [500]\nrelease = ["5xx"]', 501, "released"),
    ('unknown = ["4xx"]\nrelease = [404]', 404, "released"),
    ('unknown = ["4xx"]\nrelease = [404]', 405, "unknown"),
])
def test_a_route_says_otherwise_with(start_gateway, upstream, key, lists, status, expected):
    gateway = start_gateway(f'[[route]]\nmatch = "POST /charges"\n{lists}\n')
    assert what_became_of(gateway.client(AUTH), upstream, key, status) == expected


def test_the_lists_of_a_route_are_its_own(start_gateway, upstream, key):
    gateway = start_gateway('[[route]]\nmatch = "POST /other"\nrelease = [400]\n')
    assert what_became_of(gateway.client(AUTH), upstream, key, 400) == "recorded"


def test_stet_not_executed_wins_over_the_lists(start_gateway, upstream, key):
    gateway = start_gateway("[defaults]\nrecord = [500]\n")
    client = gateway.client(AUTH)
    upstream.plan(refuses(500, {"Stet-Not-Executed": "1"}))
    assert client.post(key=key).outcome == "not-executed"
    assert client.post(key=key).outcome == "completed"


def test_an_interim_answer_is_never_the_final_one(alice, upstream, key):
    upstream.plan(sends(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                        b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"))
    first = alice.post(key=key)
    assert (first.status, first.body, first.interim) == (201, b"ok", [])
    assert alice.post(key=key).outcome == "replayed"
