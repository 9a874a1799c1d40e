// A client as its authors would write it: Node's fetch, one key for one intent, and the contract's own word on retries.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export const newKey = () => randomUUID();

export async function post(url, key, body, more = {}) {
  const answer = await fetch(`${url}/orders`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    ...more,
  });
  return {
    status: answer.status,
    outcome: answer.headers.get('stet-outcome'),
    replayed: answer.headers.get('idempotent-replayed'),
    headers: answer.headers,
    body: await answer.json(),
  };
}

// Sends until there is a final answer: after a lost connection, and after a problem that says it can be sent again.
export async function postUntilAnswered(url, key, body, { attempts = 20, pauseMs = 300 } = {}) {
  for (let attempt = 1; ; ++attempt) {
    try {
      const answer = await post(url, key, body);
      if (!answer.body.retryable || attempt === attempts) return { ...answer, attempts: attempt };
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    await sleep(pauseMs);
  }
}

// What must be equal in every repeat: all that the API said. Date and the framing are each message's own.
export function said(answer) {
  const own = /^(date|connection|keep-alive|content-length|transfer-encoding|idempotent-replayed|stet-outcome)$/;
  return { status: answer.status, body: answer.body, headers: [...answer.headers].filter(([name]) => !own.test(name)) };
}
