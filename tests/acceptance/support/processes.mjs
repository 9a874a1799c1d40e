// The gateway and the API as processes of a test: on free ports, in a directory of the test's own, killed at its end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const stet = resolve(process.env.STET_BINARY ?? join(root, 'build/release/apps/stet/stet'));
const jsonServer = fileURLToPath(new URL('../node_modules/json-server/lib/cli/bin.js', import.meta.url));
const START_MS = 20_000;

// Removed at the test's end, when `whoever` writes there has gone.
export async function directoryOf(t, whoever = async () => {}) {
  const directory = await mkdtemp(join(tmpdir(), 'stet-acceptance-'));
  t.after(async () => {
    await whoever();
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function listens(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function ended(child) {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function kill(child) {
  if (!child) return;
  child.kill('SIGKILL');
  await ended(child);
}

// json-server (github.com/typicode/json-server): POST /orders appends a row, whoever asks and however often.
export async function startJsonServer(t, { port, delay = 0, cors = true } = {}) {
  port ??= await freePort();
  let child;
  const file = join(await directoryOf(t, () => kill(child)), 'db.json');
  await writeFile(file, JSON.stringify({ orders: [] }));
  child = spawn(process.execPath, [jsonServer, file, '--host', '127.0.0.1', '--port', String(port),
    '--delay', String(delay), ...(cors ? [] : ['--nc'])], { stdio: 'ignore' });
  for (const end = Date.now() + START_MS; !(await listens(port)); await sleep(20)) {
    if (child.exitCode !== null || Date.now() > end) throw new Error('json-server did not start');
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    // Answered after `delay` on purpose: whatever runs by now has been written by then.
    rows: async (item) => (await (await fetch(`${url}/orders?item=${encodeURIComponent(item)}`)).json()),
  };
}

// `stet serve` on a store of its own. After a kill it starts again on the same address and the same store.
export async function startGateway(t, upstream, settings = '') {
  await access(stet).catch(() => { throw new Error(`${stet} is missing: ./dev build`); });
  let child;
  const directory = await directoryOf(t, () => kill(child));
  const gateway = { listen: '127.0.0.1:0', log: [] };

  gateway.start = async () => {
    await writeFile(join(directory, 'stet.toml'),
      `upstream = "${upstream}"\nlisten = "${gateway.listen}"\nadmin = "127.0.0.1:0"\n` +
      `store = "sqlite:${join(directory, 'stet.db')}"\n${settings}`);
    child = spawn(stet, ['serve', '--config', join(directory, 'stet.toml')], { stdio: ['ignore', 'pipe', 'pipe'] });
    const errors = createInterface({ input: child.stderr });
    const ready = new Promise((resolveReady, reject) => {
      const late = setTimeout(() => reject(new Error(`no ready line:\n${gateway.log.join('\n')}`)), START_MS);
      const read = (line) => {
        gateway.log.push(line);
        if (!line.includes('"ready"')) return;
        clearTimeout(late);
        resolveReady(JSON.parse(line));
      };
      errors.on('line', read);
      createInterface({ input: child.stdout }).on('line', read);
      child.once('exit', () => {
        clearTimeout(late);
        reject(new Error(`ended:\n${gateway.log.join('\n')}`));
      });
    });
    gateway.listen = (await ready).listen.replace(/^https?:\/\//, '').replace(/\/$/, '');
    gateway.url = `http://${gateway.listen}`;
    return gateway;
  };
  gateway.kill = () => kill(child);
  gateway.restart = async () => {
    await ended(child);
    return gateway.start();
  };
  return gateway.start();
}
