/** Ephemeral sessions and SIGKILL: running turns continue, and idle sessions are erased at the next start. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session } from '../packages/sdk/src/index.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { gatedModel } from './scripted-model.ts';
import { followed, getJson, postJson, type ServerProcess, startProcess, submit } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-ephemeral-'));
const model = gatedModel();
afterAll(async () => {
  await model.stop();
  rmSync(folder, { recursive: true, force: true });
});

const create = (server: ServerProcess, id: string) =>
  postJson(`${server.http}/v1/sessions/${id}/commands`, { type: 'session.create', ephemeral: true });

test('after a kill an unfinished turn continues, and an idle session is erased', async () => {
  const first = await startProcess(folder, model.settings);
  for (const id of ['idle', 'running']) await create(first, id);
  await submit(first, 'kept', 'Hello');
  await submit(first, 'running', 'Hello');
  await followed(first, 'running', (events) => events.some(({ type }) => type === 'turn.started'));
  await first.kill();

  await using second = await startProcess(folder, model.settings);
  model.release();
  const events = await followed(second, 'running', (all) => all.some(({ type }) => type === 'turn.ended'));
  expect(events.filter(({ type }) => type === 'turn.resumed')).toHaveLength(1);
  const listed = async (query: string) =>
    (await getJson<{ sessions: Session[] }>(`${second.http}/v1/sessions${query}`)).sessions.map(({ id }) =>
      String(id),
    );
  // Sessions are erased after the unfinished turns have been claimed.
  await until(async () => !(await listed('?ephemeral=only')).includes('idle'));
  expect(await listed('?ephemeral=only')).toEqual(['running']);
  expect(await listed('')).toEqual(['kept']);
});
