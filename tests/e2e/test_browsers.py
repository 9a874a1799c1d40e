"""CORS: the gateway's own part with cors.origins, and the upstream's headers without (docs/http.md, "Browsers")."""

import pytest
from support.upstream import answers, cuts, refuses

AUTH = {"Authorization": "Bearer alice"}
HERE = "https://shop.example"
CORS = f'cors.origins = ["{HERE}"]\n'


def names(value):
    return {part.strip().lower() for part in (value or "").split(",") if part.strip()}


def exposed(answer):
    return names(", ".join(answer.all("Access-Control-Expose-Headers")))


def preflight(client, headers="idempotency-key, content-type", origin=HERE):
    return client.send("OPTIONS", "/charges", headers={
        "Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": headers})


@pytest.fixture
def shop(start_gateway):
    return start_gateway(CORS).client(AUTH)


def test_a_preflight_allows_the_key_header(shop, upstream):
    upstream.plan(refuses(204, {"Access-Control-Allow-Origin": HERE, "Access-Control-Allow-Headers": "Content-Type",
                                "Access-Control-Allow-Methods": "POST"}))
    answer = preflight(shop)
    assert answer.status in (200, 204)
    assert answer.all("Access-Control-Allow-Origin") == [HERE]
    allowed = names(", ".join(answer.all("Access-Control-Allow-Headers")))
    assert {"idempotency-key", "content-type"} <= allowed


def test_every_keyed_answer_of_an_allowed_origin_can_be_read(shop, upstream, key):
    # solana-developer-platform PR681: browsers could not read the replay marker.
    upstream.plan(cuts)
    results = [shop.post(key=key, headers={"Origin": HERE}),
               shop.post(key=key + "b", headers={"Origin": HERE}), shop.post(key=key + "b", headers={"Origin": HERE}),
               shop.post(key=key + "b", headers={"Origin": HERE}, json_body={"x": 1}), shop.post(key="a b", headers={"Origin": HERE})]
    assert [a.status for a in results] == [502, 201, 201, 422, 400]
    for answer in results:
        assert answer.all("Access-Control-Allow-Origin") == [HERE], answer
        assert "origin" in names(", ".join(answer.all("Vary")))
        assert {"idempotent-replayed", "retry-after", "location", "stet-outcome", "stet-operation",
                "stet-replayable-until"} <= exposed(answer)


def test_another_origin_is_not_allowed(shop, upstream, key):
    answer = shop.post(key=key, headers={"Origin": "https://evil.example"})
    assert answer.all("Access-Control-Allow-Origin") in ([], [HERE])
    assert "https://evil.example" not in answer.all("Access-Control-Allow-Origin")
    assert "*" not in answer.all("Access-Control-Allow-Origin")


def test_cors_is_computed_for_each_request_and_never_replayed(start_gateway, upstream, key):
    other = "https://other.example"
    client = start_gateway(f'cors.origins = ["{HERE}", "{other}"]\n').client(AUTH)
    upstream.plan(answers(201, {"Access-Control-Allow-Origin": HERE}, b"x"))
    first = client.post(key=key, headers={"Origin": HERE})
    again = client.post(key=key, headers={"Origin": other})
    assert first.all("Access-Control-Allow-Origin") == [HERE]
    assert again.outcome == "replayed" and again.all("Access-Control-Allow-Origin") == [other]


def test_without_cors_the_upstreams_headers_pass_and_the_exposed_list_is_extended(alice, upstream, key):
    upstream.default = answers(201, {"Access-Control-Allow-Origin": HERE, "Access-Control-Expose-Headers": "X-Mine"}, b"x")
    for answer in (alice.post(key=key, headers={"Origin": HERE}), alice.post(key=key, headers={"Origin": HERE})):
        assert answer.all("Access-Control-Allow-Origin") == [HERE]
        assert {"x-mine", "idempotent-replayed", "stet-outcome"} <= exposed(answer)


def test_without_cors_nothing_is_exposed_where_the_upstream_allows_nobody(alice, upstream, key):
    answer = alice.post(key=key, headers={"Origin": HERE})
    assert answer.all("Access-Control-Allow-Origin") == [] and exposed(answer) == set()


def test_a_preflight_that_the_upstream_knows_nothing_of_is_answered_all_the_same(shop, upstream):
    upstream.default = refuses(404)
    answer = preflight(shop, "idempotency-key, content-type, authorization")
    assert answer.status in (200, 204)
    assert answer.all("Access-Control-Allow-Origin") == [HERE]
    assert {"idempotency-key", "content-type", "authorization"} <= names(", ".join(answer.all("Access-Control-Allow-Headers")))
    assert "post" in names(", ".join(answer.all("Access-Control-Allow-Methods")))


def test_a_preflight_of_another_origin_allows_nothing_of_ours(shop, upstream):
    upstream.default = refuses(404)
    answer = preflight(shop, origin="https://evil.example")
    assert answer.all("Access-Control-Allow-Origin") == []
