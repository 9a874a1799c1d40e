"""The gateway and its upstream, both killed at random under load; the demo's ledger on SQLite is the oracle."""

import collections
import json
import os
import random
import threading
import time

from support.http_client import Client, Closed
from support.upstream import wait_until

SECONDS = float(os.environ.get("STET_CAMPAIGN_SECONDS", "30")) / 3
FAULTS = ["", "", "", "", "delay=100ms", "lose-answer", "cut", "cut-answer", "fail-after=503", "refuse=503", "fail=500",
          "answer-delay=150ms", "fail-after=500"]


def check(key, tries, charges, last):
    """One key's history, [(began, ended, answer)], and its last answer against the demo's ledger."""
    assert len(charges) <= 1, (key, charges, tries)
    charged = [a for _, _, a in tries if a is not None and a.problem is None and a.status == 201]
    assert len({a.body for a in charged}) <= 1, (key, tries)
    for answer in charged:
        assert charges and json.loads(answer.body)["response_id"] == charges[0]["response_id"], (key, tries)
    for began, _, answer in tries:
        if answer is not None and answer.outcome == "not-executed":
            earlier = [e for _, e, a in tries if a is not None and a.outcome in ("completed", "replayed") and e < began]
            assert not earlier, (key, tries)
    assert last is not None and last.outcome in ("replayed", "unknown", "completed"), (key, last)
    if last.outcome == "unknown":
        assert last.problem == "outcome-unknown" and not charged, (key, tries)


def test_neither_crash_doubles_or_loses_a_charge(start_demo, start_gateway):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    demo = start_demo()
    listen = "127.0.0.1:%d" % demo.address[1]
    gateway = start_gateway('[defaults]\nlease = "1s"\nresponse_timeout = "500ms"\ncompletion_timeout = "2s"\n', upstream_url=demo.url)
    lock = threading.Lock()
    tries = {}  # key → [(began, ended, answer)]
    begun = time.monotonic()
    over = threading.Event()
    kills = {"gateway": 0, "demo": 0}

    def send(key, fault):
        began = time.monotonic()
        try:
            headers = {"Authorization": "Bearer a", **({"X-Demo-Fault": fault} if fault else {})}
            answer = Client(gateway.address).post(key=key, timeout=6, headers=headers)
        except (OSError, Closed):
            answer = None
        with lock:
            tries.setdefault(key, []).append((began, time.monotonic(), answer))
        return answer

    def client(number):
        dice = random.Random(f"{seed}-{number}")
        keys = [f"c{number}-0"]
        while not over.is_set():
            if dice.random() < 0.4:
                keys.append(f"c{number}-{len(keys)}")
            answer = send(dice.choice(keys[-12:]), dice.choice(FAULTS))
            time.sleep(dice.uniform(0, 0.02) if answer is not None else 0.05)

    def settled(key):
        """What it has come to: a first attempt may take longer than response_timeout, and goes on."""
        end = time.monotonic() + 30
        while (answer := send(key, "")) is None or answer.outcome in ("in-progress", "not-executed"):
            assert time.monotonic() < end, (key, answer)
            time.sleep(0.1)
        return answer

    threads = [threading.Thread(target=client, args=(n,), daemon=True) for n in range(6)]
    for thread in threads:
        thread.start()
    dice = random.Random(f"{seed}-killer")
    # A slow machine takes longer to show something.
    while time.monotonic() < begun + SECONDS or (min(kills.values()) < 2 and time.monotonic() < begun + SECONDS + 60):
        time.sleep(dice.uniform(0.1, 0.6))
        if dice.random() < 0.5:
            gateway.kill()
            kills["gateway"] += 1
            gateway.restart()
        else:
            demo.kill()
            kills["demo"] += 1
            time.sleep(dice.uniform(0, 0.1))
            demo = start_demo(listen=listen)
    over.set()
    for thread in threads:
        thread.join(20)
    assert min(kills.values()) >= 2, f"vacuous: {kills}"

    time.sleep(2.5)  # completion_timeout: what was running has ended
    final = {key: settled(key) for key in tries}
    ledger = collections.defaultdict(list)
    for charge in demo.charges():
        ledger[charge["idempotency_key"]].append(charge)
    for key, made in tries.items():
        check(key, made, ledger[key], final[key])
    outcomes = collections.Counter(last.outcome for last in final.values())
    print(kills, outcomes, f"{len(tries)} keys, {sum(map(len, tries.values()))} tries")
    assert outcomes["replayed"] and outcomes["unknown"], f"vacuous: {outcomes}"
    wait_until(lambda: gateway.operations("?state=pending") == [], why=lambda: gateway.operations("?state=pending"))
