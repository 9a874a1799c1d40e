"""The kill campaign on PostgreSQL: two gateways share the store, and the server, its backends and its connections are killed,
too. Under the policy `join` the upstream is a process that joins its transaction, is killed as well, and its table is the
ledger: a key has one effect when it is completed, and none otherwise."""

import collections
import itertools
import os
import random
import signal

from faults import joining_upstream
from faults.campaign import Campaign, config
from faults.oracle_upstream import Effect, OracleUpstream
from support import stores
from support.postgres import Cluster
from support.processes import Gateway
from support.upstream import wait_until

WISHES = [(45, ""), (10, "before=0.1"), (10, "hold=0.1"), (5, "before=0.8"), (5, "hold=0.8"), (6, "after=0.2"), (3, "after=1"),
          (6, "lose"), (5, "fail"), (5, "refuse")]


class JoiningOracle:
    """The joining upstream, with the face of OracleUpstream."""

    def __init__(self, on, database, flying):
        self.on = on
        self.database = database
        self.flying = flying
        self.process = joining_upstream.Upstream(on.url(database)).start()
        self.url = self.process.url
        self.server = self
        self.errors = []
        self.calm = False
        self.effects = collections.defaultdict(list)
        self.said = {}
        self.arrivals = {}

    @property
    def in_flight(self):
        return self.flying()

    def load(self, identities):
        """Reads the ledger. An effect's time is its insert's: whoever begins later and hears `not-executed` hears of a fence
        that its commit cannot have passed."""
        for scope, key, attempt, at, body in self.on.query("select scope, key, attempt, at, body from effects order by id", None,
                                                           self.database):
            effect = Effect(attempt, (201, body.encode()))
            effect.at = at
            self.effects[scope, key].append(effect)
        for identity in identities:
            self.said[identity] = {effect.answer for effect in self.effects[identity]}
            self.said[identity] |= {(429, joining_upstream.REFUSAL), (500, joining_upstream.FAILURE)}

    def stop(self):
        self.process.end()


class PostgresCampaign(Campaign):
    def __init__(self, *arguments, settings=None, **more):
        super().__init__(*arguments, **more)
        self.settings = settings
        self.cluster = None
        self.flying = 0
        strikes = [self.kill_backend, self.end_connections, self.kill_postmaster, self.end_connections]
        if self.policy == "join":
            strikes[1:1] = strikes[4:4] = [self.kill_upstream]
        self.strikes = itertools.cycle(strikes)
        if self.policy == "join":
            self.needed = ("replayed", "kills in mid-operation", "not-executed", "in-progress", "kills of the upstream")

    def set_up(self, directory):
        self.cluster = Cluster(self.settings)
        self.cluster.__enter__()
        on, database = stores.new_database(self.cluster)
        if self.policy == "join":
            assert on.psql(joining_upstream.TABLES, database).returncode == 0
            self.upstream = JoiningOracle(on, database, lambda: self.flying)
        else:
            self.upstream = OracleUpstream(self.policy, self.seed)
        for name in ("one", "two"):
            (directory / name).mkdir()
            self.gateways.append(Gateway(directory / name, self.upstream.url, config(self.policy, self.upstream, on_sqlite=False),
                                         store=on.url(database)))

    def tear_down(self):
        super().tear_down()
        if self.cluster:
            self.cluster.end()

    def more_headers(self):
        if self.policy != "join" or self.upstream.calm:
            return {}
        return {"X-Do": random.choices([w for _, w in WISHES], [n for n, _ in WISHES])[0]}

    def send(self, *arguments, **more):
        with self.lock:
            self.flying += 1
        try:
            return super().send(*arguments, **more)
        finally:
            with self.lock:
                self.flying -= 1

    def strike(self, dice):
        wait_until(self.cluster.is_ready, 60)  # it may be recovering from the strike before
        if dice.random() > 0.45:
            return False
        next(self.strikes)(dice)
        return True

    def kill_postmaster(self, dice):
        self.counts["kills of the postmaster"] += 1
        self.cluster.kill()
        self.cluster.start()

    def kill_backend(self, dice):
        backends = self.cluster.backends()
        if backends:
            self.counts["kills of a backend"] += 1
            os.kill(dice.choice(backends), signal.SIGKILL)  # the server ends all others, and recovers

    def end_connections(self, dice):
        self.counts["ended connections"] += self.cluster.terminate_backends()

    def kill_upstream(self, dice):
        self.counts["kills of the upstream"] += 1
        self.upstream.process.kill()
        self.upstream.process.restart()

    def not_shown(self):
        killed = self.counts["kills of the postmaster"] or self.counts["kills of a backend"]
        return super().not_shown() + ([] if killed else ["the server was never killed"])

    def check(self):
        if self.policy == "join":
            self.upstream.load([operation.identity for operation in self.operations])
        super().check()
        if self.policy == "join":
            known = {operation.identity for operation in self.operations}
            completed = {operation.identity for operation in self.operations if any(t.is_final for t in operation.tries)}
            for identity, effects in self.upstream.effects.items():
                if effects and identity in known and identity not in completed:
                    self.mistakes.append(f"an effect of a key that is not completed: {identity}")
