// json-server knows nothing of idempotency: each POST that reaches it is one more row. Every write here is sent twice.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newKey, post, postUntilAnswered, said } from './support/client.mjs';
import { startLossyProxy } from './support/lossy_proxy.mjs';
import { freePort, startGateway, startJsonServer } from './support/processes.mjs';

const DELAY = 300;  // ms from the whole request to the row
const SOON = '[defaults]\nlease = "1s"\n';

test('without the gateway, a POST sent twice is two rows', async (t) => {
  const api = await startJsonServer(t);
  const key = newKey();
  await post(api.url, key, { item: key });
  await post(api.url, key, { item: key });
  assert.equal((await api.rows(key)).length, 2);
});

test('a POST sent twice leaves one row, and both get the same answer', async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const key = newKey();
  const first = await post(gateway.url, key, { item: key });
  const again = await post(gateway.url, key, { item: key });
  assert.deepEqual([first.status, first.outcome, first.replayed], [201, 'completed', null]);
  assert.deepEqual([again.status, again.outcome, again.replayed], [201, 'replayed', 'true']);
  assert.ok(first.headers.get('location'));
  assert.deepEqual(said(again), said(first));
  assert.deepEqual(await api.rows(key), [first.body]);
});

test('the same key for another order is refused, twice, and leaves the first row alone', async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const key = newKey();
  await post(gateway.url, key, { item: key, amount: 1 });
  for (const _ of [1, 2]) assert.equal((await post(gateway.url, key, { item: key, amount: 2 })).status, 422);
  assert.deepEqual((await api.rows(key)).map((row) => row.amount), [1]);
});

test('a POST retried after a lost answer leaves one row', async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const proxy = await startLossyProxy(t, gateway.listen);
  const key = newKey();
  proxy.losing = 2;
  const answer = await postUntilAnswered(proxy.url, key, { item: key });
  assert.equal(proxy.lost, 2);
  assert.deepEqual([answer.attempts, answer.status, answer.outcome], [3, 201, 'replayed']);
  assert.deepEqual(await api.rows(key), [answer.body]);
});

test("Python's urllib, retrying after a lost answer, leaves one row", async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const proxy = await startLossyProxy(t, gateway.listen);
  const key = newKey();
  proxy.losing = 1;
  const program = `
import json, sys, urllib.request
url, key = sys.argv[1:]
for attempt in range(5):
    request = urllib.request.Request(url + "/orders", json.dumps({"item": key}).encode(),
                                     {"Content-Type": "application/json", "Idempotency-Key": key})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            print(json.dumps([attempt, answer.status, answer.headers["Stet-Outcome"], json.load(answer)]))
            break
    except OSError:
        continue
`;
  const python = spawn('python3', ['-c', program, proxy.url, key], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  python.stdout.on('data', (text) => { out += text; });
  const [status] = await once(python, 'close');
  assert.equal(status, 0);
  const [row] = await api.rows(key);
  assert.deepEqual(JSON.parse(out), [1, 201, 'replayed', row]);
  assert.equal((await api.rows(key)).length, 1);
});

test('a double click leaves one row: both are answered alike when the second waits', async (t) => {
  const api = await startJsonServer(t, { delay: DELAY });
  const gateway = await startGateway(t, api.url, '[defaults]\nin_progress = "wait"\n');
  const key = newKey();
  const clicks = await Promise.all([post(gateway.url, key, { item: key }), post(gateway.url, key, { item: key })]);
  assert.deepEqual(clicks.map((answer) => answer.outcome).sort(), ['completed', 'replayed']);
  assert.deepEqual(said(clicks[0]), said(clicks[1]));
  assert.deepEqual(await api.rows(key), [clicks[0].body]);
});

test('a double click leaves one row: the second is told 409 by default, and its retry gets the answer', async (t) => {
  const api = await startJsonServer(t, { delay: DELAY });
  const gateway = await startGateway(t, api.url);
  const key = newKey();
  const clicks = await Promise.all([post(gateway.url, key, { item: key }), post(gateway.url, key, { item: key })]);
  assert.deepEqual(clicks.map((answer) => answer.status).sort(), [201, 409]);
  const refused = clicks.find((answer) => answer.status === 409);
  assert.ok(refused.headers.get('retry-after'));
  assert.ok(refused.body.retryable && !refused.body.new_key_safe);
  const again = await postUntilAnswered(gateway.url, key, { item: key });
  assert.deepEqual([again.status, again.body], [201, clicks.find((answer) => answer.status === 201).body]);
  assert.equal((await api.rows(key)).length, 1);
});

// From before the request has left the gateway to after its answer.
for (const moment of [0, 10, 100, 250, 300, 320, 500]) {
  test(`a gateway killed ${moment} ms into a request leaves one row at most, and the retry is told the truth`, async (t) => {
    const api = await startJsonServer(t, { delay: DELAY });
    const gateway = await startGateway(t, api.url, SOON);
    await post(gateway.url, newKey(), { item: 'a connection that is open already' });
    const key = newKey();
    const cut = post(gateway.url, key, { item: key }).catch(() => null);
    await sleep(moment);
    await gateway.kill();
    const first = await cut;
    await gateway.restart();

    const retry = await postUntilAnswered(gateway.url, key, { item: key });
    const rows = await api.rows(key);
    t.diagnostic(`first: ${first?.status ?? 'cut'}, retry: ${retry.status} ${retry.outcome}, rows: ${rows.length}`);
    assert.ok(rows.length <= 1, `${rows.length} rows`);
    if (retry.status === 201) {
      assert.deepEqual(rows, [retry.body]);
    } else {
      assert.deepEqual([retry.status, retry.outcome, retry.body.type],
        [502, 'unknown', '/.well-known/stet/problems/outcome-unknown']);
      assert.deepEqual([retry.body.retryable, retry.body.new_key_safe], [false, false]);
    }
    if (first) assert.deepEqual(said(retry), said(first));

    const later = await post(gateway.url, key, { item: key });
    assert.equal(later.status, retry.status);
    assert.equal((await api.rows(key)).length, rows.length);
  });
}

test('a request that was surely sent and surely not answered when the gateway was killed is unknown, not two', async (t) => {
  const api = await startJsonServer(t, { delay: 2000 });
  const gateway = await startGateway(t, api.url, SOON);
  const key = newKey();
  const cut = post(gateway.url, key, { item: key });
  await Promise.all([assert.rejects(cut), sleep(1000).then(gateway.kill)]);
  await gateway.restart();
  for (const _ of [1, 2]) {
    assert.equal((await postUntilAnswered(gateway.url, key, { item: key })).body.type, '/.well-known/stet/problems/outcome-unknown');
  }
  assert.equal((await api.rows(key)).length, 1);
});

test('an answer given before a kill -9 is the answer after it', async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const keys = Array.from({ length: 10 }, newKey);
  const first = await Promise.all(keys.map((key) => post(gateway.url, key, { item: key })));
  await gateway.kill();
  await gateway.restart();
  for (const [i, key] of keys.entries()) {
    const again = await post(gateway.url, key, { item: key });
    assert.equal(again.outcome, 'replayed');
    assert.deepEqual(said(again), said(first[i]));
    assert.deepEqual(await api.rows(key), [first[i].body]);
  }
});

test('an API that is down is no lost order: the retry runs once it is back', async (t) => {
  const port = await freePort();
  const gateway = await startGateway(t, `http://127.0.0.1:${port}`);
  const key = newKey();
  for (const _ of [1, 2]) {
    const answer = await post(gateway.url, key, { item: key });
    assert.deepEqual([answer.status, answer.outcome, answer.body.retryable], [502, 'not-executed', true]);
  }
  const api = await startJsonServer(t, { port });
  const answer = await post(gateway.url, key, { item: key });
  assert.deepEqual([answer.status, answer.outcome], [201, 'completed']);
  assert.equal((await post(gateway.url, key, { item: key })).outcome, 'replayed');
  assert.deepEqual(await api.rows(key), [answer.body]);
});

test('reads, and writes without a key, pass as if the gateway were not there', async (t) => {
  const api = await startJsonServer(t);
  const gateway = await startGateway(t, api.url);
  const send = (url, path, more) => fetch(url + path, more);
  const json = { 'Content-Type': 'application/json' };
  for (const id of ['a', 'b', 'c']) {
    const made = await send(gateway.url, '/orders', { method: 'POST', headers: json, body: JSON.stringify({ id, item: 'x' }) });
    assert.equal(made.status, 201);
  }
  const page = await send(gateway.url, '/orders?_page=2&_limit=1');
  assert.deepEqual((await page.json()).map((row) => row.id), ['b']);
  assert.equal(page.headers.get('x-total-count'), '3');
  assert.match(page.headers.get('link'), new RegExp(`<${gateway.url}/orders\\?_page=3`));
  // Not with fetch, which sends Cache-Control: no-cache beside a condition.
  const etag = (await send(api.url, '/orders/b')).headers.get('etag');
  const [cached] = await once(get(`${gateway.url}/orders/b`, { headers: { 'If-None-Match': etag }, agent: false }), 'response');
  cached.resume();
  assert.equal(cached.statusCode, 304);
  for (const _ of [1, 2]) {
    const put = await send(gateway.url, '/orders/a', { method: 'PUT', headers: json, body: JSON.stringify({ item: 'y' }) });
    assert.deepEqual(await put.json(), { id: 'a', item: 'y' });
  }
  assert.equal((await send(gateway.url, '/orders/a', { method: 'DELETE' })).status, 200);
  assert.equal((await send(gateway.url, '/orders/a', { method: 'DELETE' })).status, 404);
  assert.deepEqual((await (await send(gateway.url, '/orders')).json()).map((row) => row.id), ['b', 'c']);
});
