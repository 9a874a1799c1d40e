'use strict';
// The pattern as it is usually written by hand, in Node on PostgreSQL: one row a key, an INSERT that claims it, one hop
// to the API, an UPDATE that keeps the answer. It is the neighbour that `./dev bench` measures stet serve against.
//
//   node proxy.js PORT UPSTREAM_URL [POSTGRES_URL]     (or PGHOST, PGUSER, PGDATABASE … in the environment)
//
// What it lacks, each a defect that a retry can meet: a crash between INSERT and UPDATE leaves the key "in progress" for
// ever (no lease, and whoever added one by a time-out would run the request twice: no owner token); keys are not bound
// to a caller; a lost answer is recorded as nothing; rows are never swept.

const http = require('node:http');
const crypto = require('node:crypto');
const { Pool } = require('pg');

const [port, upstream, database] = process.argv.slice(2);
const pool = new Pool({ connectionString: database, max: 32 });
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

const CLAIM = {
  name: 'claim',
  text: `INSERT INTO idempotency_keys (key, fingerprint, created_at) VALUES ($1, $2, now())
         ON CONFLICT (key) DO NOTHING`,
};
const READ = { name: 'read', text: 'SELECT fingerprint, status, headers, body FROM idempotency_keys WHERE key = $1' };
const KEEP = {
  name: 'keep',
  text: 'UPDATE idempotency_keys SET status = $2, headers = $3, body = $4 WHERE key = $1',
};

function readAll(stream) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', reject);
  });
}

function forward(request, body) {
  return new Promise((resolve, reject) => {
    const headers = { ...request.headers, 'content-length': body.length };
    const onward = http.request(upstream + request.url, { method: request.method, headers, agent }, (answer) => {
      readAll(answer).then((bytes) => resolve({ status: answer.statusCode, headers: answer.headers, body: bytes }), reject);
    });
    onward.on('error', reject);
    onward.end(body);
  });
}

function send(response, { status, headers, body }) {
  const { connection, 'transfer-encoding': chunked, ...kept } = headers;
  response.writeHead(status, { ...kept, 'content-length': body.length });
  response.end(body);
}

const refuse = (response, status, text) => send(response, { status, headers: {}, body: Buffer.from(text) });

async function handle(request, response) {
  const body = await readAll(request);
  const key = request.headers['idempotency-key'];
  if (!key) return send(response, await forward(request, body));
  const fingerprint = crypto.createHash('sha256').update(request.method + request.url).update(body).digest();
  const claimed = await pool.query({ ...CLAIM, values: [key, fingerprint] });
  if (claimed.rowCount === 0) {
    const [row] = (await pool.query({ ...READ, values: [key] })).rows;
    if (!row.fingerprint.equals(fingerprint)) return refuse(response, 422, 'this key was used for another request');
    if (row.status === null) return refuse(response, 409, 'the first request is still running');
    return send(response, row);
  }
  const answer = await forward(request, body);
  await pool.query({ ...KEEP, values: [key, answer.status, answer.headers, answer.body] });
  send(response, answer);
}

async function main() {
  await pool.query(`CREATE TABLE IF NOT EXISTS idempotency_keys (
    key text PRIMARY KEY, fingerprint bytea NOT NULL, created_at timestamptz NOT NULL,
    status int, headers jsonb, body bytea)`);
  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => refuse(response, 500, String(error)));
  });
  server.listen(Number(port), '127.0.0.1');
}

main();
