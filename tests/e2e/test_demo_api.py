"""The demo API by itself: honestly not idempotent, with every fault it promises (src/demo/README.md); and protected."""

import pathlib
import signal
import time

import pytest
from support.concurrently import all_at_once
from support.http_client import Client, Closed
from support.processes import run_stet
from support.upstream import wait_until


def post(demo, query="", key="k", headers=(), **more):
    return Client(demo.address).post("/charges" + query, key=key, headers=headers, **more)


def test_every_post_makes_a_charge_whatever_its_key(start_demo):
    demo = start_demo()
    one, two = post(demo), post(demo)
    assert one.status == two.status == 201
    assert one.header("Location") == "/charges/" + one.json()["id"]
    assert one.json()["id"] != two.json()["id"] and one.json()["response_id"] != two.json()["response_id"]
    assert len(demo.charges("k")) == 2 and demo.charges("other") == []
    assert Client(demo.address).get(one.header("Location")).json() == one.json()


def test_the_ledger_says_where_a_charge_came_from(start_demo):
    demo = start_demo()
    post(demo, headers={"Stet-Operation": "op", "Stet-Attempt": "2"})
    charge = demo.charges()[0]
    assert (charge["idempotency_key"], charge["operation"], charge["attempt"]) == ("k", "op", "2")


@pytest.mark.parametrize("body, status", [(b"", 400), (b"{", 400), (b"[]", 400), (b"{}", 422), (b'{"amount":-1,"currency":"eur"}', 422),
                                          (b'{"amount":1,"currency":"EURO"}', 422)])
def test_a_charge_that_is_none_is_refused(start_demo, body, status):
    demo = start_demo()
    assert post(demo, body=body).status == status
    assert demo.charges() == []


@pytest.mark.parametrize("query, status, effects", [
    ("?refuse=503", 503, 0), ("?fail=500", 500, 0), ("?fail-after=500", 500, 1), ("?fail-after=503", 503, 1), ("?fail=429", 429, 0)])
def test_failures_before_and_after_the_effect(start_demo, query, status, effects):
    demo = start_demo()
    answer = post(demo, query)
    assert answer.status == status
    assert (answer.header("Stet-Not-Executed") == "1") == ("refuse" in query)
    assert len(demo.charges()) == effects


@pytest.mark.parametrize("fault, effects", [("cut", 0), ("lose-answer", 1), ("cut-answer", 1)])
@pytest.mark.parametrize("where", ["query", "header"])
def test_cuts(start_demo, fault, effects, where):
    demo = start_demo()
    with pytest.raises(Closed):
        post(demo, "?" + fault if where == "query" else "", headers={"X-Demo-Fault": fault} if where == "header" else {})
    assert len(demo.charges()) == effects


def test_delays_and_large_answers(start_demo):
    demo = start_demo()
    began = time.monotonic()
    answer = post(demo, "?delay=200ms&answer-delay=200ms&big=2MiB")
    assert 0.4 <= time.monotonic() - began < 10
    assert len(answer.body) > 2 << 20


@pytest.mark.parametrize("fault, effects", [("crash", 0), ("crash-after", 1)])
def test_a_crash_is_one_and_the_ledger_survives_it(start_demo, fault, effects):
    demo = start_demo()
    with pytest.raises(Closed):
        post(demo, "?" + fault)
    assert demo.wait() == -signal.SIGKILL
    assert len(start_demo().charges()) == effects


def test_once_strikes_once_for_each_key(start_demo):
    demo = start_demo()
    for key in ("a", "b"):
        assert [post(demo, "?fail=500&once", key=key).status for _ in range(3)] == [500, 201, 201]


def test_a_fault_that_does_not_exist_is_refused(start_demo):
    assert post(start_demo(), headers={"X-Demo-Fault": "nonsense"}).status == 400


def test_it_reads_requests_strictly_and_keeps_connections(start_demo):
    demo = start_demo()
    with Client(demo.address).connect() as connection:
        connection.send(b"GET /charges HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        assert connection.read_answer().status == connection.read_answer().status == 200
        connection.send(b"POST /charges HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        assert connection.read_answer().status == 400
        assert connection.is_closed()


def test_a_connection_outlives_a_pause_of_the_process(start_demo):
    demo = start_demo()
    with Client(demo.address).connect() as connection:
        for _ in range(3):
            connection.send(b"GET /charges HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.read_answer().status == 200
            time.sleep(0.2)  # it waits for the next request by now
            demo.signal(signal.SIGSTOP)
            wait_until(lambda: pathlib.Path(f"/proc/{demo.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T")
            demo.signal(signal.SIGCONT)


def test_sigterm_ends_it_at_once_even_in_a_delay(start_demo):
    demo = start_demo()
    with Client(demo.address).connect() as connection:
        connection.send(b"GET /charges?delay=1000s HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)
        began = time.monotonic()
        assert demo.stop() == 0
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("arguments, code", [(["--listen", "nowhere"], 2), (["--listen", "127.0.0.1:0", "--db", "/missing/x.db"], 3)])
def test_it_says_why_it_does_not_start(tmp_path, arguments, code):
    done = run_stet("demo-api", *arguments, cwd=tmp_path)
    assert done.returncode == code and "demo-api" in done.stderr


def test_behind_the_gateway_a_lost_answer_is_never_charged_twice(start_demo, start_gateway, key):
    demo = start_demo()
    client = start_gateway(upstream_url=demo.url).client({"Authorization": "Bearer alice"})
    first = client.post(key=key, headers={"X-Demo-Fault": "lose-answer"})
    assert first.problem == "outcome-unknown"
    for _ in range(3):
        assert client.post(key=key).problem == "outcome-unknown"
    assert len(demo.charges(key)) == 1


def test_behind_the_gateway_a_double_click_is_one_charge(start_demo, start_gateway, key):
    demo = start_demo()
    client = start_gateway('[defaults]\nin_progress = "wait"\n', upstream_url=demo.url).client({"Authorization": "Bearer alice"})
    results = all_at_once(2, lambda i: client.post("/charges?delay=200ms", key=key))
    assert results[0].body == results[1].body and {a.status for a in results} == {201}
    assert len(demo.charges(key)) == 1
