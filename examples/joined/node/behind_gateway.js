'use strict';
// A charges service behind the gateway, on a route with upstream_joins = true: the charge and the answer that every retry
// gets commit together, or neither does.
//   PORT=3000 DATABASE_URL=postgresql://… node behind_gateway.js
const http = require('node:http');
const { Pool } = require('pg');

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const lost = (error) => console.error(`lost a connection: ${error.message}`);
pool.on('error', lost).on('connect', (client) => client.on('error', lost)); // idle, and between two statements
const JSON_TYPE = [['Content-Type', 'application/json']];

async function charge(token, { amount, note }) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query('INSERT INTO charges (amount, note) VALUES ($1, $2) RETURNING *', [amount, note]);
    const body = JSON.stringify(rows[0]);
    // Fails with SQLSTATE STET1 when the key has gone to another attempt: then this charge is undone, too.
    await client.query('SELECT stet.complete($1, 201, $2, $3)', [token, JSON.stringify(JSON_TYPE), Buffer.from(body)]);
    await client.query('COMMIT');
    client.release();
    return body;
  } catch (error) {
    client.release(error); // closes the connection, and with it the transaction
    throw error;
  }
}

const server = http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, JSON_TYPE.flat()).end(body);
  try {
    if (request.url !== '/charges') return answer(404, '{"error": "not found"}');
    if (request.method === 'GET') {
      return answer(200, JSON.stringify({ data: (await pool.query('SELECT * FROM charges ORDER BY id')).rows }));
    }
    const input = JSON.parse(Buffer.concat(await request.toArray()));
    if (!(input.amount > 0)) return answer(422, '{"error": "an amount is positive"}');
    answer(201, await charge(request.headers['stet-token'], input));
  } catch (error) {
    console.error(error.message);
    answer(500, '{"error": "not charged, as far as this service knows: ask again with the same key"}');
  }
});
server.listen(process.env.PORT, '127.0.0.1');
