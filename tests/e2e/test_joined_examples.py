"""The services of examples/joined, in three languages, behind the gateway and alone: every write sent twice and at once, one
of the parts killed in between. What PostgreSQL holds afterwards is the oracle."""

import collections
import json
import random
import threading
import time

import pytest
from support import joined, stores
from support.concurrently import all_at_once
from support.http_client import Client, Closed
from support.processes import Gateway

ALICE = {"Authorization": "Bearer alice"}
everywhere = pytest.mark.parametrize("mode", joined.MODES)
in_every_language = pytest.mark.parametrize("language", joined.LANGUAGES)
CONFIG = '[defaults]\nlease = "1s"\n' + joined.ROUTE


@pytest.fixture
def shop(tmp_path):
    """shop(language, mode) → something with `.client()`, `.charges(note)` and the parts that can be killed."""
    on, database = stores.new_database()
    shops = []

    def open_one(language, mode):
        shops.append(Shop(tmp_path, language, mode, on, database))
        return shops[-1]

    yield open_one
    for one in shops:
        one.end()
    on.drop_database(database)


class Shop:
    def __init__(self, directory, language, mode, on, database):
        self.on = on
        self.database = database
        self.url = joined.prepare(on, database)
        self.service = joined.Service(language, mode, self.url).start()
        self.gateway = None
        if mode == "behind_gateway":
            self.gateway = Gateway(directory, self.service.url, CONFIG, store=self.url).start()

    def client(self):
        return Client(lambda: self.gateway.address if self.gateway else self.service.address, ALICE)

    def charges(self, note):
        """Their ids."""
        return [number for (number,) in self.on.query("select id from charges where note = %s", (note,), self.database)]

    def end(self):
        if self.gateway:
            self.gateway.end()
        self.service.end()
        print("--- the service's last words ---", *list(self.service.process.lines)[-10:], sep="\n")


def body(key, amount=4900):
    return {"amount": amount, "note": key}


@everywhere
@in_every_language
def test_a_charge_sent_twice_is_one(shop, language, mode, key):
    shop = shop(language, mode)
    first, again = (shop.client().post(key=key, json_body=body(key)) for _ in range(2))
    assert (first.status, again.status) == (201, 201), (first, again)
    assert first.body == again.body and again.replayed and not first.replayed
    assert shop.charges(key) == [first.json()["id"]]
    # Another body under its key, and a body that is refused.
    assert shop.client().post(key=key, json_body=body(key, 1)).status == 422
    refused = [shop.client().post(key=key + "-bad", json_body=body(key + "-bad", -1)) for _ in range(2)]
    assert [r.status for r in refused] == [422, 422]
    assert len(shop.charges(key)) == 1 and shop.charges(key + "-bad") == []


@everywhere
@in_every_language
def test_charges_at_once_are_one(shop, language, mode, key):
    shop = shop(language, mode)
    answers = all_at_once(12, lambda _: shop.client().post(key=key, json_body=body(key)))
    assert {a.status for a in answers} <= {201, 409}, answers
    assert len({a.body for a in answers if a.status == 201}) == 1
    assert len(shop.charges(key)) == 1


@everywhere
@in_every_language
def test_whatever_is_killed_each_key_ends_in_one_charge(shop, language, mode):
    shop = shop(language, mode)
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    said = collections.defaultdict(list)
    begun = time.monotonic()
    enough = threading.Event()

    def send(key):
        try:
            answer = shop.client().post(key=key, json_body=body(key), timeout=8)
        except (OSError, Closed):
            return None
        said[key].append(answer)
        return answer

    def load(number):
        dice = random.Random(f"{seed}-{number}")
        made = 0
        while not enough.is_set():
            made += dice.random() < 0.5 or not made
            if send(f"{number}-{dice.randint(max(1, made - 4), made)}") is None:
                time.sleep(0.03)

    threads = [threading.Thread(target=load, args=(n,), daemon=True) for n in range(5)]
    for thread in threads:
        thread.start()
    dice = random.Random(f"{seed}-killer")
    parts = [shop.service] + ([shop.gateway] if shop.gateway else [])
    kills = collections.Counter()
    while not enough.is_set():
        time.sleep(dice.uniform(0.05, 0.35))
        if dice.random() < 0.3:
            kills["backends"] += shop.on.terminate_backends(shop.database) > 0
        else:
            part = dice.choice(parts)
            part.kill()
            part.restart()
            kills[type(part).__name__] += 1
        shown = len(said) > 20 and min(kills[type(part).__name__] for part in parts) >= 1
        took = time.monotonic() - begun
        if (shown and took > 4) or took > 60:
            enough.set()
    for thread in threads:
        thread.join(20)

    pending = {key for key in said if not any(a.status == 201 for a in said[key])}
    end = time.monotonic() + 30  # a lease, and a slow machine
    while pending and time.monotonic() < end:
        pending = {key for key in pending if (answer := send(key)) is None or answer.status != 201}
        time.sleep(0.05)
    assert not pending, {key: said[key][-2:] for key in list(pending)[:3]}
    for key, answers in said.items():
        final = [a for a in answers if a.status == 201]
        assert len({a.body for a in final}) == 1, (seed, key, answers)
        assert shop.charges(key) == [final[0].json()["id"]], (seed, key, shop.charges(key), answers)
        assert not [a for a in answers if a.problem == "outcome-unknown"], (seed, key, answers)
    assert shown, f"vacuous: {len(said)} keys, {kills}"


def test_the_examples_lock_file_names_what_package_json_does():
    package = json.loads((joined.EXAMPLES / "node" / "package.json").read_text())
    lock = json.loads((joined.EXAMPLES / "node" / "package-lock.json").read_text())
    assert lock["packages"][""]["dependencies"] == package["dependencies"]
