"""What an operator watches: metrics that are true, logs that never stop a request, the contract page, the supervisor."""

import os
import re
import signal
import socket
import time

from support.concurrently import background
from support.http_client import Connection, wire
from support.processes import ROOT, START_SECONDS
from support.stores import about_one_process
from support.upstream import Gate, cuts, wait_until

AUTH = {"Authorization": "Bearer alice"}
CHARGES = '[[route]]\nmatch = "POST /charges"\n'


def requests(gateway, outcome, route="POST /charges"):
    return gateway.metrics()[f'stet_requests_total{{route="{route}",outcome="{outcome}"}}']


def problems(gateway, problem, route="POST /charges"):
    return gateway.metrics()[f'stet_problems_total{{route="{route}",problem="{problem}"}}']


def commands(gateway, command, result):
    return gateway.metrics()[f'stet_store_commands_total{{command="{command}",result="{result}"}}']


def request_lines(gateway, count):
    wait_until(lambda: len(gateway.events("request")) >= count, 20, gateway.output)
    return gateway.events("request")


# ---- metrics ----


@about_one_process("a gauge of the store is in the metrics of both")
def test_each_way_that_a_keyed_request_ends_is_counted(start_gateway, upstream, key):
    gateway = start_gateway(CHARGES)
    client = gateway.client(AUTH)
    client.post(key=key)
    client.post(key=key)
    assert client.post(key=key, json_body={"other": 1}).problem == "key-reused"
    upstream.plan(cuts)
    assert client.post(key=key + "-u").problem == "outcome-unknown"
    assert requests(gateway, "completed") == 2  # the 422 speaks of a completed operation
    assert requests(gateway, "replayed") == 1
    assert requests(gateway, "unknown") == 1
    assert problems(gateway, "key-reused") == 1
    assert problems(gateway, "outcome-unknown") == 1
    assert commands(gateway, "claim", "claimed") == 2
    assert commands(gateway, "claim", "mismatch") == 1
    assert commands(gateway, "complete", "ok") == 1
    assert commands(gateway, "settle_unknown", "ok") == 1
    assert gateway.metrics()["stet_operations_unknown"] == 1
    metrics = gateway.metrics()
    assert metrics['stet_upstream_duration_seconds_count{route="POST /charges"}'] >= 1
    assert metrics["stet_store_batches_total"] == metrics["stet_store_commit_duration_seconds_count"] > 0
    assert metrics["stet_lost_claims_total"] == 0
    # Counted when the answer has been written, which its caller may have read by then.
    wait_until(lambda: gateway.metrics()['stet_request_duration_seconds_count{route="POST /charges"}'] >= 4)
    assert gateway.metrics()['stet_request_duration_seconds_count{route="POST /charges"}'] == 4


def test_what_runs_and_waits_is_shown_while_it_does(start_gateway, upstream, key):
    gateway = start_gateway(CHARGES + 'in_progress = "wait"\n')
    first, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    second = background(gateway.client(AUTH).post, key=key)
    wait_until(lambda: gateway.metrics()["stet_waiters"] == 1)
    metrics = gateway.metrics()
    assert metrics["stet_operations_in_flight"] == 1
    assert metrics["stet_operations_detached"] == 0
    assert metrics["stet_connections"] >= 2
    assert metrics["stet_upstream_connections"] >= 1
    gate.open()
    assert first.result().outcome == "completed" and second.result().outcome == "replayed"
    wait_until(lambda: gateway.metrics()["stet_connections"] == 0)
    metrics = gateway.metrics()
    for gauge in ("stet_operations_in_flight", "stet_waiters", "stet_buffered_bytes", "stet_store_queued"):
        assert metrics[gauge] == 0, gauge


def test_an_operation_that_runs_on_after_its_caller_was_answered_is_detached(start_gateway, upstream, key):
    gateway = start_gateway(CHARGES + 'response_timeout = "100ms"\n')
    gate = Gate()
    upstream.plan(gate)
    assert gateway.client(AUTH).post(key=key).problem == "still-running"
    metrics = gateway.metrics()
    assert metrics["stet_operations_detached"] == 1 and metrics["stet_operations_in_flight"] == 0
    gate.open()
    wait_until(lambda: gateway.metrics()["stet_operations_detached"] == 0)


def test_a_caller_that_hung_up_is_counted(start_gateway, upstream, key):
    gateway = start_gateway(CHARGES)
    gate = Gate()
    upstream.plan(gate)
    with Connection(gateway.address) as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        assert gate.entered.wait(20)
        connection.reset()
    gate.open()
    wait_until(lambda: gateway.metrics()['stet_callers_gone_total{route="POST /charges"}'] == 1)
    assert gateway.metrics()["stet_operations_in_flight"] == 0


def test_writes_without_a_key_are_counted_as_unprotected(start_gateway, upstream):
    gateway = start_gateway(CHARGES)
    client = gateway.client(AUTH)
    client.post()
    client.get("/charges")
    client.send("PUT", "/charges", body=b"x")
    metrics = gateway.metrics()
    assert metrics['stet_unprotected_writes_total{route="POST /charges"}'] == 1
    assert metrics['stet_proxied_total{route="POST /charges"}'] == 0
    assert metrics['stet_proxied_total{route="defaults"}'] == 2


def test_an_upstream_that_is_not_there_is_counted(start_gateway, closed_port, key):
    gateway = start_gateway(CHARGES, upstream_url=f"http://127.0.0.1:{closed_port}")
    assert gateway.client(AUTH).post(key=key).problem == "upstream-unreachable"
    assert gateway.metrics()["stet_upstream_connect_failures_total"] >= 1
    assert requests(gateway, "not-executed") == 1
    assert commands(gateway, "release", "ok") == 1


@about_one_process("counts the reloads of a process")
def test_counters_go_on_over_a_reload(start_gateway, upstream, key):
    gateway = start_gateway(CHARGES)
    gateway.client(AUTH).post(key=key)
    gateway.reload(CHARGES + 'retention = "1h"\n')
    gateway.client(AUTH).post(key=key)
    assert requests(gateway, "completed") == 1 and requests(gateway, "replayed") == 1
    assert gateway.metrics()["stet_reloads_total"] == 1
    gateway.reload("nonsense = 1\n")
    assert gateway.metrics()["stet_reloads_failed_total"] == 1


def test_the_sweep_is_counted(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "100ms"\n[defaults]\nretention = "100ms"\ntombstone = "100ms"\n')
    gateway.client(AUTH).post(key=key)
    wait_until(lambda: gateway.metrics()["stet_sweep_removed_total"] == 1)
    assert gateway.metrics()["stet_sweep_expired_total"] == 1
    assert gateway.metrics()["stet_sweep_halted"] == 0


def test_the_operating_page_names_every_metric(gateway, alice, key):
    alice.post(key=key)
    text = gateway.admin("GET", "/metrics").body.decode()
    shown = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    page = (ROOT / "docs/operating.md").read_text()
    table = page[page.index("## Metrics"):page.index("Alerts to begin with")]
    assert shown == set(re.findall(r"`(stet_[a-z_]+)`", table))
    alerts = set(re.findall(r"stet_[a-z_]+", page[page.index("Alerts to begin with"):page.index("## Logs")]))
    assert alerts <= shown


# ---- the port ----


def test_health_needs_no_token_and_no_name(start_gateway):
    gateway = start_gateway('admin_token = "env:TOKEN"\n', environment={"TOKEN": "open-sesame"})
    for path in ("/livez", "/readyz"):
        assert gateway.admin("GET", path).status == 200
        with Connection(gateway.admin_address) as connection:
            connection.send(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            assert connection.read_to_end().startswith(b"HTTP/1.1 200 ")


def test_what_the_port_does_not_know_is_a_problem(gateway):
    for method, path, status in (("GET", "/", 404), ("DELETE", "/api/operations", 405), ("GET", "/api/sweep", 405),
                                 ("GET", "/api/operations?stat=unknown", 400)):
        answer = gateway.admin(method, path)
        assert answer.status == status, (method, path, answer)
        assert answer.header("Content-Type") == "application/problem+json"
        assert answer.json()["status"] == status and answer.json()["detail"]
        assert status != 405 or answer.header("Allow")


def test_operations_are_filtered_by_age(gateway, alice, key):
    alice.post(key=key)
    assert len(gateway.operations("?created_before=2100-01-01T00:00:00Z")) == 1
    assert gateway.operations("?created_before=2020-01-01T00:00:00Z") == []


def test_a_settlement_leaves_a_line_in_the_log(gateway, upstream, alice, key):
    upstream.plan(cuts)
    operation = alice.post(key=key).header("Stet-Operation")
    assert gateway.admin("POST", f"/api/operations/{operation}/settle", json_body={"status": 204}).status == 200
    wait_until(lambda: gateway.events("settled"))
    assert gateway.events("settled")[0]["operation"] == operation
    assert gateway.events("settled")[0]["how"] == "answered"


# ---- the contract page ----


def test_the_contract_says_what_the_running_configuration_promises(start_gateway):
    gateway = start_gateway('[defaults]\nretention = "2h"\n[[route]]\nmatch = "POST /charges"\nkey = "required"\nretention = "7d"\n')
    client = gateway.client()
    answer = client.get("/.well-known/stet/contract")
    assert answer.status == 200 and answer.header("Content-Type") == "application/json"
    assert "Accept" in answer.header("Vary")
    contract = answer.json()
    assert [(r["match"], r["key"], r["retention"]) for r in contract["routes"]] == [("POST /charges", {"POST": "required"}, "7d")]
    assert contract["defaults"]["retention"] == "2h"
    page = client.get("/.well-known/stet/contract", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.header("Content-Type").startswith("text/html")
    text = page.body.decode()
    assert "POST /charges" in text and "7 days" in text and "2 hours" in text
    assert "://" not in text
    gateway.reload('[defaults]\nretention = "3h"\n')
    assert client.get("/.well-known/stet/contract").json()["defaults"]["retention"] == "3h"


# ---- logs ----


def test_a_request_and_its_retry_are_found_under_one_operation(gateway, alice, key):
    operation = alice.post(key=key).header("Stet-Operation")
    request_lines(gateway, 1)  # written after the answer, and by another thread than the next one's
    alice.post(key=key)
    first, second = request_lines(gateway, 2)
    assert first["operation"] == second["operation"] == operation
    assert first["scope"] == second["scope"] and len(first["scope"]) == 64
    assert first["key_hash"] == second["key_hash"] and key not in str(first)
    assert (first["outcome"], second["outcome"]) == ("completed", "replayed")
    assert first["attempt"] == 1
    assert first["duration_ms"] >= first["upstream_ms"] > 0 and first["store_ms"] > 0
    assert "upstream_ms" not in second


def test_a_key_in_the_path_is_hidden_like_any_other(start_gateway, upstream):
    route = '[[route]]\nmatch = "PUT /orders/*"\nkey = "required"\nkey_from = "path:2"\nscope = ["credentials"]\n'
    gateway = start_gateway(route)
    assert gateway.client(AUTH).send("PUT", "/orders/secret-order-77", body=b"x").status == 201
    line = request_lines(gateway, 1)[0]
    assert line["path"].startswith("/orders/")
    assert "secret-order-77" not in gateway.output()


def without_stderr(gateway, redirection):
    """The same gateway again, on the same addresses, its stderr sent elsewhere."""
    assert gateway.stop() == 0
    gateway.wrapper = ["sh", "-c", f'exec "$@" 2>{redirection}', "sh"]
    gateway.launch()

    def answers():
        try:
            return gateway.admin("GET", "/readyz").status == 200
        except OSError:
            return False

    wait_until(answers, START_SECONDS)


@about_one_process("a process's log")
def test_a_full_disk_under_the_log_stops_nothing(gateway, upstream, alice, key):
    without_stderr(gateway, "/dev/full")
    for i in range(20):
        assert alice.post(key=f"{key}-{i}").status == 201
    wait_until(lambda: gateway.metrics()["stet_log_dropped_lines_total"] >= 20)
    assert gateway.stop() == 0


@about_one_process("a process's log")
def test_a_log_that_nobody_reads_stops_nothing(gateway, upstream, alice, key, tmp_path):
    fifo = str(tmp_path / "log")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        without_stderr(gateway, fifo)
        # Lines enough for the pipe and the queue behind it; refused requests are the quickest to make.
        one = wire("POST", "/" + "a" * 600, {**AUTH, "Idempotency-Key": "not a key"}, b"x")
        for _ in range(30):
            with Connection(gateway.address) as connection:
                sender = background(connection.send, one * 300)
                for _ in range(300):
                    assert connection.read_answer().problem == "key-invalid"
                sender.result()
            if gateway.metrics()["stet_log_dropped_lines_total"] > 0:
                break
        assert gateway.metrics()["stet_log_dropped_lines_total"] > 0
        began = time.monotonic()
        assert alice.post(key=key).outcome == "completed"
        assert alice.post(key=key).outcome == "replayed"
        assert time.monotonic() - began < 15
        assert gateway.stop() == 0
    finally:
        os.close(reader)


# ---- the supervisor ----


@about_one_process("a process's life")
def test_a_supervisor_is_told_when_it_is_ready_reloads_and_stops(start_gateway, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(path)
        supervisor.settimeout(20)
        gateway = start_gateway(environment={"NOTIFY_SOCKET": path})
        assert supervisor.recv(256) == b"READY=1"
        gateway.reload("")
        assert supervisor.recv(256) == b"RELOADING=1"
        assert supervisor.recv(256) == b"READY=1"
        gateway.process.signal(signal.SIGTERM)
        assert supervisor.recv(256) == b"STOPPING=1"
        assert gateway.process.wait() == 0
