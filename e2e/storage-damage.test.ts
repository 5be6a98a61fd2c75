/**
 * Bytes of the database are overwritten while the server runs: the affected session reports an error, others
 * continue.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import {
  durableOf,
  followed,
  getJson,
  postJson,
  type ServerProcess,
  startProcess,
  submit,
} from './server-process.ts';

const PAGE = 4096;
let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-damage-'));
  path = join(folder, 'data', 'parlance.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Checkpoints the log, and makes every process read the file again. */
function settle(): void {
  using database = new Database(path);
  database.run('UPDATE sessions SET head = head');
  database.run('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Overwrites the bytes of `words`, or every page that contains them. Returns the number of matches. */
function overwrite(words: string, what: 'words' | 'pages'): number {
  const bytes = readFileSync(path);
  const places = new Map<number, number>();
  for (let at = bytes.indexOf(words); at >= 0; at = bytes.indexOf(words, at + words.length)) {
    if (what === 'words') places.set(at, words.length);
    else places.set(at - (at % PAGE), PAGE);
  }
  const file = openSync(path, 'r+');
  for (const [at, length] of places) writeSync(file, Buffer.alloc(length, 0x01), 0, length, at);
  closeSync(file);
  return places.size;
}

const ask = (server: ServerProcess, session: string, text: string) =>
  postJson(`${server.http}/v1/sessions/${session}/commands`, {
    type: 'input.submit',
    parts: [{ type: 'text', text }],
  });
const rested = (server: ServerProcess, session: string, turns: number) =>
  followed(server, session, (events) => events.filter(({ type }) => type === 'turn.ended').length === turns);

// So long that the text has pages of its own: shared pages contain only the start of a session.
const long = (word: string) => `echo ${'-'.repeat(2_000)} ${`${word} `.repeat(4_000)}`;

async function begun(server: ServerProcess): Promise<DurableEvent[]> {
  for (const [session, word] of [
    ['well', 'unhurt'],
    ['hurt', 'victim'],
  ] as const) {
    await submit(server, session, long(word));
    await rested(server, session, 1);
  }
  await submit(server, 'asks', 'run touch made.txt');
  await followed(server, 'asks', (events) => events.some(({ type }) => type === 'approval.requested'));
  return durableOf(server, 'well');
}

test('a session with overwritten bytes is reported as damaged, and the others continue', async () => {
  await using server = await startProcess(folder, { LOG_LEVEL: 'info' });
  const before = await begun(server);
  settle();
  expect(overwrite('victim victim victim', 'words')).toBeGreaterThan(10);
  settle();

  const read = await fetch(`${server.http}/v1/sessions/hurt/events`);
  expect(read.status).toBe(503);
  const error = { code: 'storage_unavailable', message: 'Event 2 of the session is damaged.' };
  expect(await read.json()).toMatchObject({ error });
  await server.logged('event 2 of session [\\"local\\",\\"hurt\\"] is damaged');

  expect(await durableOf(server, 'well')).toEqual(before);
  expect(await submit(server, 'well', 'echo again')).toBe(true);
  await rested(server, 'well', 2);
  expect(await submit(server, 'new', 'echo hello')).toBe(true);
  await rested(server, 'new', 1);
  const { approvals } = await getJson<{ approvals: { id: string; session: string }[] }>(
    `${server.http}/v1/approvals`,
  );
  expect(approvals.map(({ session }) => session)).toEqual(['asks']);
  const answered = await postJson(`${server.http}/v1/approvals/${approvals[0]?.id}`, { answer: 'deny' });
  expect(answered.status).toBe(200);
  await server.kill();

  // The checkpoint still provides the state; anything that needs the events reports the error.
  await using again = await startProcess(folder, { LOG_LEVEL: 'info' });
  expect(await submit(again, 'well', 'echo third')).toBe(true);
  await rested(again, 'well', 3);
  await submit(again, 'hurt', 'echo still there?');
  await again.logged('"code":"storage_unavailable","reason":"Event 2 of the session is damaged."');
  const { status } = await getJson<{ status: string }>(`${again.http}/v1/sessions/hurt`);
  expect(['failed', 'running']).toContain(status);
});

test('overwritten pages are answered with a fault: nothing hangs, and the process stays alive', async () => {
  await using server = await startProcess(folder);
  await begun(server);
  settle();
  expect(overwrite('victim victim victim', 'pages')).toBeGreaterThan(3);
  settle();
  const read = await fetch(`${server.http}/v1/sessions/hurt/events`);
  expect(read.status).toBe(503);
  const message = 'The stored data of the server is damaged.';
  expect(await read.json()).toMatchObject({ error: { code: 'storage_unavailable', message } });
  expect((await fetch(`${server.http}/v1/sessions`)).status).toBe(200);
  for (const session of ['hurt', 'well', 'asks', 'new'])
    expect([200, 503]).toContain((await ask(server, session, 'echo still there?')).status);
  expect((await fetch(`${server.http}/health`)).status).toBe(200);
});
