"""`stet probe` of the demo API alone, and of the gateway in front of it, the gateway killed twenty times."""

from support.processes import BINARY
from support.ports import free_port
from support.probing import probe

BODY = '{"amount":4900,"currency":"eur"}'
WITH_EVERYTHING = [
    "-d", BODY, "-H", "Authorization: Bearer a", "--other-auth", "Authorization: Bearer b", "--other", "POST /charges?x=1",
    "--bad-body", '{"amount":-1,"currency":"eur"}', "--count", "/data", "--settle", "80ms",
]


def test_the_demo_api_alone_fails_what_it_should(start_demo):
    demo = start_demo()
    verdict = probe("POST", f"{demo.url}/charges", *WITH_EVERYTHING, "--effects", "GET /charges", "--rounds", "3")
    assert verdict.failed == {
        "repeat", "fresh-connection", "at-once", "lost-answer", "impatient", "lost-request", "other-payload", "same-meaning",
        "key-forms",
    }, verdict
    assert verdict.named("warn") == {"no-key"} and verdict.named("skip") == {"kill"}, verdict
    assert verdict.report["verdict"].startswith("NOT safe to retry: 9 of 14 checks failed. The worst: ")


def through_gateway(demo, tmp_path, path, rounds):
    port = free_port()
    config = tmp_path / "stet.toml"
    config.write_text('[defaults]\nlease = "2s"\n\n[[route]]\nmatch = "POST /charges"\nkey = "required"\n')
    gateway = (f"exec {BINARY} serve --config {config} --upstream {demo.url} --listen 127.0.0.1:{port} "
               f"--admin 127.0.0.1:0 --store sqlite:{tmp_path / 'stet.db'}")
    return probe("POST", f"http://127.0.0.1:{port}{path}", *WITH_EVERYTHING, "--effects", f"GET {demo.url}/charges",
                 "--exec", gateway, "--rounds", str(rounds), "--patience", "15s", timeout=250)


def test_the_gateway_in_front_of_it_passes_everything_and_twenty_kills(start_demo, tmp_path):
    verdict = through_gateway(start_demo(), tmp_path, "/charges", 20)
    assert verdict.exit_code == 0, verdict
    assert verdict.named("pass") == set(verdict.checks), verdict


def test_the_gateway_passes_when_it_dies_while_the_upstream_works(start_demo, tmp_path):
    verdict = through_gateway(start_demo(), tmp_path, "/charges?answer-delay=40ms", 20)
    assert verdict.exit_code == 0 and not verdict.named("skip"), verdict
