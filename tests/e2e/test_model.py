"""Random requests, one after the other, against a model of docs/http.md written a second time, from the table alone."""

import random

import pytest
from support.upstream import answers, cuts, refuses, sends

AUTH = {"Authorization": "Bearer alice"}
LARGE = 3000

# What the upstream does with the next request that reaches it, and what that means on a first attempt.
BEHAVIOURS = {
    "201": (answers(201, {"Location": "/x"}, b"made"), "record"),
    "204": (answers(204), "record"),
    "302": (answers(302, {"Location": "/y"}), "record"),
    "404": (answers(404, {}, b"none"), "record"),
    "422": (answers(422, {}, b"bad"), "record"),
    "500": (answers(500, {}, b"oops"), "record"),
    "401": (refuses(401, {}, b"who"), "release"),
    "429": (refuses(429, {}, b"slow"), "release"),
    "503 with a promise": (refuses(503, {"Stet-Not-Executed": "1"}, b"no"), "release"),
    "503": (refuses(503, {}, b"lost"), "unknown"),
    "408": (refuses(408, {}, b"late"), "unknown"),
    "cut": (cuts, "unknown"),
    "half": (sends(b"HTTP/1.1 201 X\r\nContent-Length: 9\r\n\r\nhalf", "end"), "unknown"),
    "large 200": (answers(200, {"Location": "/big"}, b"L" * LARGE), "large"),
    "large 404": (answers(404, {}, b"L" * LARGE), "large"),
}
STATUS = {"401": 401, "429": 429, "503 with a promise": 503, "large 200": 200, "large 404": 404}
BODY = {"201": b"made", "404": b"none", "422": b"bad", "500": b"oops", "401": b"who", "429": b"slow", "503 with a promise": b"no",
        "large 200": b"L" * LARGE, "large 404": b"L" * LARGE}


def status_of(behaviour):
    return STATUS.get(behaviour) or int(behaviour)


class Model:
    """What is true of each key."""

    def __init__(self, policy):
        self.policy = policy
        self.records = {}  # key → [state, body sent, attempt, answer]

    def step(self, key, sent, behaviour):
        """(reaches the upstream as attempt N or None, what the caller sees)"""
        record = self.records.get(key)
        if record is None:
            return 1, self.first(key, sent, behaviour)
        state, first_body, attempt, kept = record
        if sent != first_body:
            outcomes = {"completed": {"completed"}, "not kept": {"completed"}, "unknown": {"unknown"}, "open": {"unknown", "in-progress"}}
            return None, ("problem", 422, "key-reused", outcomes[state])
        if state == "completed":
            return None, ("answer", *kept, {"replayed"})
        if state == "not kept":
            return None, ("problem", 409, "answer-not-kept", {"replayed"})
        if state == "unknown":
            return None, ("problem", 502, "outcome-unknown", {"unknown"})
        return attempt + 1, self.again(record, behaviour)

    def first(self, key, sent, behaviour):
        meaning = BEHAVIOURS[behaviour][1]
        answer = None if meaning == "unknown" else (status_of(behaviour), BODY.get(behaviour, b""))
        if meaning == "record":
            self.records[key] = ["completed", sent, 1, answer]
            return ("answer", *answer, {"completed"})
        if meaning == "large":
            self.records[key] = ["not kept", sent, 1, answer]
            return ("answer", *answer, {"completed"})
        if meaning == "release":
            return ("answer", *answer, {"not-executed"})
        self.records[key] = ["unknown" if self.policy == "fail" else "open", sent, 1, None]
        return ("problem", 502, "outcome-unknown", {"unknown"})

    def again(self, record, behaviour):
        """A later attempt after one whose outcome is unknown (on_unknown = "retry")."""
        record[2] += 1
        meaning = BEHAVIOURS[behaviour][1]
        if meaning == "unknown":
            return ("problem", 502, "outcome-unknown", {"unknown"})
        answer = (status_of(behaviour), BODY.get(behaviour, b""))
        if meaning == "release" or 400 <= answer[0] < 500:
            return ("answer", *answer, {"unknown"})
        record[0], record[3] = ("not kept" if meaning == "large" else "completed"), answer
        return ("answer", *answer, {"completed"})


@pytest.mark.parametrize("policy", ["fail", "retry"])
@pytest.mark.parametrize("round_", range(3))
def test_random_requests_get_what_the_model_says(start_gateway, upstream, policy, round_):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    rule = 'on_unknown = "retry"\nupstream_idempotent = true\n' if policy == "retry" else ""
    gateway = start_gateway(f'[defaults]\nmax_response_body = "1KiB"\n{rule}')
    model = Model(policy)
    operations = {}
    for step in range(400):
        if dice.random() < 0.01:
            gateway.kill()
            gateway.restart()
        key, sent, behaviour = f"k{dice.randrange(60)}", {"n": dice.choice([1, 1, 1, 2])}, dice.choice(list(BEHAVIOURS))
        attempt, (kind, status, what, outcomes) = model.step(key, sent, behaviour)
        upstream.planned[:] = [BEHAVIOURS[behaviour][0]]
        before = len(upstream.seen)
        answer = gateway.client(AUTH).post(key=key, json_body=sent)
        told = f"seed {seed}, step {step}: {key} {sent} {behaviour}: expected {kind} {status} {what[:20]} {outcomes}, got {answer}"
        assert answer.status == status, told
        assert answer.outcome in outcomes, told
        assert (answer.problem == what) if kind == "problem" else (answer.body == what), told
        arrived = upstream.seen[before:]
        assert len(arrived) == (0 if attempt is None else 1), told
        if attempt is not None:
            assert arrived[0].header("Stet-Attempt") == str(attempt), told
        operation = operations.setdefault(key, answer.header("Stet-Operation"))
        assert answer.header("Stet-Operation") == operation, told
        assert answer.replayed == (outcomes == {"replayed"} and kind == "answer"), told
    states = {"completed": "completed", "not kept": "completed", "unknown": "unknown", "open": "pending"}
    assert {o["key"]: o["state"] for o in gateway.operations("?limit=1000")} == {k: states[r[0]] for k, r in model.records.items()}
