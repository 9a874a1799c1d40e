// Stands between a client and the gateway and loses answers: a train in a tunnel, a NAT that forgot.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export async function startLossyProxy(t, target) {
  const [host, port] = target.split(':');
  const proxy = { losing: 0, lost: 0 };
  const sockets = new Set();
  const server = createServer((client) => {
    const gateway = connect(Number(port), host);
    for (const socket of [client, gateway]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('close', () => gateway.destroy());
    gateway.on('close', () => client.destroy());
    client.pipe(gateway);
    gateway.on('data', (answer) => {
      if (proxy.losing === 0) return client.write(answer);
      // The first byte of an answer has come, so the gateway has kept it. The client sees a reset.
      proxy.losing -= 1;
      proxy.lost += 1;
      client.resetAndDestroy();
      gateway.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${server.address().port}`;
  return proxy;
}
