'use strict';
// The same service without a gateway: it claims the key, charges and keeps the answer in one transaction. A duplicate that
// comes meanwhile waits for the commit, and gets the first one's answer.
//   PORT=3000 DATABASE_URL=postgresql://… node alone.js
const http = require('node:http');
const { Pool } = require('pg');

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const lost = (error) => console.error(`lost a connection: ${error.message}`);
pool.on('error', lost).on('connect', (client) => client.on('error', lost)); // idle, and between two statements
const JSON_TYPE = [['Content-Type', 'application/json']];
const CLAIM = "SELECT * FROM stet.claim(encode(sha256(convert_to($1, 'UTF8')), 'hex'), $2, convert_to($3, 'UTF8'))";
const KEY = /^(?:"([!#-~]{1,255})"|([!#-~]{1,255}))$/;

// [status, headers, body]. `caller` makes two callers' equal keys two; what the request means makes a key one request's.
async function charge(caller, key, { amount, note }) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows: [claim] } = await client.query(CLAIM, [caller, key, JSON.stringify(['POST /charges', amount, note])]);
    let out;
    if (claim.verdict === 'claimed') {
      const { rows } = await client.query('INSERT INTO charges (amount, note) VALUES ($1, $2) RETURNING *', [amount, note]);
      out = [201, JSON_TYPE, Buffer.from(JSON.stringify(rows[0]))];
      await client.query('SELECT stet.complete($1, $2, $3, $4)', [claim.token, out[0], JSON.stringify(out[1]), out[2]]);
    } else if (claim.verdict === 'replay') {
      out = [claim.status, [...claim.headers, ['Idempotent-Replayed', 'true']], claim.body];
    } else if (claim.verdict === 'mismatch') {
      out = [422, JSON_TYPE, '{"error": "this key came with another request"}'];
    } else {
      out = [409, [...JSON_TYPE, ['Retry-After', '1']], `{"error": "this key is ${claim.verdict}"}`];
    }
    await client.query('COMMIT');
    client.release();
    return out;
  } catch (error) {
    client.release(error); // closes the connection, and with it the transaction
    throw error;
  }
}

const server = http.createServer(async (request, response) => {
  const answer = (status, headers, body) => response.writeHead(status, headers.flat()).end(body);
  const refuse = (status, why) => answer(status, JSON_TYPE, JSON.stringify({ error: why }));
  try {
    if (request.url !== '/charges') return refuse(404, 'not found');
    if (request.method === 'GET') {
      return answer(200, JSON_TYPE, JSON.stringify({ data: (await pool.query('SELECT * FROM charges ORDER BY id')).rows }));
    }
    const input = JSON.parse(Buffer.concat(await request.toArray()));
    const [, quoted, bare] = KEY.exec(request.headers['idempotency-key']) ?? []; // two of the header are one with ", "
    if (!quoted && !bare) return refuse(400, 'one Idempotency-Key of 1 to 255 characters is needed');
    if (!(input.amount > 0)) return refuse(422, 'an amount is positive');
    answer(...(await charge(request.headers.authorization ?? '', quoted ?? bare, input)));
  } catch (error) {
    console.error(error.message);
    refuse(500, 'ask again with the same key');
  }
});
server.listen(process.env.PORT, '127.0.0.1');
