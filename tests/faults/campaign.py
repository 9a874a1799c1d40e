#!/usr/bin/python3
"""The kill campaign: SIGKILL of the gateway at random moments under load, restart on the same file, retries of everything.

    tests/faults/campaign.py [SECONDS] [--policy fail|retry|ask|join] [--store sqlite|postgresql] [--seed N] [--clients N]

The upstream's own ledger is the oracle (oracle_upstream.py). What must hold, whatever is killed:
  1  nothing runs twice (`fail` and `ask`: one effect a key; `retry`: the upstream sees rising attempts)
  2  an acknowledged answer never changes and is never lost: whoever asks later gets it, byte for byte
  3  nothing is answered that the upstream never said
  4  Stet-Outcome is true: `not-executed` means that no effect is there
  5  nothing is stuck: when the killing has stopped, every key ends in its answer or, under `fail`, an honest unknown
A campaign with no replay, no unknown outcome or no kill in mid-operation has shown nothing, and fails.
"""

import argparse
import base64
import collections
import itertools
import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from faults.oracle_upstream import OracleUpstream  # noqa: E402
from support.http_client import Client, Closed, wire  # noqa: E402
from support.processes import Gateway  # noqa: E402

SCOPES = ("Bearer alice", "Bearer bob")
LEASE = 2.0
FINAL = ("completed", "replayed")


def config(policy, upstream, on_sqlite=True):
    rule = {"fail": 'on_unknown = "fail"\n', "retry": 'on_unknown = "retry"\nupstream_idempotent = true\n',
            "ask": f'on_unknown = "ask"\nreconcile.url = "{upstream.url}/reconcile"\n', "join": "upstream_joins = true\n"}[policy]
    return ('sweep_every = "1h"\ndrain = "1s"\n'
            + ('store_options.ballast = "64KiB"\nstore_options.free_space_floor = "1MiB"\n' if on_sqlite else "") +
            f'[defaults]\n{rule}lease = "{LEASE:.0f}s"\nresponse_timeout = "600ms"\n'
            'completion_timeout = "3s"\n[[route]]\nmatch = "POST /waiting"\nin_progress = "wait"\nwait = "2s"\n'
            '[[route]]\nmatch = "POST /accepting"\nin_progress = "accept"\n')


class Try:
    """One request of one client, and what came of it."""

    def __init__(self, began, ended, answer, same_body):
        self.began = began
        self.ended = ended
        self.same_body = same_body
        self.answered = answer is not None
        if answer is not None:
            self.status = answer.status
            self.body = answer.body
            self.outcome = answer.outcome
            self.problem = answer.problem
            self.retryable = self.problem is not None and answer.json()["retryable"]
        else:
            self.status = self.body = self.outcome = self.problem = self.retryable = None

    @property
    def is_final(self):
        """An upstream's recorded answer, acknowledged."""
        return self.answered and self.problem is None and self.outcome in FINAL and self.status != 202

    def __repr__(self):
        return f"[{self.began:.3f}-{self.ended:.3f} {self.status} {self.outcome} {self.problem or (self.body or b'')[:60]}]"


class Operation:
    def __init__(self, scope, key, path):
        self.scope = scope
        self.key = key
        self.path = path
        self.body = json.dumps({"amount": 1, "for": key, "by": scope}).encode()
        self.tries = []

    @property
    def identity(self):
        return self.scope, self.key


class Campaign:
    needed = ("replayed", "unknown", "kills in mid-operation", "not-executed", "in-progress")  # see not_shown

    def __init__(self, seconds, policy="fail", seed=None, clients=8):
        self.seconds = seconds
        self.policy = policy
        self.seed = seed if seed is not None else random.randrange(1 << 32)
        self.clients = clients
        self.lock = threading.Lock()
        self.operations = []
        self.keys = itertools.count(1)
        self.stopping = False
        self.counts = collections.Counter()
        self.mistakes = []
        self.gateways = []
        self.upstream = None

    # ---- what another store has otherwise (postgres_campaign.py) ----

    def set_up(self, directory):
        """The upstream and the gateways, not yet started."""
        self.upstream = OracleUpstream(self.policy, self.seed)
        # Half of the campaigns seal their store.
        sealed = 'store_options.encryption_key = "env:STORE_KEY"\n' if self.seed % 2 else ""
        self.gateways = [Gateway(directory, self.upstream.url, sealed + config(self.policy, self.upstream),
                                 environment={"STORE_KEY": base64.b64encode(bytes(range(32))).decode()})]

    def tear_down(self):
        for gateway in self.gateways:
            gateway.end()
        if self.upstream:
            self.upstream.server.stop()

    def any_gateway(self):
        return random.choice(self.gateways)

    def more_headers(self):
        return {}

    def strike(self, dice):
        """What is not a gateway's own trouble, now and then: whether it did something."""
        return False

    # ---- load ----

    def hang_up(self, operation, body, patience):
        """Sends the request, or all but its last byte, and resets the connection after a moment."""
        data = wire("POST", operation.path, {"Authorization": operation.scope, "Idempotency-Key": operation.key,
                                             "Content-Type": "application/json", **self.more_headers()}, body)
        with Client(self.any_gateway().address).connect(5) as connection:
            connection.send(data if patience > 0.002 else data[:-1])
            time.sleep(patience)
            connection.reset()
        return None

    def send(self, operation, body=None, patience=None):
        began = time.monotonic()
        try:
            if patience is not None:
                answer = self.hang_up(operation, body or operation.body, patience)
            else:
                answer = Client(self.any_gateway().address).send(
                    "POST", operation.path, key=operation.key, body=body or operation.body, timeout=8,
                    headers={"Authorization": operation.scope, "Content-Type": "application/json", **self.more_headers()})
        except ConnectionRefusedError:
            answer = None
            time.sleep(0.02)  # it is being restarted
        except (OSError, Closed):
            answer = None
        made = Try(began, time.monotonic(), answer, body is None)
        with self.lock:
            operation.tries.append(made)
            self.counts["tries"] += 1
            if not made.answered:
                self.counts["cut off"] += 1
            elif made.outcome:
                self.counts[made.outcome] += 1
        return made

    def new_operation(self, dice):
        key = f"k{next(self.keys)}"
        path = dice.choice(["/charges", "/charges", "/waiting", "/accepting"])
        # The same key in the other scope now and then: never one operation.
        scopes = SCOPES if dice.random() < 0.1 else (dice.choice(SCOPES),)
        made = [Operation(scope, key, path) for scope in scopes]
        with self.lock:
            self.operations.extend(made)
        return made

    def client(self, number):
        dice = random.Random(f"{self.seed}-{number}")
        recent = collections.deque(maxlen=30)
        while not self.stopping:
            roll = dice.random()
            if roll < 0.45 or not recent:
                for operation in self.new_operation(dice):
                    recent.append(operation)
                    self.send(operation)
            elif roll < 0.55:
                operation = dice.choice(recent)
                with self.lock:
                    settled = any(t.is_final for t in operation.tries)
                if settled:
                    self.send(operation, b'{"another": "body"}')
            elif roll < 0.62:
                self.send(dice.choice(recent), patience=dice.uniform(0, 0.03))
            elif roll < 0.78:
                with self.lock:
                    operation = dice.choice(self.operations)
                self.send(operation)
            else:
                self.send(dice.choice(recent))
            time.sleep(dice.uniform(0, 0.01))

    def killer(self):
        dice = random.Random(f"{self.seed}-killer")
        end = time.monotonic() + self.seconds
        # A slow machine gets fewer kills into its seconds, and chance may have left something out: then some seconds more.
        while time.monotonic() < end or (self.not_shown() and time.monotonic() < end + 3 * self.seconds + 60):
            time.sleep(dice.uniform(0.1, 1.2))
            ended = [gateway for gateway in self.gateways if not gateway.process.is_running()]
            if ended:
                self.mistakes.append(f"the gateway ended by itself:\n{ended[0].output()[-3000:]}")
                break
            if self.strike(dice):
                continue
            gateway = dice.choice(self.gateways)
            roll = dice.random()
            if roll < 0.12:
                self.stand_still(gateway, dice)
                continue
            if roll < 0.17:
                self.counts["reloads"] += 1
                gateway.process.signal(signal.SIGHUP)
                continue
            if roll < 0.25:
                self.drain(gateway)
            else:
                mid = self.upstream.in_flight
                gateway.kill()
                self.counts["kills"] += 1
                self.counts["kills in mid-operation"] += mid > 0
            if dice.random() < 0.2:
                time.sleep(dice.uniform(0, 0.3))
            gateway.restart()
        self.stopping = True

    def stand_still(self, gateway, dice):
        """A virtual machine that is paused, now and then for longer than the lease."""
        self.counts["pauses"] += 1
        gateway.process.signal(signal.SIGSTOP)
        time.sleep(dice.choice([0.05, 0.3, LEASE * 1.3]))
        gateway.process.signal(signal.SIGCONT)

    def drain(self, gateway):
        self.counts["drains"] += 1
        status = gateway.stop()
        if status != 0:
            self.mistakes.append(f"a drain ended with {status}:\n{gateway.output()[-2000:]}")

    # ---- the end ----

    def settle(self):
        """Retries every key until it has ended, for as long as the leases allow."""
        self.upstream.calm = True
        deadline = time.monotonic() + LEASE + 3 + 60  # the lease, completion_timeout, and a machine with much to do
        open_ = list(self.operations)
        while open_ and time.monotonic() < deadline:
            still = []
            chunks = [open_[i::6] for i in range(6)]

            def work(chunk):
                for operation in chunk:
                    if not self.has_ended(self.send(operation)):
                        with self.lock:
                            still.append(operation)

            threads = [threading.Thread(target=work, args=(chunk,)) for chunk in chunks if chunk]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            open_ = still
            if open_:
                time.sleep(0.2)
        for operation in open_:
            self.mistakes.append(f"stuck: {operation.identity} {operation.tries[-3:]}")
        end = time.monotonic() + 10  # a caller may be told what is known while it is still being stored
        while (pending := self.pending()) and time.monotonic() < end:
            time.sleep(0.1)
        if pending:
            self.mistakes.append(f"still pending in the store: {pending[:3]}")

    def pending(self):
        answer = self.gateways[0].admin("GET", "/api/operations?state=pending&limit=100")
        return answer.json()["operations"] if answer.status == 200 else [answer]

    def has_ended(self, made):
        if made.is_final:
            return True
        return self.policy == "fail" and made.outcome == "unknown" and made.problem == "outcome-unknown"

    # ---- the oracle ----

    def not_shown(self):
        """What a campaign without it has shown nothing."""
        few = self.counts["kills"] < max(2, self.seconds / 6)
        return [f"no {what}" for what in self.needed if not self.counts[what]] + [f"{self.counts['kills']} kills"] * few

    def check(self):
        for operation in self.operations:
            try:
                self.check_one(operation)
            except AssertionError as error:
                effects = [(e.attempt, e.answer, round(e.at, 3)) for e in self.upstream.effects.get(operation.identity, [])]
                arrivals = self.upstream.arrivals.get(operation.identity)
                tries = "\n    ".join(map(repr, sorted(operation.tries, key=lambda t: t.began)))
                self.mistakes.append(f"{error}\n  {operation.identity} {operation.path} effects {effects} "
                                     f"arrivals {arrivals}\n    {tries}")
        self.mistakes += [f"vacuous: {what} in {self.seconds} s" for what in self.not_shown()]

    def check_one(self, operation):
        effects = self.upstream.effects.get(operation.identity, [])
        said = self.upstream.said.get(operation.identity, set())
        arrivals = self.upstream.arrivals.get(operation.identity, [])
        tries = sorted(operation.tries, key=lambda t: t.began)
        finals = [t for t in tries if t.is_final]

        assert len(effects) <= 1, f"{len(effects)} effects under one key"
        if self.policy == "retry":
            self.counts["attempts beyond the first"] += sum(a > 1 for a in arrivals)

        assert len({(t.status, t.body) for t in finals}) <= 1, "an acknowledged answer changed"
        for made in tries:
            if made.answered and made.problem is None and made.status != 202:
                assert (made.status, made.body) in said, f"the upstream never said {made}"
        if finals:
            assert effects and finals[0].body == effects[0].answer[1], "an answer without its effect"
            acknowledged = min(t.ended for t in finals)
            for later in (t for t in tries if t.began > acknowledged and t.answered):
                if later.problem in ("store-unavailable", "overloaded"):
                    continue
                if later.same_body:
                    assert later.outcome == "replayed", f"lost after it was acknowledged: {later}"
                else:
                    assert later.status == 422 and later.problem == "key-reused", f"another body got {later}"

        for made in tries:
            if made.outcome == "not-executed":
                before = [e for e in effects if e.at < made.began]
                assert not before, f"said not-executed after the effect: {made}"
                assert not effects or made.body != effects[0].answer[1], f"said not-executed of an effect: {made}"
            if made.outcome == "completed" and made.same_body:
                assert effects, f"said completed without an effect: {made}"
            if made.problem == "outcome-unknown" and self.policy == "join":
                # The store was away for longer than its gateway asks it, or the reply to the fence was lost. The key's own
                # outcome is never unknown: a retry finds it (5).
                assert made.retryable, f"unknown for good on a joining route: {made}"
            if made.outcome == "unknown" and self.policy == "fail" and finals:
                assert made.began <= max(t.ended for t in finals), f"unknown after its answer: {made}"

    # ---- all of it ----

    def run(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="stet-campaign-"))
        print(f"campaign: {self.seconds} s, on_unknown = {self.policy}, seed {self.seed}", flush=True)
        try:
            self.set_up(directory)
            for gateway in self.gateways:
                gateway.start()
            threads = [threading.Thread(target=self.client, args=(n,), daemon=True) for n in range(self.clients)]
            for thread in threads:
                thread.start()
            self.killer()
            for thread in threads:
                thread.join(20)
            if not self.mistakes:
                self.settle()
                self.check()
            if self.upstream.server.errors:
                self.mistakes.append(f"what reached the upstream was wrong: {self.upstream.server.errors[:3]}")
        finally:
            self.tear_down()
            if not self.mistakes:
                shutil.rmtree(directory, ignore_errors=True)
        print(f"  {len(self.operations)} operations, {sum(map(len, self.upstream.effects.values()))} effects, "
              + ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items())), flush=True)
        if self.mistakes:
            print(f"  {len(self.mistakes)} mistakes (store kept in {directory}):", flush=True)
            for mistake in self.mistakes[:10]:
                print(f"  - {mistake}", flush=True)
        return self.mistakes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seconds", nargs="?", type=float, default=30)
    parser.add_argument("--policy", choices=["fail", "retry", "ask", "join"], default="fail")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    if options.store == "postgresql":
        from faults.postgres_campaign import PostgresCampaign as Kind
    else:
        Kind = Campaign
    sys.exit(1 if Kind(options.seconds, options.policy, options.seed, options.clients).run() else 0)


if __name__ == "__main__":
    main()
