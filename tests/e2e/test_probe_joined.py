"""`stet probe` passes on the services of examples/joined, with kills: of the service, and of the gateway with it."""

import subprocess

import pytest
from support import joined, stores
from support.ports import free_port
from support.probing import probe
from support.processes import BINARY, Gateway

in_every_language = pytest.mark.parametrize("language", joined.LANGUAGES)
CONFIG = '[defaults]\nlease = "1s"\n' + joined.ROUTE
PROBE = ("-d", '{"amount":4900,"note":"{{uuid}}"}', "-H", "Authorization: Bearer a", "--other-auth", "Authorization: Bearer b",
         "--other", "POST /refunds", "--bad-body", '{"amount":-1}', "--patience", "15s", "--settle", "80ms")


def passes(*arguments):
    verdict = probe("POST", *arguments, *PROBE)
    assert verdict.exit_code == 0, str(verdict)
    assert not verdict.named("skip") and "kill" in verdict.named("pass"), str(verdict)


@pytest.fixture
def database():
    on, name = stores.new_database()
    yield joined.prepare(on, name)
    on.drop_database(name)


@in_every_language
def test_the_probe_passes_a_service_alone_that_is_killed(language, database):
    service = joined.Service(language, "alone", database)
    passes(f"{service.url}/charges", "--exec", f"exec env {service.in_shell()}", "--rounds", "6",
           "--effects", "GET /charges", "--count", "/data")


@in_every_language
def test_the_probe_passes_when_the_gateway_and_the_service_are_killed_together(language, database, tmp_path):
    service = joined.Service(language, "behind_gateway", database)
    gateway = Gateway(tmp_path, service.url, CONFIG, store=database)
    gateway.listen = f"127.0.0.1:{free_port()}"
    gateway.write_config()
    both = (f"env {service.in_shell()} & for i in $(seq 200); do curl -sf -o /dev/null {service.url}/charges && break; sleep 0.05; done; "
            f"exec {BINARY} serve --config {gateway.file}")
    passes(f"http://{gateway.listen}/charges", "--exec", both, "--rounds", "6", "--effects", f"GET {service.url}/charges",
           "--count", "/data")


def test_the_probe_passes_a_service_behind_the_gateway_that_is_killed(database, tmp_path):
    service = joined.Service("python", "behind_gateway", database)
    kill, start = service.hooks(tmp_path)
    subprocess.run(start, shell=True, check=True, timeout=60)
    gateway = Gateway(tmp_path, service.url, CONFIG, store=database)
    try:
        gateway.start()
        # The probe waits five seconds a round for the gateway's port to close, which it does not.
        passes("http://%s:%d/charges" % gateway.address, "--kill", kill, "--start", start, "--rounds", "2",
               "--effects-cmd", f"psql '{database}' -XAtc 'select count(*) from charges'")
    finally:
        gateway.end()
        subprocess.run(kill, shell=True, check=False)
