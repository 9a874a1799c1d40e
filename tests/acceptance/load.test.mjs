// wrk, for three seconds: under load too, each key is one execution and nobody gets an error.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { post } from './support/client.mjs';
import { directoryOf, startGateway } from './support/processes.mjs';

// Counts executions by key: json-server writes its whole file for each row, and the load would be on that.
async function startCounter(t) {
  const executions = new Map();
  const server = createServer((request, answer) => {
    const key = request.headers['idempotency-key'];
    executions.set(key, (executions.get(key) ?? 0) + 1);
    request.resume().on('end', () => {
      answer.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify({ key, execution: executions.get(key) }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { url: `http://127.0.0.1:${server.address().port}`, executions };
}

// Each key goes out twice in a row, so that the two are often on their way at once.
const SCRIPT = `
local threads = 0
function setup(thread) threads = threads + 1; thread:set("id", threads) end
function init() sent = 0 end
function request()
  sent = sent + 1
  return wrk.format("POST", "/orders", {["Content-Type"] = "application/json", ["Idempotency-Key"] = id .. "-" .. math.ceil(sent / 2)}, '{"item":"load"}')
end
function done(summary)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"errors":%d}\\n', summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
`;

test('three seconds of wrk, every write sent twice: no error, and one execution for each key', async (t) => {
  const api = await startCounter(t);
  const gateway = await startGateway(t, api.url, '[defaults]\nin_progress = "wait"\n');
  const script = join(await directoryOf(t), 'twice.lua');
  await writeFile(script, SCRIPT);
  const wrk = spawn('wrk', ['-t2', '-c16', '-d3s', '--timeout', '10s', '-s', script, gateway.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  wrk.stdout.on('data', (text) => { out += text; });
  const [status] = await once(wrk, 'close');
  assert.equal(status, 0);
  const result = JSON.parse(out.match(/RESULT (.*)/)[1]);
  t.diagnostic(`${result.requests} answers, ${api.executions.size} keys`);
  assert.equal(result.errors, 0, out);
  assert.ok(result.requests >= 100, out);
  // wrk hangs up on what is still on its way at the end: at most one for each connection.
  assert.ok(Math.abs(api.executions.size - result.requests / 2) <= 16, `${api.executions.size} keys executed`);
  assert.deepEqual([...api.executions].filter(([, times]) => times !== 1), []);

  for (const key of [...api.executions.keys()].slice(0, 50)) {
    const again = await post(gateway.url, key, { item: 'load' });
    assert.deepEqual([again.status, again.outcome, again.body], [201, 'replayed', { key, execution: 1 }]);
  }
});
