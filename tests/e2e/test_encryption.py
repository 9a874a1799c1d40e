"""Stored answers under store_options.encryption_key: unreadable in the file, bound to their record, never guessed at."""

import base64
import sqlite3

import psycopg2
import pytest
from support.processes import run_stet
from support.upstream import answers

AUTH = {"Authorization": "Bearer alice"}
KEY = base64.b64encode(bytes(range(32))).decode()

CONFIG = ('store_options.encryption_key = "env:STORE_KEY"\nstore_options.ballast = "64KiB"\n'
          'store_options.free_space_floor = "1MiB"\n')

SECRET = b"4242-4242-4242-4242-very-secret-answer"


def everything_in(gateway):
    """All bytes that the store holds."""
    if not gateway.store.startswith("sqlite:"):
        with psycopg2.connect(gateway.store) as db, db.cursor() as sql:
            sql.execute("select concat(headers), raw_headers, body from stet.operations")
            return b"".join(headers.encode() + bytes(raw or b"") + bytes(body or b"") for headers, raw, body in sql)
    return b"".join(f.read_bytes() for f in gateway.directory.iterdir() if f.is_file() and f.suffix != ".toml")


@pytest.fixture
def encrypted(start_gateway, upstream):
    upstream.default = answers(201, {"X-Card": "secret-header-value"}, SECRET)

    def start(key=KEY):
        return start_gateway(CONFIG, environment={"STORE_KEY": key})

    return start


def test_a_plain_store_holds_the_answer_in_the_clear(start_gateway, upstream, key):
    """What the next test would miss if the answer were kept elsewhere."""
    upstream.default = answers(201, {}, SECRET)
    gateway = start_gateway()
    gateway.client(AUTH).post(key=key)
    gateway.stop()
    assert SECRET in everything_in(gateway)


def test_an_encrypted_store_does_not(encrypted, upstream, key):
    # apache/polaris PR3803: credentials in stored answers.
    gateway = encrypted()
    first = gateway.client(AUTH).post(key=key)
    assert first.body == SECRET
    assert gateway.client(AUTH).post(key=key).body == SECRET
    gateway.kill()
    stored = everything_in(gateway)
    assert SECRET not in stored and b"secret-header-value" not in stored
    gateway.restart()
    again = gateway.client(AUTH).post(key=key)
    assert (again.body, again.header("X-Card"), again.outcome) == (SECRET, "secret-header-value", "replayed")
    assert len(upstream.seen) == 1


def test_another_key_neither_replays_nor_runs_again(encrypted, upstream, key):
    gateway = encrypted()
    gateway.client(AUTH).post(key=key)
    gateway.stop()
    gateway.environment["STORE_KEY"] = base64.b64encode(bytes(32)).decode()
    gateway.launch()
    try:
        gateway.wait_until_ready()
    except AssertionError:
        assert gateway.process.child.returncode in (2, 3)  # refused at start is as good
        return
    answer = gateway.client(AUTH).post(key=key)
    assert answer.status == 500 and answer.problem == "store-corrupt"
    assert answer.json()["retryable"] is False and answer.json()["new_key_safe"] is False
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("bad", ["", "short", "x" * 31, base64.b64encode(b"sixteen bytes!!!").decode()])
def test_a_key_that_is_none_is_a_configuration_mistake(tmp_path, upstream, bad):
    file = tmp_path / "stet.toml"
    file.write_text(f'upstream = "{upstream.url}"\nstore_options.encryption_key = "env:STORE_KEY"\n')
    assert run_stet("check-config", str(file), env={"STORE_KEY": bad}).returncode == 2


def test_a_flipped_byte_is_noticed(encrypted, upstream, key):
    """A row that does not verify is neither replayed nor run again."""
    gateway = encrypted()
    gateway.client(AUTH).post(key=key)
    gateway.stop()
    changed = 0
    with sqlite3.connect(gateway.store_path) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for column in [c[1] for c in db.execute(f"PRAGMA table_info({table})")]:
                blobs = db.execute(f"SELECT DISTINCT {column} FROM {table} WHERE typeof({column}) = 'blob' "
                                   f"AND length({column}) > 40").fetchall()
                for (blob,) in blobs:
                    flipped = bytearray(blob)
                    flipped[len(flipped) // 2] ^= 1
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (bytes(flipped), blob))
                    changed += 1
    db.close()
    assert changed, "no sealed answer was found in the file"
    gateway.restart()
    answer = gateway.client(AUTH).post(key=key)
    assert answer.status == 500 and answer.problem == "store-corrupt", answer
    assert len(upstream.seen) == 1
    assert gateway.client(AUTH).post(key=key + "b").status == 201
