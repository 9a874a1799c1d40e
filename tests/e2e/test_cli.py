"""What the binary says on the command line: exit codes, messages and their places, `stet keys` both ways."""

import json
import re
import socket

import pytest

from support.processes import ROOT, run_stet
from support.stores import about_one_process, about_sqlite
from support.upstream import answers, cuts, wait_until

AUTH = {"Authorization": "Bearer alice"}


@pytest.fixture
def config(tmp_path):
    def write(text, name="stet.toml"):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    return write


def test_help_has_an_example_for_each_command():
    top = run_stet("--help")
    assert top.returncode == 0
    commands = ["check-config", "keys", "serve", "demo-api", "probe"]
    for command in commands:
        assert command in top.stdout
    for arguments in [[c] for c in commands] + [["keys", k] for k in ("list", "show", "settle", "release", "sweep")]:
        shown = run_stet(*arguments, "--help")
        assert shown.returncode == 0, shown.stderr
        assert re.search(r"Examples?:?\s+(\$ )?stet ", shown.stdout), (arguments, shown.stdout)


def test_commands_that_do_not_exist_yet_are_not_offered():
    top = run_stet("--help").stdout
    for later in ("send", "relay", "outbox", "lab"):
        assert not re.search(rf"^  {later}\b", top, re.MULTILINE)
        assert run_stet(later).returncode == 2


def test_a_command_that_is_misspelt_is_named():
    run = run_stet("srve", "--upstream", "http://127.0.0.1:1")
    assert run.returncode == 2 and "there is no command 'srve'" in run.stderr
    assert "A subcommand is required" in run_stet().stderr


def test_a_format_that_is_not_there_is_told_which_are():
    run = run_stet("probe", "http://127.0.0.1:1/", "--format", "junitt")
    assert run.returncode == 2 and "junitt" in run.stderr and "markdown" in run.stderr and "->" not in run.stderr
    assert "->" not in run_stet("probe", "--help").stdout


def test_the_version_is_one_line():
    shown = run_stet("--version")
    assert shown.returncode == 0
    assert re.fullmatch(r"stet \d+\.\d+\.\d+\n", shown.stdout)


@pytest.mark.parametrize("arguments", [[], ["no-such"], ["serve", "--no-such"], ["check-config"], ["keys"], ["keys", "show"],
                                       ["keys", "list", "--state", "odd"], ["keys", "list", "--format", "xml"]])
def test_a_wrong_command_line_is_status_2_with_a_word_about_it(arguments):
    shown = run_stet(*arguments)
    assert shown.returncode == 2, (shown.returncode, shown.stderr)
    assert "--help" in shown.stderr
    assert shown.stdout == ""


def test_check_config_accepts_the_example_that_comes_with_it():
    shown = run_stet("check-config", "stet.example.toml", cwd=ROOT)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == "stet.example.toml: ok, 6 routes\n"


def test_check_config_reports_every_mistake_with_its_place(config):
    path = config('''lisen = "127.0.0.1:8080"
upstream = "http://127.0.0.1:3000"

[defaults]
wait = 10
on_unknown = "retry"

[[route]]
match = "POST /**"
[[route]]
match = "POST /charges"
''')
    shown = run_stet("check-config", path)
    assert shown.returncode == 2
    assert shown.stdout == ""
    lines = shown.stderr.splitlines()
    assert [line[len(path) + 1:].split(": ")[0] for line in lines] == ["1:1", "5:8", "6:14", "11:9"]
    assert 'did you mean "listen"' in lines[0]
    assert '"10s"' in lines[1]
    assert "upstream_idempotent" in lines[2]
    assert "can never match" in lines[3]


def test_a_missing_file_is_status_2(tmp_path):
    shown = run_stet("check-config", str(tmp_path / "none.toml"))
    assert shown.returncode == 2
    assert "cannot be read" in shown.stderr


def test_a_plain_secret_that_everybody_can_read_is_a_warning_and_not_shown(config, tmp_path):
    path = config('upstream = "http://127.0.0.1:3000"\nadmin_token = "hunter2"\n')
    (tmp_path / "stet.toml").chmod(0o644)
    shown = run_stet("check-config", path)
    assert shown.returncode == 0
    assert shown.stderr.startswith(f"{path}:2:15: warning: ")
    assert "hunter2" not in shown.stderr + shown.stdout


def test_the_environment_and_flags_count_for_check_config_as_for_serve(config):
    path = config("[defaults]\nwait = \"1s\"\n")
    assert run_stet("check-config", path).returncode == 2  # no upstream
    assert run_stet("check-config", path, env={"STET_UPSTREAM": "http://127.0.0.1:1"}).returncode == 0
    assert run_stet("check-config", path, "--upstream", "http://127.0.0.1:1").returncode == 0
    shown = run_stet("check-config", path, "--upstream", "http://127.0.0.1:1", "--set", "defaults.wait=2",
                     env={"STET_LISTEN": "8080"})
    assert shown.returncode == 2
    assert shown.stderr.splitlines()[0].startswith("STET_LISTEN: ")
    assert shown.stderr.splitlines()[1].startswith("--set defaults.wait: ")


def test_a_setting_without_quotes_is_explained():
    shown = run_stet("serve", "--upstream", "http://127.0.0.1:1", "--set", "store=sqlite:x.db")
    assert shown.returncode == 2
    assert '"sqlite:x.db" was meant?' in shown.stderr


def test_serve_without_an_upstream_is_status_2():
    shown = run_stet("serve")
    assert shown.returncode == 2
    assert shown.stderr.startswith("--upstream: upstream is missing")


def test_serve_on_a_taken_port_or_with_an_unusable_store_is_status_3(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        common = ["serve", "--upstream", "http://127.0.0.1:1", "--admin", "127.0.0.1:0", "--set",
                  'store_options.ballast="64KiB"']
        shown = run_stet(*common, "--listen", address, "--store", f"sqlite:{tmp_path}/a.db")
        assert shown.returncode == 3, shown.stderr
        assert address.split(":")[1] in shown.stderr
    shown = run_stet(*common, "--listen", "127.0.0.1:0", "--store", "sqlite:/nowhere/at/all/b.db")
    assert shown.returncode == 3, shown.stderr


@about_one_process("a process's log")
def test_what_is_allowed_and_unwise_is_a_warning_in_the_log(start_gateway):
    gateway = start_gateway('admin_token = "hunter2"\n')
    wait_until(lambda: gateway.events("configuration"))  # by a thread of its own
    (warning,) = gateway.events("configuration")
    assert warning["level"] == "warning"
    assert f"{gateway.file}:" in warning["message"]
    assert "hunter2" not in gateway.output()


def test_a_reload_takes_a_good_file_over_and_keeps_the_old_one_for_a_bad_one(start_gateway, key):
    gateway = start_gateway('[[route]]\nmatch = "POST /charges"\n', arguments=["--set", 'defaults.wait="1s"'])
    without_key = lambda: gateway.client().send("POST", "/charges", headers=AUTH, body=b"x").status  # noqa: E731
    assert without_key() < 300
    refused = gateway.reload('[[route]]\nmatch = "POST /charges"\nkey = "requird"\n')
    assert refused["event"] == "reload-failed"
    assert re.search(r"stet\.toml:\d+:7: key: .*did you mean \"required\"", refused["message"])
    assert without_key() < 300
    assert gateway.reload('[[route]]\nmatch = "POST /charges"\nkey = "required"\n')["event"] == "reload"
    assert without_key() == 400
    assert gateway.stop() == 0


# ---- stet keys ----


class Keys:
    """`stet keys`, through the admin port while the gateway runs and on the store once it has stopped."""

    def __init__(self, gateway):
        self.gateway = gateway

    def where(self):
        if self.gateway.process.is_running():
            return ["--admin", "%s:%d" % self.gateway.admin_address]
        return ["--store", self.gateway.store, "--config", str(self.gateway.file)]

    def run(self, verb, *arguments):
        return run_stet("keys", verb, *self.where(), *arguments)

    def json(self, verb, *arguments):
        shown = self.run(verb, *arguments, "--format", "json")
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)


@pytest.fixture(params=["admin port", "store"])
def ways(request):
    """Makes a Keys of a gateway, by the way that this run tries."""

    def make(gateway):
        if request.param == "store":
            assert gateway.stop() == 0
        return Keys(gateway)

    return make


def post(client, key, path="/charges", body=b'{"amount": 1}'):
    return client.send("POST", path, headers={**AUTH, "Idempotency-Key": key, "Content-Type": "application/json"}, body=body)


def test_a_cursor_that_no_list_has_given_is_wrong_usage(gateway, key, ways):
    assert post(gateway.client(), key).status < 300
    shown = ways(gateway).run("list", "--cursor", "garbage")
    assert shown.returncode == 2 and "cursor" in shown.stderr, shown


def test_keys_list_and_show_what_was_done(gateway, key, ways):
    assert post(gateway.client(), key).status < 300
    assert post(gateway.client(), key + "-other").status < 300
    keys = ways(gateway)
    listed = keys.json("list", "--key", key)
    assert listed["next"] is None
    (one,) = listed["operations"]
    assert set(one) == {"id", "scope", "key", "method", "path", "state", "attempt", "maybe_executed", "status", "created_at",
                        "lease_until", "expires_at"}
    assert (one["key"], one["method"], one["path"], one["state"], one["attempt"]) == (key, "POST", "/charges", "completed", 1)
    assert re.fullmatch(r"[0-9a-f]{64}", one["scope"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["created_at"])
    whole = keys.json("show", key)
    assert whole["id"] == one["id"]
    assert keys.json("show", one["id"]) == whole
    assert isinstance(whole["headers"], list)
    text = keys.run("show", key)
    assert text.returncode == 0 and key in text.stdout and "completed" in text.stdout
    assert keys.json("list", "--state", "unknown")["operations"] == []
    assert keys.json("list", "--older-than", "1h")["operations"] == []
    assert len(keys.json("list", "--scope", one["scope"])["operations"]) == 2
    first = keys.json("list", "--limit", "1")
    second = keys.json("list", "--limit", "1", "--cursor", first["next"])
    assert {first["operations"][0]["key"], second["operations"][0]["key"]} == {key, key + "-other"}


def test_a_key_that_is_not_there_is_status_1(gateway, ways):
    shown = ways(gateway).run("show", "nobody")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "nobody" in shown.stderr


def test_a_key_in_several_scopes_needs_the_scope(gateway, key, ways):
    for caller in ("alice", "bob"):
        answer = gateway.client().send("POST", "/charges", headers={"Authorization": "Bearer " + caller, "Idempotency-Key": key},
                                       body=b"x")
        assert answer.status < 300
    keys = ways(gateway)
    shown = keys.run("show", key)
    assert shown.returncode == 2
    scopes = re.findall(r"--scope ([0-9a-f]{64})", shown.stderr)
    assert len(set(scopes)) == 2
    assert keys.json("show", key, "--scope", scopes[0])["scope"] == scopes[0]


def unknown_operation(gateway, upstream, key):
    upstream.plan(cuts)
    assert post(gateway.client(), key).status == 502
    (operation,) = gateway.operations(f"?key={key}")
    assert operation["state"] == "unknown"


def test_an_unknown_operation_is_settled_with_an_answer(gateway, upstream, key, ways, tmp_path):
    unknown_operation(gateway, upstream, key)
    keys = ways(gateway)
    body = tmp_path / "charge.json"
    body.write_bytes(b'{"id": "ch_7"}')
    shown = keys.run("settle", key, "--status", "201", "--body-file", str(body), "-H", "Content-Type: application/json",
                     "-H", "Location: /charges/ch_7")
    assert shown.returncode == 0, shown.stderr
    assert "completed with 201" in shown.stdout
    if not gateway.process.is_running():
        gateway.restart()
    answer = post(gateway.client(), key)
    assert (answer.status, answer.body) == (201, b'{"id": "ch_7"}')
    assert answer.replayed
    assert answer.header("Location") == "/charges/ch_7"
    again = Keys(gateway).run("settle", key, "--status", "200")
    assert again.returncode == 1
    assert "has its answer" in again.stderr


def test_a_release_of_a_fresh_attempt_needs_force(gateway, upstream, key, ways):
    unknown_operation(gateway, upstream, key)
    keys = ways(gateway)
    refused = keys.run("release", key)
    assert refused.returncode == 1
    assert "force" in refused.stderr
    released = keys.run("settle", key, "--release", "--force")
    assert released.returncode == 0, released.stderr
    assert "released" in released.stdout
    assert keys.run("show", key).returncode == 1
    if not gateway.process.is_running():
        gateway.restart()
    upstream.plan(answers(201, body=b"done"))
    assert post(gateway.client(), key).status == 201


@pytest.mark.parametrize("arguments", [[], ["--status", "99"], ["--release", "--status", "200"],
                                       ["--status", "200", "-H", "Content-Length: 3"], ["--status", "200", "-H", "x"],
                                       ["--status", "204", "--body-file", __file__]])
def test_a_settlement_that_makes_no_sense_is_status_2(arguments):
    shown = run_stet("keys", "settle", "k", "--admin", "127.0.0.1:1", *arguments)
    assert shown.returncode == 2, shown.stderr


def test_sweep_says_what_it_did(gateway, key, ways):
    post(gateway.client(), key)
    assert ways(gateway).json("sweep") == {"expired": 0, "removed": 0, "clock": "sane"}


def test_no_gateway_and_no_store_are_status_3(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        shown = run_stet("keys", "list", "--admin", "127.0.0.1:%d" % free.getsockname()[1])
    assert shown.returncode == 3
    assert "--admin" in shown.stderr
    path = tmp_path / "none.db"
    shown = run_stet("keys", "list", "--store", f"sqlite:{path}")
    assert shown.returncode == 3
    assert not path.exists()
    for none in ("orders.db", "sqlite:", "sqlite://orders.db", "redis://127.0.0.1"):
        shown = run_stet("keys", "list", "--store", none, cwd=tmp_path)
        assert shown.returncode == 2 and shown.stderr.startswith("stet keys: --store: "), shown


@about_sqlite("a file is one process's")
def test_the_store_of_a_running_gateway_is_left_alone(gateway):
    shown = run_stet("keys", "list", "--store", gateway.store)
    assert shown.returncode == 3
    assert "--admin" in shown.stderr


def test_the_admin_token_is_asked_for(start_gateway):
    gateway = start_gateway('admin_token = "env:TOKEN"\n', environment={"TOKEN": "s3cret"})
    admin = ["--admin", "%s:%d" % gateway.admin_address]
    refused = run_stet("keys", "list", *admin)
    assert refused.returncode == 2
    assert run_stet("keys", "list", *admin, "--token", "wrong").returncode == 2
    assert run_stet("keys", "list", *admin, "--token", "env:T", env={"T": "s3cret"}).returncode == 0
    assert run_stet("keys", "list", *admin, env={"STET_ADMIN_TOKEN": "s3cret"}).returncode == 0


# ---- what is written down ----


def documented_keys():
    rows = {}
    for line in (ROOT / "docs/configuration.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 4:
            rows[cells[0].strip("`")] = (cells[1], cells[2].strip("`"))
    return rows


def test_the_documentation_names_every_key_with_the_default_of_the_help():
    keys = {}
    for line in run_stet("check-config", "--help").stdout.split("\nKeys of the top level")[1].splitlines():
        found = re.match(r"  ([a-z_.]+)  +(.*?)(?: \[(.+)\])?$", line)
        if found:
            keys[found.group(1)] = found.group(3)
    documented = documented_keys()
    assert len(keys) > 60
    assert set(documented) == set(keys)
    for key, default in keys.items():
        if default is not None:
            assert documented[key][0] == f"`{default}`", key


@pytest.mark.parametrize("key, example", sorted((k, e) for k, (_, e) in documented_keys().items()))
def test_the_examples_of_the_documentation_are_accepted(key, example, config, tmp_path):
    if key in ("upstream_tls.ca", "jwt.public_key"):
        pytest.skip("names a file that not every machine has")
    top = key in {"listen", "admin", "upstream", "store", "drain", "sweep_every", "admin_token", "upstream_host"}
    top = top or key.split(".")[0] in {"log", "upstream_tls", "limits", "store_options", "jwt", "auth", "cors"}
    text = "" if key == "upstream" else 'upstream = "http://127.0.0.1:3000"\n'
    if key == "upstream_joins":
        text += 'store = "postgresql://db/stet"\n'
    if key == "listen":
        text += "listen = " + example + "\n"
    elif top:
        text += ("jwt.secret = \"env:JWT_SECRET\"\n" if key in ("jwt.issuer", "jwt.audience") else "") + f"{key} = {example}\n"
    else:
        text += "[[route]]\n" + ("" if key == "match" else 'match = "POST /x"\n')
        text += ('scope = ["credentials"]\n' if key == "key_from" else "") + f"{key} = {example}\n"
    secrets = {"STET_ADMIN_TOKEN": "t", "JWT_SECRET": "s" * 32, "STET_FINGERPRINT_SECRET": "f", "STET_ENCRYPTION_KEY": "0" * 64}
    shown = run_stet("check-config", config(text), env=secrets)
    assert shown.returncode == 0, shown.stderr
