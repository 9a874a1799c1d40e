// Chromium itself: its preflights, its rules on what a script may read, its aborted requests and reloaded pages.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { newKey } from './support/client.mjs';
import { startGateway, startJsonServer } from './support/processes.mjs';

const DELAY = 400;  // ms from the whole request to the row
// A request that is given up LEFT ms after its start has reached the API by then, and its row is not there yet.
const LEFT = 700, LONG = 1500;

// The shop's page. `order` is what every button and test here runs; what it saw is what a script may read.
const PAGE = `<!doctype html><html lang="en"><title>Shop</title><button>Order</button><script>
const order = async (url, key, signal) => {
  const answer = await fetch(url + '/orders', {
    method: 'POST', body: JSON.stringify({item: key}), signal,
    headers: {'Content-Type': 'application/json', 'Idempotency-Key': key},
  });
  const read = (name) => answer.headers.get(name);
  return {status: answer.status, outcome: read('Stet-Outcome'), replayed: read('Idempotent-Replayed'),
          operation: read('Stet-Operation'), until: read('Stet-Replayable-Until'), location: read('Location'),
          retryAfter: read('Retry-After'), body: await answer.json()};
};
</script></html>`;

let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--no-proxy-server',
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1'],
  });
});

after(() => browser?.close());

async function startPageServer(t) {
  const server = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(PAGE)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://localhost:${server.address().port}`;
}

// The page on its origin, the gateway on another that allows it, json-server behind.
async function openShop(t, { settings = '', delay = 0, cors = false, allowed = true } = {}) {
  const origin = await startPageServer(t);
  const api = await startJsonServer(t, { delay, cors });
  const gateway = await startGateway(t, api.url, allowed ? `cors.origins = ["${origin}"]\n${settings}` : settings);
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(origin);
  const send = (key) => page.evaluate(([url, k]) => order(url, k), [gateway.url, key]);
  return { api, gateway, page, origin, send, complaints };
}

for (const cors of [false, true]) {
  test(`a script reads both answers of a POST sent twice, before an API that ${cors ? 'answers' : 'knows nothing of'} preflights`,
    async (t) => {
      const { api, send, complaints } = await openShop(t, { cors });
      const key = newKey();
      const first = await send(key);
      const again = await send(key);
      assert.deepEqual([first.status, first.outcome, first.replayed], [201, 'completed', null]);
      assert.deepEqual([again.status, again.outcome, again.replayed], [201, 'replayed', 'true']);
      assert.deepEqual(again.body, first.body);
      for (const name of ['operation', 'until', 'location']) {
        assert.ok(first[name], `${name} cannot be read`);
        assert.equal(again[name], first[name]);
      }
      assert.deepEqual(complaints, []);
      assert.deepEqual(await api.rows(key), [first.body]);
    });
}

test('an origin that is not allowed reads nothing, and without cors.origins its preflight executes nothing', async (t) => {
  const { api, send } = await openShop(t, { allowed: false });
  const key = newKey();
  for (const _ of [1, 2]) await assert.rejects(send(key), /Failed to fetch/);
  assert.deepEqual(await api.rows(key), []);
});

test('a script reads problems and their Retry-After too', async (t) => {
  const { api, page, gateway } = await openShop(t, { delay: DELAY });
  const key = newKey();
  const answers = await page.evaluate(([url, k]) => Promise.all([order(url, k), order(url, k)]), [gateway.url, key]);
  const refused = answers.find((answer) => answer.status === 409);
  assert.deepEqual([refused?.outcome, refused?.body.retryable], ['in-progress', true]);
  assert.ok(Number(refused.retryAfter) >= 1);
  assert.equal((await api.rows(key)).length, 1);
});

test('a double click on a button sends two, and both get the one answer', async (t) => {
  const { api, page, gateway, complaints } = await openShop(t, { delay: DELAY, settings: '[defaults]\nin_progress = "wait"\n' });
  const key = newKey();
  await page.evaluate(([url, k]) => {
    window.clicks = [];
    document.querySelector('button').onclick = () => window.clicks.push(order(url, k));
  }, [gateway.url, key]);
  await page.dblclick('button');
  const answers = await page.evaluate(() => Promise.all(window.clicks));
  assert.deepEqual(answers.map((answer) => answer.outcome).sort(), ['completed', 'replayed']);
  assert.deepEqual(answers[0].body, answers[1].body);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await api.rows(key), [answers[0].body]);
});

test('a fetch that was aborted goes on, and its retry gets the first answer', async (t) => {
  const { api, page, gateway, send } = await openShop(t, { cors: true, delay: LONG, settings: '[defaults]\nin_progress = "wait"\n' });
  const key = newKey();
  const lost = await page.evaluate(async ([url, k, left]) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), left);
    return order(url, k, abort.signal).catch((error) => error.name);
  }, [gateway.url, key, LEFT]);
  assert.equal(lost, 'AbortError');
  const retry = await send(key);
  assert.deepEqual([retry.status, retry.outcome, retry.replayed], [201, 'replayed', 'true']);
  assert.deepEqual((await send(key)).body, retry.body);
  assert.deepEqual(await api.rows(key), [retry.body]);
});

test('a page reloaded in mid-request that kept its key gets the first answer', async (t) => {
  const { api, page, gateway } = await openShop(t, { cors: true, delay: LONG, settings: '[defaults]\nin_progress = "wait"\n' });
  const key = newKey();
  await page.evaluate(([url, k, left]) => {
    sessionStorage.setItem('key', k);
    order(url, k);
    return new Promise((resolve) => setTimeout(resolve, left));
  }, [gateway.url, key, LEFT]);
  await page.reload();
  const retry = await page.evaluate((url) => order(url, sessionStorage.getItem('key')), gateway.url);
  assert.deepEqual([retry.status, retry.outcome], [201, 'replayed']);
  assert.deepEqual(await api.rows(key), [retry.body]);
});

test("a problem's type and the contract are pages without a complaint, at any width, in light and in dark", async (t) => {
  const { page, gateway, complaints } = await openShop(t, {
    settings: '[[route]]\nmatch = "POST /orders"\nkey = "required"\n\n[[route]]\nmatch = "POST,PATCH /a/rather/long/path/with/*/segments/**"\n' });
  const paths = ['contract', 'problems/', 'problems/outcome-unknown', 'problems/key-reused'];
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const path of paths) {
        const answer = await page.goto(`${gateway.url}/.well-known/stet/${path}`);
        assert.equal(answer.status(), 200);
        assert.ok(await page.locator('h1').isVisible());
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} at ${width} px runs over`);
        const ink = await page.evaluate(() => getComputedStyle(document.body).color);
        assert.equal(ink, colorScheme === 'light' ? 'rgb(0, 0, 0)' : 'rgb(255, 255, 255)');
        if (process.env.STET_SCREENSHOTS) {
          await page.screenshot({ fullPage: true,
            path: `${process.env.STET_SCREENSHOTS}/${path.replace(/\W/g, '_')}_${colorScheme}_${width}.png` });
        }
      }
    }
  }
  await page.goto(`${gateway.url}/.well-known/stet/contract`);
  await page.getByRole('link').first().click();
  await page.getByRole('link', { name: 'outcome-unknown' }).click();
  assert.match(page.url(), /problems\/outcome-unknown$/);
  // A browser asks for an icon by itself; that the API has none is the API's word.
  assert.deepEqual(complaints.filter((text) => !/favicon|404/.test(text)), []);
});
