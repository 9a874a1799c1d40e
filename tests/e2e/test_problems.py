"""Problem documents, the pages behind their types, and the contract page (docs/http.md, "Problems")."""

import pytest
from support.upstream import cuts, wait_until

AUTH = {"Authorization": "Bearer alice"}
PAGES = "/.well-known/stet/problems/"
NAMES = ["key-missing", "key-invalid", "scope-undefined", "bad-request", "credentials-invalid", "in-progress", "answer-not-kept",
         "key-expired", "body-too-large", "key-reused", "store-corrupt", "outcome-unknown", "upstream-unreachable",
         "store-unavailable", "auth-unavailable", "overloaded", "still-running"]


@pytest.mark.parametrize("name", NAMES)
def test_every_problem_type_has_a_page(alice, upstream, name):
    answer = alice.get(PAGES + name)
    assert answer.status == 200, answer
    assert answer.header("Content-Type").startswith("text/html")
    assert name.encode() in answer.body
    assert upstream.seen == []


def test_a_problem_that_does_not_exist_has_no_page(alice, upstream):
    assert alice.get(PAGES + "no-such-thing").status == 404
    assert alice.get("/.well-known/stet/nothing").status == 404
    assert upstream.seen == []


def test_the_contract_page_is_html_for_people_and_json_by_accept(start_gateway, upstream):
    # apache/iceberg PR14196: nobody knows how long a key lives.
    gateway = start_gateway('[[route]]\nmatch = "POST /charges"\nkey = "required"\nretention = "7d"\n')
    page = gateway.client().get("/.well-known/stet/contract", headers={"Accept": "text/html"})
    assert page.status == 200 and page.header("Content-Type").startswith("text/html")
    assert b"/charges" in page.body
    data = gateway.client().get("/.well-known/stet/contract", headers={"Accept": "application/json"})
    assert data.status == 200 and data.header("Content-Type").startswith("application/json")
    text = data.body.decode()
    data.json()
    assert "POST /charges" in text and "required" in text
    assert "7d" in text or "604800" in text
    assert upstream.seen == []


def test_distinct_conditions_have_distinct_types(start_gateway, upstream, key):
    # KeeperHub PR1922: two opposite conditions shared one 409.
    client = start_gateway().client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    busy = client.post(key=key)
    reused = client.post(key=key, json_body={"x": 1})
    gate.open()
    first.result()
    assert (busy.problem, busy.json()["retryable"]) == ("in-progress", True)
    assert (reused.problem, reused.json()["retryable"]) == ("key-reused", False)


def test_a_problem_names_its_operation(alice, upstream, key):
    upstream.plan(cuts)
    answer = alice.post(key=key)
    operation = answer.header("Stet-Operation")
    assert operation and operation in answer.json()["instance"]
    assert alice.post(key=key).header("Stet-Operation") == operation
    assert upstream.seen[0].header("Stet-Operation") == operation


def test_the_operation_is_the_same_in_the_log(gateway, alice, upstream, key):
    answer = alice.post(key=key)
    operation = answer.header("Stet-Operation")
    wait_until(lambda: any(operation in line for line in gateway.process.lines))


def test_problems_are_not_cached(alice, key):
    answer = alice.post(key="a b")
    assert "no-store" in (answer.header("Cache-Control") or "")


def test_problem_documents_echo_nothing_that_breaks_them(alice, upstream, key):
    alice.post("/a%22b%3Cscript%3E'", key=key, body=b"x")
    answer = alice.post("/second", key=key, body=b"x")
    assert answer.problem == "key-reused"
    assert answer.json()["detail"]
    assert b"<script>" not in answer.body


@pytest.mark.parametrize("status", [409, 422, 423, 425])
def test_a_route_changes_the_status_of_in_progress_and_key_reused(start_gateway, upstream, key, status):
    config = f'[[route]]\nmatch = "POST /charges"\nstatus.in_progress = {status}\nstatus.key_reused = {status}\n'
    client = start_gateway(config).client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    busy, reused = client.post(key=key), client.post(key=key, json_body={"x": 1})
    gate.open()
    first.result()
    assert (busy.status, busy.problem, busy.json()["status"]) == (status, "in-progress", status)
    assert (reused.status, reused.problem, reused.json()["status"]) == (status, "key-reused", status)
