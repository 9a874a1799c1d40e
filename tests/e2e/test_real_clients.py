"""Clients that nobody here wrote: curl, Node's fetch, Python's http.client. Each is used as its users would, and loses an answer."""

import http.client
import json
import shutil
import subprocess

import pytest
from support.fault_proxy import FaultProxy

CHARGE = '{"amount":4900,"currency":"eur"}'


@pytest.fixture
def shop(start_demo, start_gateway):
    """The demo behind the gateway."""
    demo = start_demo()
    gateway = start_gateway(upstream_url=demo.url)
    gateway.demo = demo
    gateway.url = "http://%s:%d" % gateway.address
    return gateway


def curl(*arguments):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    done = subprocess.run(["curl", "-sS", "-m", "10", *arguments], capture_output=True, text=True, timeout=20)
    return done


def post_with_curl(url, key, *more):
    return curl("-i", url + "/charges", "-H", "Authorization: Bearer alice", "-H", f"Idempotency-Key: {key}",
                "-H", "Content-Type: application/json", "-d", CHARGE, *more)


def test_curl_gets_the_same_answer_twice(shop, key):
    first, again = post_with_curl(shop.url, key), post_with_curl(shop.url, key)
    assert first.stdout.startswith("HTTP/1.1 201") and again.stdout.startswith("HTTP/1.1 201")
    assert "idempotent-replayed: true" in again.stdout.lower() and "idempotent-replayed" not in first.stdout.lower()
    assert first.stdout.split("\n\n")[1] == again.stdout.split("\n\n")[1]
    assert len(shop.demo.charges(key)) == 1


def test_curls_own_retry_after_a_lost_answer_is_one_charge(shop, key):
    proxy = FaultProxy(shop.address)
    try:
        proxy.cut_answer_after = 40
        lost = post_with_curl(proxy.url, key)
        assert lost.returncode != 0
        proxy.cut_answer_after = None
        again = post_with_curl(proxy.url, key, "--retry", "2", "--retry-all-errors")
        assert again.stdout.startswith("HTTP/1.1 201"), again
        assert len(shop.demo.charges(key)) == 1
    finally:
        proxy.close()


@pytest.mark.parametrize("more", [["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"], ["--http1.0"],
                                  ["-H", "Connection: close"], ["--http2-prior-knowledge"], ["--http2"]])
def test_curls_other_ways_of_sending(shop, key, more):
    done = post_with_curl(shop.url, key, *more)
    if "--http2-prior-knowledge" in more:
        assert "201" not in done.stdout  # not spoken here: refused, not misread
        assert shop.demo.charges(key) == []
        return
    assert " 201" in done.stdout, done
    assert post_with_curl(shop.url, key, *more).stdout.lower().count("idempotent-replayed: true") == 1
    assert len(shop.demo.charges(key)) == 1


def test_curl_uploads_and_downloads_large_bodies_unkeyed(start_gateway, upstream, tmp_path):
    gateway = start_gateway()
    upstream.default = lambda request, wire: wire.answer(200, {}, request.body)
    body = tmp_path / "body"
    body.write_bytes(bytes(range(256)) * 20_000)
    done = curl("http://%s:%d/echo" % gateway.address, "--data-binary", f"@{body}", "-o", str(tmp_path / "back"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "back").read_bytes() == body.read_bytes()


def test_pythons_http_client_keeps_its_connection(shop, key):
    connection = http.client.HTTPConnection(*shop.address, timeout=10)
    bodies = []
    for i in range(6):
        connection.request("POST", "/charges", CHARGE, {"Authorization": "Bearer alice", "Idempotency-Key": f"{key}-{i // 2}",
                                                        "Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 201 and answer.headers["Stet-Outcome"] == ("replayed" if i % 2 else "completed")
        bodies.append(json.loads(answer.read())["id"])
    assert bodies[0] == bodies[1] != bodies[2] == bodies[3]
    connection.close()


NODE = """
const [url, key] = process.argv.slice(1);
const send = (body) => fetch(url + '/charges', {
  method: 'POST', body: JSON.stringify(body),
  headers: {'content-type': 'application/json', authorization: 'Bearer alice', 'idempotency-key': key},
});
const out = [];
for (const body of [{amount: 4900, currency: 'eur'}, {currency: 'eur', amount: 4900}, {amount: 1, currency: 'eur'}]) {
  const answer = await send(body);
  out.push({status: answer.status, outcome: answer.headers.get('stet-outcome'),
            replayed: answer.headers.get('idempotent-replayed'), body: await answer.json()});
}
const doubled = await Promise.all([1, 2, 3].map(() => fetch(url + '/charges?delay=100ms', {
  method: 'POST', body: JSON.stringify({amount: 4900, currency: 'eur'}),
  headers: {'content-type': 'application/json', authorization: 'Bearer alice', 'idempotency-key': key + '-double'},
})));
out.push(doubled.map((a) => a.status).sort());
console.log(JSON.stringify(out));
"""


def test_nodes_fetch(shop, key):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    done = subprocess.run(["node", "--input-type=module", "-e", NODE, shop.url, key], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    first, again, other, doubled = json.loads(done.stdout)
    assert (first["status"], first["outcome"], first["replayed"]) == (201, "completed", None)
    assert (again["status"], again["outcome"], again["replayed"], again["body"]) == (201, "replayed", "true", first["body"])
    assert other["status"] == 422
    assert doubled[0] == 201 and set(doubled) <= {201, 409}
    assert len(shop.demo.charges(key)) == 1 and len(shop.demo.charges(key + "-double")) == 1
