"""Operators: the admin port and `stet keys`, on a running gateway and on the file (docs/cli.md)."""

import base64
import json
import time

import pytest
from support.http_client import Client
from support.processes import run_stet
from support.stores import about_sqlite
from support.upstream import Gate, answers, cuts, wait_until

AUTH = {"Authorization": "Bearer alice"}


def keys(*arguments):
    return run_stet("keys", *arguments)


def listed(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["operations"]


def unknown_operation(gateway, upstream, key):
    upstream.plan(cuts)
    answer = gateway.client(AUTH).post(key=key)
    assert answer.problem == "outcome-unknown"
    return answer.header("Stet-Operation")


def settle(gateway, operation, body):
    return gateway.admin("POST", f"/api/operations/{operation}/settle", json_body=body)


# ---- the admin port ----


def test_operations_are_listed_with_their_state(gateway, upstream, key):
    client = gateway.client(AUTH)
    answer = client.post("/charges", key=key)
    unknown_operation(gateway, upstream, key + "-u")
    by_state = {o["state"]: o for o in gateway.operations()}
    done = by_state["completed"]
    assert done["id"] == answer.header("Stet-Operation")
    assert (done["method"], done["path"], done["attempt"], done["status"], done["maybe_executed"]) == ("POST", "/charges", 1, 201, False)
    assert done["key"] == key and done["expires_at"] and done["lease_until"] is None
    assert done["created_at"].startswith("20") and done["created_at"].endswith("Z")
    assert len(done["scope"]) == 64 and "alice" not in done["scope"]
    assert by_state["unknown"]["key"] == key + "-u"
    assert by_state["unknown"]["status"] is None


def test_the_list_is_filtered_and_paged(gateway, upstream, key):
    client = gateway.client(AUTH)
    for i in range(7):
        client.post(key=f"{key}-{i}")
    gateway.client({"Authorization": "Bearer bob"}).post(key=f"{key}-0")
    unknown_operation(gateway, upstream, key + "-u")
    assert len(gateway.operations("?state=completed")) == 8
    assert [o["key"] for o in gateway.operations("?state=unknown")] == [key + "-u"]
    mine = gateway.operations(f"?key={key}-0")
    assert len(mine) == 2 and len({o["scope"] for o in mine}) == 2
    assert len(gateway.operations(f"?scope={mine[0]['scope']}&key={key}-0")) == 1
    seen, cursor = [], ""
    for _ in range(10):
        page = gateway.admin("GET", f"/api/operations?limit=2{cursor}").json()
        assert len(page["operations"]) <= 2
        seen += [o["id"] for o in page["operations"]]
        if not page["next"]:
            break
        cursor = "&cursor=" + page["next"]
    assert len(seen) == len(set(seen)) == 9
    assert gateway.admin("GET", "/api/operations?state=nonsense").status == 400
    assert gateway.admin("GET", "/api/operations?limit=nonsense").status == 400


def test_one_operation_is_shown_with_its_answer(gateway, upstream, key):
    body = b"\x00\xffbytes"
    upstream.plan(answers(201, [("X-A", "1"), ("X-A", "2")], body))
    answer = gateway.client(AUTH).post(key=key)
    shown = gateway.admin("GET", f"/api/operations/{answer.header('Stet-Operation')}").json()
    assert base64.b64decode(shown["body_base64"]) == body
    assert [h for h in shown["headers"] if h[0] == "X-A"] == [["X-A", "1"], ["X-A", "2"]]
    assert gateway.admin("GET", "/api/operations/" + "0" * 32).status == 404


def test_an_unknown_operation_is_settled_with_an_answer(gateway, upstream, key):
    operation = unknown_operation(gateway, upstream, key)
    done = settle(gateway, operation, {"status": 201, "headers": [["Location", "/charges/7"], ["X-By", "hand"]], "body": "settled"})
    assert done.status in (200, 204), done
    for _ in range(2):
        answer = gateway.client(AUTH).post(key=key)
        assert (answer.status, answer.body, answer.outcome) == (201, b"settled", "replayed")
        assert answer.header("Location") == "/charges/7" and answer.header("X-By") == "hand"
    assert len(upstream.seen) == 1


def test_a_settled_body_may_be_base64(gateway, upstream, key):
    operation = unknown_operation(gateway, upstream, key)
    settle(gateway, operation, {"status": 200, "body_base64": base64.b64encode(b"\0\xff").decode()})
    assert gateway.client(AUTH).post(key=key).body == b"\0\xff"


def test_a_release_within_completion_timeout_needs_force(gateway, upstream, key):
    operation = unknown_operation(gateway, upstream, key)
    refused = settle(gateway, operation, {"release": True})
    assert refused.status == 409 and "force" in refused.body.decode()
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"
    assert settle(gateway, operation, {"release": True, "force": True}).status in (200, 204)
    answer = gateway.client(AUTH).post(key=key)
    assert answer.status == 201 and answer.outcome == "completed"
    assert len(upstream.seen) == 2


def test_a_release_after_completion_timeout_needs_none(start_gateway, upstream, key):
    gateway = start_gateway('[defaults]\nresponse_timeout = "2s"\ncompletion_timeout = "2s"\n')
    operation = unknown_operation(gateway, upstream, key)
    wait_until(lambda: settle(gateway, operation, {"release": True}).status in (200, 204))


def test_what_is_completed_or_running_is_not_settled(gateway, upstream, key):
    client = gateway.client(AUTH)
    completed = client.post(key=key).header("Stet-Operation")
    assert settle(gateway, completed, {"release": True, "force": True}).status == 409
    first, gate = upstream.hold(client.post, key=key + "r")
    running = upstream.seen[-1].header("Stet-Operation")
    for body in ({"release": True, "force": True}, {"status": 200, "body": "x"}):
        assert settle(gateway, running, body).status == 409
    gate.open()
    assert first.result().outcome == "completed"
    assert settle(gateway, "0" * 32, {"release": True}).status == 404


@pytest.mark.parametrize("body", [{}, {"release": False}, {"status": 99}, {"status": 600}, {"status": "200"},
                                  {"release": True, "status": 200},
                                  {"status": 200, "body": "a", "body_base64": "YQ=="}, {"status": 200, "headers": [["a"]]},
                                  {"status": 200, "headers": [["X", "a\r\nY: b"]]}, {"status": 200, "body_base64": "!"}, [], "x"])
def test_a_settlement_that_is_none_changes_nothing(gateway, upstream, key, body):
    operation = unknown_operation(gateway, upstream, key)
    assert settle(gateway, operation, body).status == 400
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"


def test_a_late_owner_is_fenced_by_a_settlement(start_gateway, upstream, key):
    """The gateway that was stopped for longer than its lease must not overwrite what an operator settled. One process
    owns the file, so here the owner's answer comes after its own operation had been settled as unknown."""
    gateway = start_gateway('[defaults]\nresponse_timeout = "200ms"\ncompletion_timeout = "500ms"\n')
    gate = Gate()
    upstream.plan(gate)
    client = gateway.client(AUTH)
    client.post(key=key)
    wait_until(lambda: [o["state"] for o in gateway.operations()] == ["unknown"])
    upstream.wait_for(1)
    operation = upstream.seen[0].header("Stet-Operation")
    assert settle(gateway, operation, {"status": 200, "body": "by hand", "force": True}).status in (200, 204)
    gate.open()
    time.sleep(0.3)
    assert client.post(key=key).body == b"by hand"


def test_sweep_on_demand(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "1h"\n[defaults]\nretention = "100ms"\n')
    client = gateway.client(AUTH)
    client.post(key=key)
    time.sleep(0.3)
    assert client.post(key=key).outcome == "replayed"
    swept = gateway.admin("POST", "/api/sweep", json_body={})
    assert swept.status == 200 and swept.json()["expired"] == 1, swept
    assert client.post(key=key).problem == "key-expired"


# ---- who may ----


def test_changes_need_a_json_content_type(gateway, upstream, key):
    operation = unknown_operation(gateway, upstream, key)
    body = b'{"status":200,"body":"x"}'
    for content_type in ("text/plain", "application/x-www-form-urlencoded", None):
        headers = {"Content-Type": content_type} if content_type else {}
        client = Client(gateway.admin_address, {"Host": gateway.admin_listen})
        answer = client.send("POST", f"/api/operations/{operation}/settle", headers=headers, body=body)
        assert answer.status in (400, 403, 415), answer
    assert gateway.client(AUTH).post(key=key).problem == "outcome-unknown"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Host": "evil.example:9090"}, {"Origin": "https://evil.example"},
                                     {"Origin": "null"}])
def test_host_and_origin_are_checked(gateway, headers):
    assert gateway.admin("GET", "/api/operations", headers=headers).status in (400, 403, 421)
    assert gateway.admin("POST", "/api/sweep", headers=headers, json_body={}).status in (400, 403, 421)


def test_another_address_than_loopback_needs_a_token(tmp_path, upstream):
    done = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0",
                    "--store", f"sqlite:{tmp_path}/s.db", timeout=10)
    assert done.returncode == 2 and "admin_token" in done.stderr


def test_with_a_token_nothing_but_health_is_served_without_it(start_gateway, upstream, key):
    gateway = start_gateway('admin_token = "env:TOKEN"\n', environment={"TOKEN": "open-sesame"})
    for path in ("/api/operations", "/metrics"):
        assert gateway.admin("GET", path).status == 401, path
        assert gateway.admin("GET", path, headers={"Authorization": "Bearer wrong"}).status == 401, path
        assert gateway.admin("GET", path, headers={"Authorization": "Bearer open-sesame"}).status == 200, path


# ---- stet keys ----


def test_keys_through_the_admin_port(gateway, upstream, key):
    gateway.client(AUTH).post(key=key)
    unknown_operation(gateway, upstream, key + "-u")
    admin = ["--admin", "%s:%d" % gateway.admin_address]
    assert {o["key"] for o in listed(keys("list", *admin, "--format", "json"))} == {key, key + "-u"}
    assert [o["key"] for o in listed(keys("list", *admin, "--state", "unknown", "--format", "json"))] == [key + "-u"]
    text = keys("list", *admin)
    assert text.returncode == 0 and key in text.stdout
    shown = keys("show", key, *admin, "--format", "json")
    assert shown.returncode == 0 and json.loads(shown.stdout)["status"] == 201
    missing = keys("show", "no-such-key", *admin)
    assert missing.returncode != 0 and missing.stderr


def test_keys_settle_through_the_admin_port(gateway, tmp_path, upstream, key):
    unknown_operation(gateway, upstream, key)
    body = tmp_path / "answer.json"
    body.write_text('{"id":"ch_7"}')
    admin = ["--admin", "%s:%d" % gateway.admin_address]
    done = keys("settle", key, *admin, "--status", "201", "--body-file", str(body))
    assert done.returncode == 0, done.stdout + done.stderr
    answer = gateway.client(AUTH).post(key=key)
    assert (answer.status, answer.body, answer.outcome) == (201, b'{"id":"ch_7"}', "replayed")
    again = keys("settle", key, *admin, "--release", "--force")
    assert again.returncode != 0


def test_keys_settle_needs_a_scope_when_the_key_stands_in_several(gateway, upstream, key):
    unknown_operation(gateway, upstream, key)
    upstream.plan(cuts)
    gateway.client({"Authorization": "Bearer bob"}).post(key=key)
    admin = ["--admin", "%s:%d" % gateway.admin_address]
    refused = keys("settle", key, *admin, "--release", "--force")
    assert refused.returncode != 0 and "scope" in refused.stdout + refused.stderr
    scope = listed(keys("list", *admin, "--format", "json"))[0]["scope"]
    done = keys("settle", key, *admin, "--scope", scope, "--release", "--force")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(gateway.operations(f"?key={key}")) == 1


def test_keys_on_the_file_when_no_gateway_runs(gateway, upstream, key):
    gateway.client(AUTH).post(key=key)
    unknown_operation(gateway, upstream, key + "-u")
    assert gateway.stop() == 0
    store = ["--store", gateway.store]
    assert {o["key"] for o in listed(keys("list", *store, "--format", "json"))} == {key, key + "-u"}
    done = keys("settle", key + "-u", *store, "--release", "--force")
    assert done.returncode == 0, done.stdout + done.stderr
    swept = keys("sweep", *store)
    assert swept.returncode == 0, swept.stdout + swept.stderr
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).outcome == "replayed"
    assert gateway.client(AUTH).post(key=key + "-u").outcome == "completed"


@about_sqlite("a file is one process's")
def test_keys_on_a_file_that_a_gateway_holds_is_exit_3(gateway):
    done = keys("list", "--store", gateway.store)
    assert done.returncode == 3 and done.stderr
