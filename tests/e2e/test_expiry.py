"""The end of a record: retention, tombstone, and past it (docs/http.md)."""

import time

from support.expectations import expect_problem
from support.upstream import wait_until

AUTH = {"Authorization": "Bearer alice"}

SHORT = 'sweep_every = "200ms"\n[defaults]\nretention = "300ms"\n'


def swept(gateway, client, key):
    """Waits until the record is no longer completed, looking only through the operators' door."""
    wait_until(lambda: all(o["state"] != "completed" for o in gateway.operations()))


def test_a_swept_key_within_its_tombstone_is_409_key_expired(start_gateway, upstream, key):
    # square/connect-api-examples#135: the same key doubled stock after expiry.
    gateway = start_gateway(SHORT)
    client = gateway.client(AUTH)
    assert client.post(key=key).status == 201
    swept(gateway, client, key)
    answer = client.post(key=key)
    expect_problem(answer, "key-expired", 409, retryable=False, new_key_safe=False)
    assert answer.outcome == "unknown"
    assert len(upstream.seen) == 1


def test_without_a_tombstone_a_swept_key_is_a_new_operation(start_gateway, upstream, key):
    gateway = start_gateway(SHORT + 'tombstone = "0s"\n')
    client = gateway.client(AUTH)
    assert client.post(key=key).status == 201
    wait_until(lambda: gateway.operations() == [])
    answer = client.post(key=key)
    assert answer.status == 201 and answer.outcome == "completed"
    assert len(upstream.effects) == 2


def test_past_its_tombstone_a_key_is_a_new_operation(start_gateway, upstream, key):
    gateway = start_gateway(SHORT + 'tombstone = "2s"\n')  # long enough to be seen by whoever looks seldom
    client = gateway.client(AUTH)
    assert client.post(key=key).status == 201
    wait_until(lambda: client.post(key=key).problem == "key-expired")
    wait_until(lambda: client.post(key=key).outcome == "completed")
    assert len(upstream.effects) == 2


def test_a_record_that_exists_is_replayed_whatever_the_clock_says(start_gateway, upstream, key):
    gateway = start_gateway('sweep_every = "1h"\n[defaults]\nretention = "100ms"\n')
    client = gateway.client(AUTH)
    assert client.post(key=key).status == 201
    time.sleep(0.4)
    assert client.post(key=key).outcome == "replayed"
    assert len(upstream.seen) == 1
