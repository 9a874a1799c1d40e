"""The first steps of the course (examples/README.md), run as their reader runs them."""

import os
import re
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.ports import free_port

EXAMPLES = Path(os.environ.get("STET_EXAMPLES_DIR", Path(os.environ["STET_BINARY"]).parents[2] / "examples"))


def example(step):
    return EXAMPLES / step / f"example_{step}"


def rows(path, sql):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def run(step, *arguments):
    return subprocess.run([example(step), *map(str, arguments)], capture_output=True, text=True, timeout=30)


@pytest.fixture(params=["02_cpp_httplib", "03_beast"])
def service(request, tmp_path):
    database = tmp_path / "orders.db"
    process = subprocess.Popen([example(request.param), database], stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip(), database
    process.kill()
    process.wait()


def post(url, body, **headers):
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url + "/orders", data=body, headers=lines, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read(), answer.headers


def test_ten_lines_run_once_for_a_key(tmp_path):
    database = tmp_path / "orders.db"
    assert run("01_ten_lines", database, "order-1", 4900).stdout == "done: order 1\n"
    for _ in range(2):
        assert run("01_ten_lines", database, "order-1", 4900).stdout == "done before: order 1\n"
        assert run("01_ten_lines", database, "order-1", 9900).stdout == "refused: key-reused\n"
    assert run("01_ten_lines", database, "order-2", 4900).stdout == "done: order 2\n"
    assert rows(database, "SELECT id, amount FROM orders") == [(1, 4900), (2, 4900)]


def test_a_post_is_safe_to_retry(service):
    url, database = service
    first = post(url, b"a book", Idempotency_Key="k", X_Account="alice")
    assert (first[0], first[1], first[2]["Stet-Outcome"]) == (201, b"order 1\n", "completed")
    for key in ("k", '"k"'):
        again = post(url, b"a book", Idempotency_Key=key, X_Account="alice")
        assert (again[0], again[1], again[2]["Idempotent-Replayed"]) == (201, b"order 1\n", "true")
    assert post(url, b"a pen", Idempotency_Key="k", X_Account="alice")[0] == 422
    assert post(url, b"a book", Idempotency_Key="k", X_Account="bob")[1] == b"order 2\n"
    assert post(url, b"a book", X_Account="alice")[0] == 400
    assert post(url, b"a book", Idempotency_Key="k")[0] == 400
    assert rows(database, "SELECT count(*) FROM orders") == [(2,)]


def test_the_probe_finds_nothing_wrong_kill_included(tmp_path):
    database = tmp_path / "orders.db"
    port = free_port()
    command = f"{example('02_cpp_httplib')} {database} {port}"
    probe = subprocess.run(
        [os.environ["STET_BINARY"], "probe", "POST", f"http://127.0.0.1:{port}/orders", "-H", "X-Account: alice",
         "-d", "a book {{n}}", "--effects-cmd", f"sqlite3 {database} 'SELECT count(*) FROM orders'", "--exec", command, "--rounds", "4"],
        capture_output=True, text=True, timeout=240)
    assert probe.returncode == 0, probe.stdout + probe.stderr
    for check in ("repeat", "at-once", "lost-answer", "kill"):
        assert re.search(rf"^  pass  {check} ", probe.stdout, re.MULTILINE), probe.stdout


@pytest.mark.parametrize("fate", ["die-after-reserving", "die-after-charging"])
def test_a_payment_killed_on_its_way_charges_once(tmp_path, fate):
    database = tmp_path / "payments.db"
    assert run("04_phases", database, "p-1", 4900, fate).returncode == 9
    # Until the dead attempt's lease is over, its successor is told to wait.
    deadline = time.monotonic() + 15
    while (done := run("04_phases", database, "p-1", 4900)).returncode != 0 and time.monotonic() < deadline:
        assert done.stdout == "refused: in-progress\n"
        time.sleep(0.1)
    assert done.stdout == "done: charged 4900\n"
    assert run("04_phases", database, "p-1", 4900).stdout == "done before: charged 4900\n"
    assert rows(f"{database}.provider", "SELECT amount FROM charges") == [(4900,)]
    assert rows(database, "SELECT amount, state FROM payments") == [(4900, "charged")]
    assert rows(database, "SELECT topic FROM stet_outbox") == [("payment.charged",)]


def test_the_readers_of_the_course_find_every_step():
    text = (Path(__file__).resolve().parents[2] / "examples" / "README.md").read_text()
    folder = Path(__file__).resolve().parents[2] / "examples"
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (folder / link).exists(), link
