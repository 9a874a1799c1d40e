"""What `stet probe` takes and how it ends: curl lines, OpenAPI documents, suites, formats, time limits, broken servers."""

import json
import pathlib
import socket
import threading
import time
import xml.etree.ElementTree as xml

import pytest
from support.ports import free_port
from support.probing import probe
from support.processes import run_stet
from support.upstream import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BODY = '{"amount":4900,"currency":"eur"}'


def test_a_curl_line_as_a_browser_copies_it(start_demo):
    demo = start_demo()
    line = (f"curl '{demo.url}/charges' \\\n  -H 'accept: application/json' \\\n  -H 'content-type: application/json' \\\n"
            f"  -H 'idempotency-key: pasted' \\\n  --data-raw '{BODY}' --compressed")
    verdict = probe("--curl", line, "--effects", "GET /charges", "--count", "/data", "--check", "repeat")
    assert verdict.failed == {"repeat"}
    assert {charge["idempotency_key"] for charge in demo.charges()} & {"pasted"} == set(), "the probe chooses keys"


def test_the_curl_lines_of_a_failure_reproduce_it(start_demo):
    import subprocess

    demo = start_demo()
    verdict = probe("POST", f"{demo.url}/charges", "-d", BODY, "--effects", "GET /charges", "--count", "/data", "--check", "repeat")
    before = len(demo.charges())
    for line in verdict.checks["repeat"]["reproduce"]:
        assert subprocess.run(["sh", "-c", line], capture_output=True, timeout=20).stdout.startswith(b"HTTP/1.1 201")
    assert len(demo.charges()) == before + 2


def test_an_openapi_document_gives_its_operations(start_demo):
    demo = start_demo()
    document = ROOT / "examples" / "openapi" / "charges.yaml"
    run = run_stet("probe", "--openapi", str(document), "--server", demo.url, "--operation", "createCharge", "--check", "repeat",
                   "--effects", "GET /charges", "--count", "/data", "--format", "json", timeout=200)
    report = json.loads(run.stdout)
    assert run.returncode == 1 and report["checks"][0]["result"] == "fail", run
    assert report["target"] == "createCharge (POST /charges)"


@pytest.mark.parametrize("document", sorted((ROOT / "examples" / "openapi").glob("*.*")), ids=lambda path: path.name)
def test_no_openapi_document_chokes_it(document):
    """Nothing listens: every operation must come to "no verdict", with a request of its own."""
    if document.suffix not in (".yaml", ".json"):
        pytest.skip("not a document")
    run = run_stet("probe", "--openapi", str(document), "--server", f"http://127.0.0.1:{free_port()}", "--format", "json",
                   timeout=200)
    assert run.returncode == 3, run
    report = json.loads(run.stdout)
    targets = report.get("targets", [report])
    assert len(targets) >= 2
    for target in targets:
        assert "Connection refused" in target["verdict"] or "neither JSON nor a form" in target["verdict"], target


def test_a_suite_probes_each_api_and_hides_secrets(start_demo, tmp_path):
    demo = start_demo()
    suite = tmp_path / "suite.toml"
    suite.write_text(f'''
[defaults]
headers = ["Authorization: Bearer {{{{env:SUITE_TOKEN}}}}"]
effects = "GET /charges"
count = "/data"
checks = ["repeat", "no-key"]

[[api]]
name = "charges"
request = "POST {demo.url}/charges"
body = '{BODY}'

[[api]]
name = "the same again"
curl = """curl {demo.url}/charges --json '{BODY}'"""
''')
    run = run_stet("probe", "--suite", str(suite), "--format", "json", env={"SUITE_TOKEN": "s3cret-t0ken"}, timeout=200)
    report = json.loads(run.stdout)
    assert run.returncode == 1 and report["failed"] == 2, run
    assert [target["target"] for target in report["targets"]] == ["charges", "the same again"]
    assert "s3cret" not in run.stdout and "$SUITE_TOKEN" in run.stdout


def test_the_suite_of_the_examples_is_in_order(start_demo, tmp_path):
    suite = tmp_path / "probe-suite.toml"  # not at the example's own port: somebody's API may listen there
    example = (ROOT / "examples" / "probe-suite.toml").read_text()
    suite.write_text(example.replace("http://127.0.0.1:3000", start_demo().url))
    run = run_stet("probe", "--suite", str(suite), "--format", "json", timeout=200, env={"API_TOKEN": "t"})
    assert run.returncode == 1, run  # the demo is not idempotent
    targets = json.loads(run.stdout)["targets"]
    assert [target["target"] for target in targets] == ["charges", "charges, as pasted"]


def test_every_format_says_the_same(start_demo):
    demo = start_demo()
    arguments = ["probe", "POST", f"{demo.url}/charges", "-d", BODY, "--effects", "GET /charges", "--count", "/data",
                 "--check", "repeat", "--check", "no-key", "--check", "new-intent", "--check", "kill"]
    outputs = {format: run_stet(*arguments, "--format", format, timeout=200) for format in ("text", "json", "junit", "markdown")}
    assert {run.returncode for run in outputs.values()} == {1}
    last = "NOT safe to retry: 1 of 3 checks failed. The worst: a request that was sent twice took effect twice."
    assert outputs["text"].stdout.splitlines()[-1] == last
    assert "\x1b" not in outputs["text"].stdout and outputs["text"].stderr == ""
    assert json.loads(outputs["json"].stdout)["verdict"] == last
    suite = xml.fromstring(outputs["junit"].stdout).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    assert f"**{last}**" in outputs["markdown"].stdout


def test_effects_by_a_command_of_the_shell(start_demo):
    demo = start_demo()
    verdict = probe("POST", f"{demo.url}/charges", "-d", BODY, "--effects-cmd", f"sqlite3 {demo.db} 'select count(*) from charges'",
                    "--check", "repeat", "--check", "new-intent")
    assert verdict.failed == {"repeat"} and verdict.named("pass") == {"new-intent"}, verdict


def test_without_an_oracle_the_summary_says_how_much_weaker_it_is(start_demo):
    demo = start_demo()
    verdict = probe("POST", f"{demo.url}/charges", "-d", BODY, "--check", "new-intent")
    assert verdict.exit_code == 0 and "Much weaker" in verdict.report["verdict"]


def test_every_check_explains_itself():
    listed = [line.split()[0] for line in run_stet("probe", "--help").stdout.split("Checks:")[1].split("Exit codes")[0].strip().splitlines()]
    assert len(listed) == 15
    for check in listed:
        run = run_stet("probe", "--explain", check)
        assert run.returncode == 0 and "In production:" in run.stdout and "Fix:" in run.stdout
    assert run_stet("probe", "--explain", "nothing").returncode == 2


@pytest.mark.parametrize("arguments, word", [
    ([], "request"), (["ftp://127.0.0.1/x"], "http://"), (["http://127.0.0.1/x", "--timeout", "5"], "timeout"),
    (["http://127.0.0.1/x", "--check", "repeet"], "repeet"), (["--curl", "curl -F a=b http://127.0.0.1/"], "-F"),
    (["--suite", "/no/such/file"], "/no/such/file"), (["--suite", "/no/such/file", "--rounds", "5"], "write --rounds into it"),
    (["http://127.0.0.1/x", "--effects", "GET"], "effects"), (["http://127.0.0.1/x", "--operation", "x"], "--openapi"),
    (["http://127.0.0.1/x", "--cacert", "/no/such/file"], "/no/such/file"),
    (["--openapi", "/no/such/file"], "/no/such/file"),
])
def test_wrong_usage_is_said_at_once(arguments, word):
    run = run_stet("probe", *arguments)
    assert run.returncode == 2 and word in run.stderr, run


class Listener:
    """Accepts and does what a broken server does."""

    def __init__(self, serve):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        self.open = []
        self.serve = serve
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.open.append(connection)
            self.serve(connection)


def drip(connection):
    def send():
        try:
            for byte in b"HTTP/1.1 201 Created\r\n" + b"X-Slow: yes\r\n" * 10_000:
                connection.send(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            pass

    threading.Thread(target=send, daemon=True).start()


@pytest.mark.parametrize("name, serve, said", [
    ("silent", lambda connection: None, "no answer in time"),
    ("dripping", drip, "no answer in time"),
    ("hangs up", lambda connection: connection.close(), "no answer"),
    ("not http", lambda connection: connection.sendall(b"+PONG\r\n\r\n"), "not HTTP/1.1"),
    ("failing", lambda connection: connection.sendall(b"HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\noops"), "500 oops"),
    ("cut short", lambda connection: (connection.sendall(b"HTTP/1.1 201 X\r\nContent-Length: 9\r\n\r\noops"),
                                      connection.shutdown(socket.SHUT_WR)), "ended in the middle"),
])
def test_a_server_that_cannot_be_probed_ends_in_a_clear_message(name, serve, said):
    server = Listener(serve)
    begun = time.monotonic()
    verdict = probe("POST", server.url, "-d", "{}", "--request-timeout", "700ms", "--timeout", "60s")
    assert time.monotonic() - begun < 20
    assert verdict.exit_code == 3 and verdict.report["checks"] == []
    assert verdict.report["verdict"].startswith("No verdict: ") and said in verdict.report["verdict"], verdict


def test_nothing_listens():
    verdict = probe("POST", f"http://127.0.0.1:{free_port()}/", "-d", "{}")
    assert verdict.exit_code == 3 and "Connection refused" in verdict.report["verdict"]


def test_the_overall_time_limit_ends_a_long_run(start_demo):
    demo = start_demo()
    begun = time.monotonic()
    verdict = probe("POST", f"{demo.url}/charges?delay=400ms", "-d", BODY, "--check", "new-intent", "--rounds", "1000",
                    "--timeout", "2s")
    assert time.monotonic() - begun < 30
    assert verdict.exit_code == 3 and "--timeout of 2 s" in verdict.report["verdict"], verdict


def test_an_exec_that_dies_shows_its_last_words():
    verdict = probe("POST", f"http://127.0.0.1:{free_port()}/", "-d", "{}", "--exec", "echo no database; exit 3")
    assert verdict.exit_code == 3 and "no database" in verdict.report["verdict"], verdict


def test_https_with_a_certificate_of_ones_own(tmp_path):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    from support.tls import Authority

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        made = {}

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            number = self.made.setdefault(self.headers["Idempotency-Key"], len(self.made))
            body = b'{"id":%d}' % number
            self.send_response(201)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    authority = Authority(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.socket = authority.server_context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_address[1]}/things"
    arguments = ["POST", url, "-d", '{"amount":1}', "--check", "repeat", "--check", "lost-answer", "--check", "lost-request"]
    verdict = probe(*arguments, "--cacert", str(authority.certificate))
    assert verdict.exit_code == 0 and verdict.named("pass") == {"repeat", "lost-answer", "lost-request"}, verdict
    assert probe(*arguments, "--insecure").exit_code == 0
    doubted = probe(*arguments)
    assert doubted.exit_code == 3 and "certificate" in doubted.report["verdict"], doubted
    server.shutdown()


def test_kill_and_start_by_the_users_own_commands(tmp_path):
    import subprocess

    port = free_port()
    server = ROOT / "examples" / "servers" / "right.py"
    start = f"sh -c 'echo $$ >{tmp_path}/pid; exec python3 {server} --port {port} --db {tmp_path}/x.db' >/dev/null 2>&1 &"
    kill = f"kill -9 $(cat {tmp_path}/pid)"
    subprocess.run(["sh", "-c", start], check=True)
    try:
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 40)
        verdict = probe("POST", f"http://127.0.0.1:{port}/charges", "-d", '{"amount":1}', "--effects", "GET /charges", "--count",
                        "/data", "--check", "kill", "--rounds", "4", "--kill", kill, "--start", start)
        assert verdict.exit_code == 0 and verdict.named("pass") == {"kill"}, verdict
        assert socket.socket().connect_ex(("127.0.0.1", port)) == 0, "the user's server is left running"
        broken = probe("POST", f"http://127.0.0.1:{port}/charges", "-d", '{"amount":1}', "--check", "kill", "--kill", "exit 7")
        assert broken.exit_code == 3 and "exited with 7" in broken.report["verdict"], broken
    finally:
        subprocess.run(["sh", "-c", kill])
