import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, startProcess } from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

/** Asks until the status is the one that is awaited. */
async function readyWith(server: ServerProcess, status: number): Promise<unknown> {
  for (;;) {
    const answer = await fetch(`${server.http}/ready`);
    const body = await answer.json();
    if (answer.status === status) return body;
  }
}

test.skipIf(noDisk)('a server whose disk is full is alive and not ready, until there is room', async () => {
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
