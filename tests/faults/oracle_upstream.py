"""The upstream of the kill campaign: misbehaves by seed, is never killed, and keeps the ledger that is the oracle.

How it treats a key it has met depends on what the gateway's policy asks of an upstream:
  fail   it executes whatever comes, every time: only the gateway stands between a retry and a second effect
  retry  it deduplicates on the key and gives the first answer again
  ask    it answers at /reconcile, and keeps its promise: an attempt it has called never executed, never will be
"""

import json
import random
import threading
import time

from support.upstream import Upstream


class Effect:
    def __init__(self, attempt, answer):
        self.attempt = attempt
        self.answer = answer  # (status, body): what this effect made of the request
        self.at = time.monotonic()


class OracleUpstream:
    # (weight, what): effect and answer, unless the name says otherwise.
    BEHAVIOURS = [(46, "plain"), (12, "slow"), (6, "very slow"), (6, "lose answer"), (5, "drop"), (5, "half an answer"),
                  (6, "refuse 429"), (4, "bad gateway"), (4, "lost 503"), (4, "error 500"), (2, "refuse with promise")]

    def __init__(self, policy, seed):
        self.policy = policy
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.effects = {}    # (scope, key) → [Effect]
        self.said = {}       # (scope, key) → set of (status, body): every whole answer that was written
        self.executed = {}   # operation → (identity, Effect): what /reconcile looks up
        self.fences = {}     # operation → highest attempt that was promised never to run
        self.arrivals = {}   # (scope, key) → [attempt]
        self.in_flight = 0   # requests that have arrived and are not answered
        self.asked = 0
        self.calm = False    # the faults are over
        self.serial = 0
        self.server = Upstream(self._serve)
        self.url = self.server.url

    def _draw(self):
        return self.random.choices([b for _, b in self.BEHAVIOURS], [w for w, _ in self.BEHAVIOURS])[0]

    def _identity(self, request):
        return request.header("Authorization"), request.key

    def _serve(self, request, wire):
        if request.path == "/reconcile":
            return self._reconcile(request, wire)
        with self.lock:
            self.in_flight += 1
            behaviour = "plain" if self.calm else self._draw()
            pause = self.random.uniform(0.05, 0.3)
            self.arrivals.setdefault(self._identity(request), []).append(int(request.header("Stet-Attempt")))
        try:
            self._behave(request, wire, behaviour, pause)
        finally:
            with self.lock:
                self.in_flight -= 1

    def _behave(self, request, wire, behaviour, pause):
        if behaviour == "drop":
            return wire.cut()
        if behaviour == "refuse 429":
            return self._say(request, wire, 429, b"later")
        if behaviour == "refuse with promise":
            return self._say(request, wire, 500, b"later", [("Stet-Not-Executed", "1")])
        if behaviour == "lost 503":
            return self._say(request, wire, 503, b"lost")
        if behaviour in ("slow", "very slow"):
            time.sleep(pause if behaviour == "slow" else pause * 4)
        effect = self._execute(request, 500 if behaviour == "error 500" else 201)
        if effect is None:
            return self._say(request, wire, 500, b"fenced", [("Stet-Not-Executed", "1")])
        status, body = effect.answer
        if behaviour == "lose answer":
            return wire.cut()
        if behaviour == "bad gateway":
            return self._say(request, wire, 502, b"lost midway")
        if behaviour == "half an answer":
            wire.send(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % len(body) + body[: len(body) // 2])
            return wire.end()
        if behaviour == "slow":
            time.sleep(pause)
        self._say(request, wire, status, body)

    def _execute(self, request, status):
        """The effect, once or as often as the policy lets it; None for an attempt that was promised never to run."""
        identity = self._identity(request)
        attempt, operation = int(request.header("Stet-Attempt")), request.header("Stet-Operation")
        with self.lock:
            done = self.effects.setdefault(identity, [])
            if self.policy == "retry" and done:
                return done[0]
            if self.policy == "ask" and attempt <= self.fences.get(operation, 0):
                return None
            self.serial += 1
            body = json.dumps({"response": self.serial, "of": request.body.decode()}).encode()
            done.append(Effect(attempt, (status, body)))
            self.executed[operation] = (identity, done[-1])
            return done[-1]

    def _say(self, request, wire, status, body, headers=()):
        with self.lock:
            self.said.setdefault(self._identity(request), set()).add((status, body))
        wire.answer(status, [("Content-Type", "application/json"), *headers], body)

    def _reconcile(self, request, wire):
        attempt = int(request.header("Stet-Attempt"))
        operation = request.header("Stet-Operation")
        with self.lock:
            self.asked += 1
            if not self.calm and self.random.random() < 0.15:
                verdict = (404, [], b"")
            elif operation in self.executed:
                identity, effect = self.executed[operation]
                status, body = effect.answer
                self.said.setdefault(identity, set()).add((status, body))
                verdict = (200, [("Stet-Answer", "1"), ("Stet-Status", str(status)), ("Content-Type", "application/json")], body)
            else:
                self.fences[operation] = max(attempt, self.fences.get(operation, 0))
                verdict = (200, [("Stet-Not-Executed", str(attempt))], b"")
        wire.answer(*verdict)
