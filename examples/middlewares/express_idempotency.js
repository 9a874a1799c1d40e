'use strict';
// express-idempotency with its Redis adapter, put together as their READMEs show.
// node express_idempotency.js PORT REDIS_URL

const express = require('express');
const { idempotency, getSharedIdempotencyService } = require('express-idempotency');
const RedisAdapter = require('express-idempotency-redis-adapter').default;
const { openLedger, isValid, settings } = require('./ledger');

async function main() {
  const { port, redisUrl } = settings();
  const ledger = await openLedger(redisUrl);
  const dataAdapter = new RedisAdapter({ connectionConfig: { url: redisUrl } });
  await dataAdapter.connect();

  const app = express();
  app.use(express.json());
  app.get('/charges', async (req, res) => res.json({ count: await ledger.count() }));
  app.use(idempotency({ dataAdapter }));

  async function make(req, res) {
    const service = getSharedIdempotencyService();
    if (service.isHit(req)) return;
    if (!isValid(req.body)) {
      service.reportError(req);
      res.status(400).json({ error: 'amount must be a whole number above 0' });
      return;
    }
    const made = await ledger.charge(req.body);
    res.status(201).location(`${req.path}/${made.id}`).json(made);
  }
  const handler = (req, res, next) => make(req, res).catch(next);
  app.post('/charges', handler);
  app.post('/refunds', handler);
  app.listen(port, '127.0.0.1');
}

main();
