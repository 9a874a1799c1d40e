"""What makes two requests the same (docs/http.md, "The fingerprint"), seen from outside: a replay or a 422."""

import pytest

AUTH = {"Authorization": "Bearer alice"}
JSON = [("Content-Type", "application/json")]


def verdict(client, key, first, second):
    """`same` or `different`. A request is (method, target, headers, body)."""

    def send(request):
        method, target, headers, body = request
        return client.send(method, target, headers=headers, body=body, key=key)

    one = send(first)
    assert one.outcome == "completed", one
    two = send(second)
    if two.problem == "key-reused":
        assert two.status == 422
        return "different"
    assert two.outcome == "replayed" and two.body == one.body, two
    return "same"


def post(body, headers=JSON, target="/charges"):
    return ("POST", target, list(headers), body if isinstance(body, bytes) else body.encode())


# ---- the request line and the content type ----


@pytest.mark.parametrize("other", [
    ("PATCH", "/charges", JSON, b"{}"),     # nensii21/devlink#1195: the key alone was the lookup
    ("POST", "/refunds", JSON, b"{}"),      # stripe/stripe-ruby#598: an SDK reused a key on another endpoint
    ("POST", "/charges?a=1", JSON, b"{}"),
    ("POST", "/charges/", JSON, b"{}"),
    ("POST", "/charges", [("Content-Type", "text/plain")], b"{}"),
    ("POST", "/charges", [], b"{}"),
])
def test_another_method_path_query_or_content_type_is_another_request(alice, key, other):
    assert verdict(alice, key, post("{}"), other) == "different"


def test_another_value_in_the_query_is_another_request(alice, key):
    # pathosDev/actor-ts#609: `?to=alice` then `?to=mallory` was replayed.
    first, second = (post("{}", target=f"/pay?to={who}") for who in ("alice", "mallory"))
    assert verdict(alice, key, first, second) == "different"


def test_the_422_names_both_the_method_and_the_path_of_the_first_use(alice, key):
    alice.send("PATCH", "/first/path?secret=1", headers=JSON, body=b"{}", key=key)
    detail = alice.post("/second", key=key, body=b"{}", headers=JSON).json()["detail"]
    assert "PATCH" in detail and "/first/path" in detail
    assert "secret" not in detail


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json;a=b"])
def test_parameters_and_case_of_the_content_type_do_not_matter(alice, key, content_type):
    assert verdict(alice, key, post("{}"), post("{}", [("Content-Type", content_type)])) == "same"


def test_other_headers_do_not_matter(alice, key):
    second = post("{}", JSON + [("User-Agent", "b"), ("X-Trace", "2"), ("Accept", "x/y")])
    assert verdict(alice, key, post("{}", JSON + [("User-Agent", "a")]), second) == "same"


def test_headers_named_in_the_configuration_matter(start_gateway, key):
    client = start_gateway('[defaults]\nfingerprint.headers = ["X-Tenant"]\n').client(AUTH)
    a, b, none = (post("{}", JSON + h) for h in ([("X-Tenant", "a")], [("X-Tenant", "b")], []))
    assert verdict(client, key + "1", a, b) == "different"
    assert verdict(client, key + "2", a, a) == "same"
    assert verdict(client, key + "3", a, none) == "different"


# ---- JSON ----

SAME_JSON = [
    ('{"a":1,"b":2}', '{"b":2,"a":1}'),
    ('{"a":{"x":1,"y":[1,2]}}', ' {\n"a" : { "y" : [ 1 , 2 ] , "x" : 1 } }\t'),
    ('{"a":1}', '{"a":1.0}'),
    ('{"a":1}', '{"a":1e0}'),
    ('{"a":100}', '{"a":1E+2}'),
    ('{"a":0.5}', '{"a":5e-1}'),
    ('{"a":0}', '{"a":-0}'),
    ('{"a":0}', '{"a":-0.0e5}'),
    ('{"a":"A/"}', '{"a":"\\u0041\\/"}'),
    ('{"a":"ä😀"}', '{"a":"\\u00e4\\ud83d\\ude00"}'),
    ('{"\\u0061":1}', '{"a":1}'),
    ("[]", " [ ] "),
    ("null", " null"),
    ('{"a":1e400}', '{"a":10e399}'),
]
DIFFERENT_JSON = [
    ('{"a":1}', '{"a":2}'),
    ('{"a":9007199254740993}', '{"a":9007199254740992}'),
    ('{"a":1e400}', '{"a":1e401}'),
    ('{"a":0.1}', '{"a":0.10000000000000001}'),
    ('{"a":null}', "{}"),                       # apache/fineract PR5674: a normaliser confused order and nulls
    ('{"a":null,"b":1}', '{"b":null,"a":1}'),
    ('{"a":[1,2]}', '{"a":[2,1]}'),
    ('{"a":1}', '{"a":"1"}'),
    ('{"a":true}', '{"a":"true"}'),
    ('{"a":false}', '{"a":null}'),
    ('{"a":false}', '{"a":0}'),
    ('{"a":[]}', '{"a":{}}'),
    ('{"a":[[]]}', '{"a":[]}'),
    ('{"a":""}', '{"a":null}'),
    ('{"a":{"b":1}}', '{"a":[{"b":1}]}'),
    ('{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'),
    ('{"a":1}', '{"A":1}'),
    ('{"a":"é"}', '{"a":"e\u0301"}'),
    ('{"a":1}', '{"a":-1}'),
    ('{"ab":"c"}', '{"a":"bc"}'),
    ("[12]", "[1,2]"),
    ('["a,b"]', '["a","b"]'),
]


@pytest.mark.parametrize("first, second", SAME_JSON)
def test_the_same_json(alice, key, first, second):
    assert verdict(alice, key, post(first), post(second)) == "same"


@pytest.mark.parametrize("first, second", DIFFERENT_JSON)
def test_different_json(alice, key, first, second):
    assert verdict(alice, key, post(first), post(second)) == "different"


@pytest.mark.parametrize("first, second", [
    ('{"a":1,"a":2}', '{"a":2}'),
    ('{"a":1,"a":2}', '{"a":1, "a":2}'),
    ('{"a":1', '{"a":1 '),
    ("{'a':1}", "{'a': 1}"),
    ('{"a":"\\ud800"}', '{"a": "\\ud800"}'),
    ('{"a":1e999999999999999999999}', '{"a": 1e999999999999999999999}'),
    ("{} {}", "{}  {}"),
    ('{"a":01}', '{"a": 01}'),
])
def test_what_is_no_clean_json_is_compared_as_bytes(alice, key, first, second):
    assert verdict(alice, key + "a", post(first), post(second)) == "different"
    assert verdict(alice, key + "b", post(first), post(first)) == "same"


def test_json_under_a_suffix_is_json(alice, key):
    headers = [("Content-Type", "application/vnd.charge+json")]
    assert verdict(alice, key, post('{"a":1,"b":2}', headers), post('{"b":2,"a":1}', headers)) == "same"


def test_text_that_looks_like_json_is_bytes(alice, key):
    headers = [("Content-Type", "text/plain")]
    assert verdict(alice, key, post('{"a":1}', headers), post('{"a": 1}', headers)) == "different"


def test_compressed_json_is_bytes(alice, key):
    headers = JSON + [("Content-Encoding", "gzip")]
    assert verdict(alice, key, post('{"a":1}', headers), post('{"a": 1}', headers)) == "different"


def test_deep_json_is_survived(alice, key):
    deep = "[" * 200_000 + "]" * 200_000
    assert verdict(alice, key, post(deep), post(deep)) == "same"
    assert verdict(alice, key + "b", post(deep), post("[" + deep[1:-1] + " ]")) in ("same", "different")


# ---- bytes ----


def test_every_byte_of_a_large_body_counts(alice, key):
    # ikyriak/IdempotentAPI#58, #38: the hash was always that of an empty body; over 30 kB it differed each time.
    headers = [("Content-Type", "application/octet-stream")]
    body = bytes(range(256)) * 2000
    assert verdict(alice, key + "1", post(body, headers), post(body, headers)) == "same"
    assert verdict(alice, key + "2", post(body, headers), post(body[:-1] + b"x", headers)) == "different"
    assert verdict(alice, key + "3", post(body, headers), post(b"x" + body[1:], headers)) == "different"
    assert verdict(alice, key + "4", post(b"", headers), post(b"\0", headers)) == "different"


def test_chunked_or_sized_makes_no_difference(alice, upstream, key):
    sized = post('{"a":1}')
    chunked = post(b'3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n', JSON + [("Transfer-Encoding", "chunked")])
    assert verdict(alice, key, sized, chunked) == "same"
    assert verdict(alice, key + "b", chunked, sized) == "same"
    assert upstream.seen[1].body == b'{"a":1}'


# ---- multipart ----


def multipart(boundary, parts):
    body = b""
    for headers, content in parts:
        body += b"--" + boundary.encode() + b"\r\n" + headers.encode() + b"\r\n\r\n" + content + b"\r\n"
    body += b"--" + boundary.encode() + b"--\r\n"
    return post(body, [("Content-Type", f"multipart/form-data; boundary={boundary}")])


PARTS = [('Content-Disposition: form-data; name="amount"', b"4900"),
         ('Content-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream', b"\0\r\n--x")]


def test_multipart_compares_the_parts_and_not_the_boundary(alice, key):
    # chatvector-ai#506: multipart retries never matched, because the boundary differs.
    assert verdict(alice, key, multipart("one", PARTS), multipart("two-two", PARTS)) == "same"


@pytest.mark.parametrize("change", ["content", "name", "order", "missing", "twice", "filename"])
def test_other_multipart_parts_are_another_request(alice, key, change):
    a, b = PARTS
    other = {
        "content": [a, (b[0], b"\0\r\n--y")],
        "name": [(a[0].replace("amount", "amounts"), a[1]), b],
        "order": [b, a],
        "missing": [a],
        "twice": [a, a, b],
        "filename": [a, (b[0].replace("a.bin", "b.bin"), b[1])],
    }[change]
    assert verdict(alice, key, multipart("one", PARTS), multipart("two", other)) == "different"


def test_multipart_that_is_none_is_bytes(alice, key):
    headers = [("Content-Type", "multipart/form-data; boundary=one")]
    assert verdict(alice, key, post(b"--two\r\n\r\nx\r\n--two--", headers), post(b"--two\r\n\r\nx\r\n--two--", headers)) == "same"
    assert verdict(alice, key + "b", post(b"nothing", headers), post(b"nothing else", headers)) == "different"


# ---- settings ----


def test_ignored_members_do_not_matter(start_gateway, key):
    client = start_gateway('[defaults]\nfingerprint.ignore = ["/sent_at", "/meta/trace", "/list/0"]\n').client(AUTH)

    def body(sent_at, trace, first, amount):
        return post('{"sent_at":%s,"meta":{"trace":"%s","x":1},"list":[%d,2],"amount":%d}' % (sent_at, trace, first, amount))

    assert verdict(client, key + "1", body("1", "a", 1, 5), body("2", "b", 9, 5)) == "same"
    assert verdict(client, key + "2", body("1", "a", 1, 5), body("1", "a", 1, 6)) == "different"
    assert verdict(client, key + "3", post('{"amount":5}'), body("1", "a", 1, 5)) == "different"


def test_only_the_named_members_matter(start_gateway, key):
    client = start_gateway('[defaults]\nfingerprint.only = ["/amount", "/to/id"]\n').client(AUTH)
    first = post('{"amount":5,"to":{"id":1,"name":"x"},"z":1}')
    assert verdict(client, key + "1", first, post('{"z":2,"to":{"name":"y","id":1},"amount":5.0}')) == "same"
    assert verdict(client, key + "2", first, post('{"amount":5,"to":{"id":2,"name":"x"},"z":1}')) == "different"
    assert verdict(client, key + "3", first, post('{"amount":5}')) == "different"


def test_a_change_of_settings_does_not_turn_a_retry_into_422(start_gateway, upstream, key):
    gateway = start_gateway()
    client = gateway.client(AUTH)
    first = client.post(key=key, json_body={"amount": 1, "sent_at": 1})
    assert first.outcome == "completed"
    gateway.reload('[defaults]\nfingerprint.ignore = ["/sent_at"]\n')
    assert client.post(key=key, json_body={"sent_at": 1, "amount": 1}).outcome == "replayed"
    # Judged by the record's own recipe, which did not ignore it.
    assert client.post(key=key, json_body={"amount": 1, "sent_at": 2}).problem == "key-reused"
    assert client.post(key=key + "b", json_body={"amount": 1, "sent_at": 1}).outcome == "completed"
    assert client.post(key=key + "b", json_body={"amount": 1, "sent_at": 2}).outcome == "replayed"
    gateway.reload("")
    assert client.post(key=key + "b", json_body={"amount": 1, "sent_at": 3}).outcome == "replayed"


def test_a_secret_keeps_a_leaked_store_from_being_an_oracle_and_rotates(start_gateway, upstream, key):
    # MCPJam/inspector PR4469: a plain hash of a PIN could be guessed offline.
    secrets = {"OLD": "old-secret-0123456789", "NEW": "new-secret-0123456789"}
    gateway = start_gateway('[defaults]\nfingerprint.secret = ["env:OLD"]\n', environment=secrets)
    client = gateway.client(AUTH)
    assert client.post(key=key).outcome == "completed"
    assert client.post(key=key).outcome == "replayed"
    assert client.post(key=key, json_body={"amount": 1}).problem == "key-reused"
    gateway.reload('[defaults]\nfingerprint.secret = ["env:NEW", "env:OLD"]\n')
    assert client.post(key=key).outcome == "replayed"
    assert client.post(key=key, json_body={"amount": 1}).problem == "key-reused"
    assert client.post(key=key + "b").outcome == "completed"
    gateway.reload("")
    # Without the secret nobody can say that it is the same request: refused, and never run again.
    assert client.post(key=key).status in (422, 503)
    assert len(upstream.seen) == 2
