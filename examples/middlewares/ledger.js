'use strict';
// The effect of both APIs: one entry in a Redis list, after the time that a payment takes. It stays when the API dies.

const { createClient } = require('redis');

const WORK_MS = 15; // before the effect, and after it

const pause = () => new Promise((done) => setTimeout(done, WORK_MS));

async function openLedger(url) {
  const redis = createClient({ url });
  await redis.connect();
  return {
    async charge(order) {
      await pause();
      const number = await redis.rPush('ledger:charges', JSON.stringify(order));
      await pause();
      return { id: `charge-${String(number).padStart(8, '0')}`, amount: order.amount };
    },
    count: () => redis.lLen('ledger:charges'),
  };
}

const isValid = (order) => Number.isInteger(order?.amount) && order.amount > 0;

function settings() {
  const [port, redisUrl] = process.argv.slice(2);
  return { port: Number(port), redisUrl };
}

module.exports = { openLedger, isValid, settings };
