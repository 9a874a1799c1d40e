"""The key: its forms, its limits, where it comes from (docs/http.md, "The key")."""

import pytest
from support.http_client import wire
from support.processes import run_stet
from support.upstream import wait_until

AUTH = {"Authorization": "Bearer alice"}


def send_with(client, *header_lines, target="/charges"):
    return client.send("POST", target, headers=[(n, v) for n, v in header_lines], json_body={"amount": 1})


@pytest.mark.parametrize("forms", [
    ("abc-{}", '"abc-{}"'),
    ('"abc-{}"', '"abc-{}";foo=bar'),
    ('"abc-{}"', '"abc-{}"; a; b=1; c="x;y"'),
    ("abc-{}", "  abc-{}  "),
    ("abc-{}", '\t"abc-{}"\t'),
    ('"a\\"b-{}"', '"a\\"b-{}"'),
    ('"a b-{}"', ' "a b-{}" '),
    ("!#$%&()*+-./:<=>?@[]^_`{{|}}~{}", "\"!#$%&()*+-./:<=>?@[]^_`{{|}}~{}\""),
])
def test_two_forms_of_one_key_are_one_key(alice, upstream, key, forms):
    first, second = (form.format(key) for form in forms)
    one = send_with(alice, ("Idempotency-Key", first))
    two = send_with(alice, ("Idempotency-Key", second))
    assert one.outcome == "completed", one
    assert two.outcome == "replayed" and two.body == one.body, two
    assert len(upstream.seen) == 1


def test_case_matters(alice, upstream, key):
    assert alice.post(key="abc" + key).outcome == "completed"
    assert alice.post(key="ABC" + key).outcome == "completed"
    assert alice.post(key="abc" + key + " ").outcome == "replayed"


def test_keys_that_differ_only_at_their_end_are_two(alice, upstream):
    # Collations and truncated columns elsewhere made one key of two.
    for end in ("a", "b", "A"):
        assert alice.post(key="k" * 254 + end).outcome == "completed"
    assert len(upstream.effects) == 3


INVALID = {
    "empty": "",
    "blank": "   ",
    "empty quoted": '""',
    "256 characters": "a" * 256,
    "256 characters in quotes": '"' + "a" * 256 + '"',
    "a bare space": "a b",
    "a comma": "a,b",
    "a list of two": '"a", "b"',
    "a semicolon": "a;b",
    "a backslash": "a\\b",
    "a quote inside": 'a"b',
    "an unfinished string": '"abc',
    "an unknown escape": '"a\\bc"',
    "a lone quote": '"',
    "text after the string": '"abc"def',
    "text after a space": '"abc" def',
    "a tab inside quotes": '"a\tb"',
    "a tab inside": "a\tb",
    "8-bit": "caf\xe9",
    "8-bit in quotes": '"caf\xe9"',
    "UTF-8": "caf\xc3\xa9",
    "a parameter that is none": '"abc";=1',
}


@pytest.mark.parametrize("what", INVALID)
def test_a_key_is_invalid_that_is(alice, upstream, what):
    # interledger/settlement-engines PR10: non-ASCII in the key broke the store.
    answer = send_with(alice, ("Idempotency-Key", INVALID[what]))
    assert answer.status == 400 and answer.problem == "key-invalid", answer
    document = answer.json()
    assert document["retryable"] is False and document["new_key_safe"] is True
    assert upstream.seen == []


def test_255_characters_are_a_key(alice, upstream):
    assert alice.post(key="z" * 255).outcome == "completed"
    assert alice.post(key='"' + "z" * 255 + '"').outcome == "replayed"
    assert alice.post(key='"' + '\\"' * 255 + '"').outcome == "completed"


@pytest.mark.parametrize("second", ["abc", "def", '"abc"', ""])
def test_a_second_field_line_is_invalid_even_if_it_says_the_same(alice, upstream, second):
    # mercadopago/sdk-php PR558: an SDK sent the header twice.
    answer = send_with(alice, ("Idempotency-Key", "abc"), ("idempotency-key", second))
    assert answer.status == 400 and answer.problem == "key-invalid"
    assert upstream.seen == []


def test_an_invalid_key_keeps_the_connection(alice, upstream):
    with alice.connect() as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": "a b"}, b"{}"))
        assert connection.read_answer().problem == "key-invalid"
        connection.send(wire("GET", "/charges", AUTH))
        assert connection.read_answer().status == 201


def test_a_required_key_that_is_absent_is_400_key_missing(start_gateway, upstream):
    client = start_gateway('[[route]]\nmatch = "POST /charges"\nkey = "required"\n').client(AUTH)
    answer = client.post()
    assert answer.status == 400 and answer.problem == "key-missing"
    assert answer.json()["retryable"] is False and answer.json()["new_key_safe"] is True
    assert upstream.seen == []
    assert client.post("/other").status == 201


def test_an_off_route_passes_the_key_and_protects_nothing(start_gateway, upstream, key):
    client = start_gateway('[[route]]\nmatch = "POST /charges"\nkey = "off"\n').client(AUTH)
    for _ in range(2):
        answer = client.post(key=key)
        assert answer.status == 201 and answer.outcome is None
    assert [r.key for r in upstream.seen] == [key, key]


def test_put_and_delete_are_protected_where_a_route_names_them(start_gateway, upstream, key):
    client = start_gateway('[[route]]\nmatch = "PUT,DELETE /orders/*"\nkey = "required"\n').client(AUTH)
    for method in ("PUT", "DELETE"):
        assert client.send(method, "/orders/1", body=b"x").problem == "key-missing"
        assert client.send(method, "/orders/1", body=b"x", key=key + method).outcome == "completed"
        assert client.send(method, "/orders/1", body=b"x", key=key + method).outcome == "replayed"
    assert len(upstream.seen) == 2


def test_an_unkeyed_write_is_counted_as_unprotected(gateway, alice, upstream):
    def unprotected():
        return sum(v for n, v in gateway.metrics().items() if "unprotected" in n)

    before = unprotected()
    assert alice.post().status == 201
    wait_until(lambda: unprotected() == before + 1)
    alice.get("/charges")
    assert unprotected() == before + 1


# ---- to the upstream ----


@pytest.mark.parametrize("spelling, sent, arrives", [
    ("bare", '"abc{}"', "abc{}"),
    ("bare", "abc{}", "abc{}"),
    ("bare", '"a b{}"', '"a b{}"'),
    ("bare", '"a,b{}"', '"a,b{}"'),
    ("quoted", "abc{}", '"abc{}"'),
    ("quoted", '"a\\"b{}"', '"a\\"b{}"'),
    ("as-is", '"abc{}"', '"abc{}"'),
    ("as-is", "abc{}", "abc{}"),
])
def test_upstream_the_key_has_one_spelling(start_gateway, upstream, key, spelling, sent, arrives):
    client = start_gateway(f'[defaults]\nkey_spelling = "{spelling}"\n').client(AUTH)
    assert client.post(key=sent.format(key)).status == 201
    assert upstream.seen[0].key == arrives.format(key)


def test_the_key_header_of_a_route_is_the_one_that_counts(start_gateway, upstream, key):
    client = start_gateway('[defaults]\nkey_header = "X-Request-Key"\n').client(AUTH)
    assert client.post(headers={"X-Request-Key": key}).outcome == "completed"
    assert client.post(headers={"X-Request-Key": key}).outcome == "replayed"
    assert upstream.seen[0].header("X-Request-Key") == key
    assert client.post(key=key).outcome is None  # nothing but a header here


def test_key_headers_are_tried_in_order(start_gateway, upstream, key):
    client = start_gateway('[defaults]\nkey_header = ["X-First", "X-Second"]\n').client(AUTH)
    assert client.post(headers={"X-Second": key}).outcome == "completed"
    assert client.post(headers={"X-First": key}).outcome == "replayed"
    assert client.post(headers={"X-Second": "other", "X-First": key}).outcome == "replayed"
    assert client.post(headers=[("X-First", key), ("X-First", key)]).problem == "key-invalid"
    assert len(upstream.seen) == 1


# ---- natural keys ----


def natural(source, match="POST /invoices"):
    return f'[[route]]\nmatch = "{match}"\nkey_from = "{source}"\nscope = ["credentials"]\n'


def test_a_member_of_the_body_is_a_key(start_gateway, upstream):
    client = start_gateway(natural("json:/invoice/number")).client(AUTH)
    body = {"invoice": {"number": "2026-17"}, "amount": 5}
    assert client.post("/invoices", json_body=body).outcome == "completed"
    assert client.post("/invoices", json_body=body).outcome == "replayed"
    assert client.post("/invoices", json_body={**body, "amount": 6}).problem == "key-reused"
    assert client.post("/invoices", json_body={"invoice": {"number": "2026-18"}, "amount": 5}).outcome == "completed"
    assert len(upstream.seen) == 2


def test_an_integer_is_a_natural_key(start_gateway, upstream):
    client = start_gateway(natural("json:/number")).client(AUTH)
    assert client.post("/invoices", json_body={"number": 17}).outcome == "completed"
    assert client.post("/invoices", json_body={"number": 17}).outcome == "replayed"


@pytest.mark.parametrize("body", [b"{}", b'{"number":null}', b'{"number":1.5}', b'{"number":[1]}', b'{"number":true}',
                                  b'{"number":{"a":1}}', b'{"number":""}', b"[]", b"no json", b""])
def test_a_body_without_its_natural_key_is_key_missing(start_gateway, upstream, body):
    client = start_gateway(natural("json:/number")).client(AUTH)
    answer = client.post("/invoices", body=body, headers={"Content-Type": "application/json"})
    assert answer.status == 400 and answer.problem in ("key-missing", "key-invalid"), answer
    assert upstream.seen == []


def test_a_segment_of_the_path_is_a_key(start_gateway, upstream):
    client = start_gateway(natural("path:2", "PUT /orders/*")).client(AUTH)
    assert client.send("PUT", "/orders/42", body=b"x").outcome == "completed"
    assert client.send("PUT", "/orders/42", body=b"x").outcome == "replayed"
    assert client.send("PUT", "/orders/43", body=b"x").outcome == "completed"


def test_a_query_parameter_is_a_key(start_gateway, upstream):
    client = start_gateway(natural("query:ref")).client(AUTH)
    assert client.post("/invoices?ref=a%20b").outcome == "completed"
    assert client.post("/invoices?ref=a%20b").outcome == "replayed"
    assert client.post("/invoices?other=1").problem == "key-missing"
    assert client.post("/invoices?ref=").problem in ("key-missing", "key-invalid")


def test_natural_keys_are_a_namespace_per_route_and_source(start_gateway, upstream):
    config = natural("path:2", "PUT /orders/*") + natural("path:2", "PUT /users/*")
    client = start_gateway(config).client(AUTH)
    assert client.send("PUT", "/orders/42", body=b"x").outcome == "completed"
    assert client.send("PUT", "/users/42", body=b"x").outcome == "completed"
    assert client.post("/x", key="42", body=b"x").outcome == "completed"
    assert len(upstream.seen) == 3


def test_natural_keys_may_be_long_and_need_not_be_ascii(start_gateway, upstream):
    client = start_gateway(natural("json:/number")).client(AUTH)
    for number in ("x" * 5000, "Rechnung №1 – ä", "a,b;c\"d"):
        assert client.post("/invoices", json_body={"number": number}).outcome == "completed", number
        assert client.post("/invoices", json_body={"number": number}).outcome == "replayed", number
    assert client.post("/invoices", json_body={"number": "x" * 4999 + "y"}).outcome == "completed"


def test_the_clients_own_key_is_ignored_on_a_natural_route(start_gateway, upstream, key):
    client = start_gateway(natural("json:/number")).client(AUTH)
    assert client.post("/invoices", key=key, json_body={"number": "1"}).outcome == "completed"
    assert client.post("/invoices", key=key + "b", json_body={"number": "1"}).outcome == "replayed"
    assert client.post("/invoices", key=key, json_body={"number": "2"}).outcome == "completed"


def test_a_pointer_may_lead_anywhere(start_gateway, upstream):
    client = start_gateway(natural("json:/a~1b/m~0n/1/id")).client(AUTH)
    body = {"a/b": {"m~n": [{"id": "x"}, {"id": "7"}]}}
    assert client.post("/invoices", json_body=body).outcome == "completed"
    assert client.post("/invoices", json_body=body).outcome == "replayed"
    assert client.post("/invoices", json_body={"a/b": {"m~n": [{"id": "7"}]}}).problem == "key-missing"


def test_a_doubled_natural_key_is_never_guessed(start_gateway, upstream):
    client = start_gateway(natural("query:ref")).client(AUTH)
    assert client.post("/invoices?ref=a&ref=b").status == 400
    assert client.post("/invoices?ref=a&ref=a").status == 400
    body = start_gateway(natural("json:/n")).client(AUTH)
    assert body.post("/invoices", body=b'{"n":"1","n":"2"}', headers={"Content-Type": "application/json"}).status == 400
    assert upstream.seen == []


def test_one_segment_however_it_is_spelt_is_one_key(start_gateway, upstream):
    client = start_gateway(natural("path:2", "PUT /orders/*")).client(AUTH)
    assert client.send("PUT", "/orders/a%2Db", body=b"x").outcome == "completed"
    again = client.send("PUT", "/orders/a-b", body=b"x")
    assert again.outcome == "replayed" or again.problem == "key-reused"  # one key; whether one request, the target tells
    assert client.send("PUT", "/orders/a%2Fb", body=b"x").outcome == "completed"
    assert len(upstream.seen) == 2


def test_a_natural_key_without_a_scope_is_a_configuration_mistake(tmp_path, upstream):
    file = tmp_path / "stet.toml"
    file.write_text(f'upstream = "{upstream.url}"\n[[route]]\nmatch = "POST /i"\nkey_from = "json:/n"\n')
    done = run_stet("check-config", str(file))
    assert done.returncode == 2 and "scope" in done.stdout + done.stderr
