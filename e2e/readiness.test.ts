import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { type ServerProcess, spawnProcess, startProcess, submit } from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

/** Polls until the status is the expected one. */
const readyWith = (server: ServerProcess, status: number): Promise<unknown> =>
  until(async () => {
    const answer = await fetch(`${server.http}/ready`);
    const body: unknown = await answer.json();
    return answer.status === status && body;
  });

test.skipIf(noDisk)('a server with a full disk is alive but not ready until there is space', async () => {
  using disk = mountDisk(8);
  const folder = mkdtempSync(join(tmpdir(), 'parlance-ready-'));
  await using server = await startProcess(folder, { PARLANCE_DATA: join(disk.path, 'data') });
  expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
  disk.fill();
  expect(await readyWith(server, 503)).toMatchObject({ reason: 'storage_unavailable' });
  expect((await fetch(`${server.http}/health`)).status).toBe(200);
  disk.free();
  expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
  await server.terminate();
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(noDisk)(
  'a server that refuses inputs on a nearly full disk is not ready until it accepts them',
  async () => {
    using disk = mountDisk(16);
    const folder = mkdtempSync(join(tmpdir(), 'parlance-ready-'));
    await using server = await startProcess(folder, { PARLANCE_DATA: join(disk.path, 'data') });
    const large = `echo ${'x'.repeat(3_000_000)}`;
    expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
    // Enough for a page, which a probe writes, and for small inputs.
    disk.fillBut(2_000_000);
    expect(await submit(server, 'a', large)).toBe(false);
    expect(await readyWith(server, 503)).toEqual({
      status: 'unavailable',
      reason: 'storage_unavailable',
      detail: 'The server has no space left to store anything.',
    });
    disk.free();
    expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
    expect(await submit(server, 'a', large)).toBe(true);
    expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
    await server.terminate();
    rmSync(folder, { recursive: true, force: true });
  },
);

test.skipIf(noDisk)(
  'a nearly full disk makes the server not ready before the first input is refused',
  async () => {
    using disk = mountDisk(16);
    const folder = mkdtempSync(join(tmpdir(), 'parlance-ready-'));
    await using server = await startProcess(folder, { PARLANCE_DATA: join(disk.path, 'data') });
    disk.fillBut(40_000);
    expect(await readyWith(server, 503)).toMatchObject({ reason: 'storage_unavailable' });
    disk.free();
    expect(await readyWith(server, 200)).toEqual({ status: 'ready' });
    await server.terminate();
    rmSync(folder, { recursive: true, force: true });
  },
);

test('a server that answers has applied AUTH_USERS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-users-'));
  const port = String(freePort());
  const http = `http://127.0.0.1:${port}`;
  const statusOf = async (password: string) => {
    const body = JSON.stringify({ username: 'dev', password });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${http}/v1/auth/login`, { method: 'POST', headers, body })).status;
  };
  const users = (password: string) => ({ PORT: port, AUTH_USERS: `dev:${password}:developer` });
  const first = await startProcess(folder, users('first-password'));
  await first.terminate();
  const second = spawnProcess(folder, users('second-password'));
  try {
    await until(() =>
      fetch(`${http}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    expect(await Promise.all([statusOf('second-password'), statusOf('first-password')])).toEqual([200, 401]);
    await second.listening;
  } finally {
    await second.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
