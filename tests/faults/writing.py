"""Clients that write while something happens: every key sent twice, each answer kept."""

import random
import threading
import time

from support.http_client import Client, Closed


class Writers:
    """With `Writers(gateways, …) as writers:` threads send until the block ends. `answers`: key → [Answer or None]."""

    def __init__(self, gateways, count=6, path="/charges", pause=0.005, headers=None):
        self.gateways = gateways
        self.path = path
        self.pause = pause
        self.headers = {"Authorization": "Bearer alice", **(headers or {})}
        self.answers = {}
        self.took = []  # (when it ended, seconds)
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._write, args=(n,), daemon=True) for n in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(20)

    def send(self, key, timeout=8):
        began = time.monotonic()
        try:
            answer = Client(random.choice(self.gateways).address, self.headers).post(self.path, key=key, timeout=timeout)
        except (OSError, Closed):
            answer = None
        self.took.append((time.monotonic(), time.monotonic() - began))
        self.answers.setdefault(key, []).append(answer)
        return answer

    def _write(self, number):
        made = 0
        while not self.stopping.is_set():
            key = f"w{number}-{made}"
            first, _ = self.send(key), self.send(key)
            made += 1
            time.sleep(self.pause if first is not None else 0.05)

    def acknowledged(self):
        """key → the answer that was acknowledged."""
        out = {}
        for key, answers in list(self.answers.items()):
            final = [a for a in answers if a is not None and a.problem is None and a.outcome in ("completed", "replayed")]
            if final:
                assert len({(a.status, a.body) for a in final}) == 1, (key, answers)
                out[key] = final[0]
        return out

    def settle(self, within=60):
        """Sends every key until it has ended, each for so long at the most: key → its last answer."""
        last = {}
        for key in list(self.answers):
            end = time.monotonic() + within
            while True:
                answer = self.send(key)
                if answer is not None and (answer.outcome in ("completed", "replayed") or answer.problem == "outcome-unknown"):
                    break
                assert time.monotonic() < end, f"stuck: {key} {self.answers[key][-3:]}"
                time.sleep(0.1)
            last[key] = answer
        return last
