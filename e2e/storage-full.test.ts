/** The disk fills up while the server runs: errors are reported, reading works, and everything continues with space. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type DurableEvent, textOf } from '../packages/protocol/src/index.ts';
import type { TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS } from './drivers.ts';
import {
  durableOf,
  followed,
  getJson,
  postJson,
  type ServerProcess,
  startProcess,
  submit,
} from './server-process.ts';
import { mountDisk, noDisk } from './small-disk.ts';

const FULL = 'The server has no space left to store anything.';
const LOGGED = { LOG_LEVEL: 'info' };

const count = (events: readonly DurableEvent[], type: DurableEvent['type']): number =>
  events.filter((event) => event.type === type).length;
const inputs = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'input.accepted' ? [textOf(event.parts)] : []));
const ended =
  (turns: number) =>
  (events: readonly DurableEvent[]): boolean =>
    count(events, 'turn.ended') === turns;

function whole(events: readonly DurableEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
}

const command = (server: ServerProcess, session: string, text: string) =>
  postJson(`${server.http}/v1/sessions/${session}/commands`, {
    type: 'input.submit',
    parts: [{ type: 'text', text }],
  });

const tokenOf = async (server: ServerProcess): Promise<string> => {
  const login = { username: 'dev', password: 'dev-password' };
  return String((await postJson(`${server.http}/v1/auth/login`, login)).body.access_token);
};

describe.skipIf(noDisk)('a disk that fills up (skipped if none can be mounted)', () => {
  test('every dialect reports an error to the sender, stores nothing, and continues when there is space', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path, LOGGED);
    const token = await tokenOf(server);
    const bearer = { authorization: `Bearer ${token}` };
    const drivers = await Promise.all(
      Object.entries(DRIVERS).map(async ([name, connect]) => {
        await postJson(`${server.http}/v1/sessions/${name}/commands`, { type: 'session.create' }, bearer);
        const driver = await connect(server as unknown as TestServer, name, token);
        driver.say('echo before');
        await driver.answer();
        return { name, driver };
      }),
    );
    await submit(server, 'native', 'echo before');
    disk.fill();

    for (const { driver } of drivers) {
      driver.say('echo lost');
      const error = await driver.client.next((frame) => frame.type === 'error');
      expect(JSON.stringify(error)).toContain(FULL);
    }
    const refusal = await command(server, 'native', 'echo lost');
    expect(refusal.status).toBe(503);
    expect(refusal.body.error).toEqual({ code: 'storage_unavailable', message: FULL });
    const task = { url: 'https://shop.example/', query: 'click Buy', dom: '<button id="1">Buy</button>' };
    const interact = await postJson(`${server.http}/api/agent/interact`, task, bearer);
    expect(interact).toMatchObject({ status: 503, body: { code: 'INTERNAL_ERROR', message: FULL } });
    await server.logged('failed to handle message');

    // Reading needs no space, cached or not.
    const listed = await fetch(`${server.http}/v1/sessions`, { headers: bearer });
    const { sessions } = (await listed.json()) as { sessions: { id: string }[] };
    expect(sessions.map(({ id }) => id).sort()).toEqual(Object.keys(DRIVERS).sort());
    expect(inputs(await durableOf(server, 'native'))).toEqual(['echo before']);

    disk.free();
    for (const { driver } of drivers) {
      driver.say('echo after');
      for (let answer = ''; !answer.includes('after'); ) answer = await driver.answer();
    }
    expect(await submit(server, 'native', 'echo after')).toBe(true);
    const events = await followed(server, 'native', ended(2));
    whole(events);
    expect(inputs(events)).toEqual(['echo before', 'echo after']);
  });

  test('a running turn waits, reports it in the log, and ends by itself when there is space', async () => {
    using disk = mountDisk(16);
    // The disk is full before the answer ends.
    await using server = await startProcess(disk.path, { ...LOGGED, PARLANCE_OFFLINE_DELAY: '30' });
    const client = await server.connect('/agentloop?session=long');
    const content = [{ type: 'input_text', text: 'count to 200' }];
    const input = [{ type: 'message', role: 'user', content }];
    client.send({ id: 'one', type: 'user_input', payload: { input } });
    await client.next('response_item');
    expect(await submit(server, 'long', 'echo next')).toBe(true);
    disk.fill();
    await server.logged('session stopped');
    const held = await durableOf(server, 'long');
    expect(count(held, 'turn.ended') + count(held, 'turn.failed')).toBe(0);
    const now = await getJson<{ now: { turn: unknown; queued: number } }>(`${server.http}/v1/sessions/long`);
    expect(now.now.queued).toBe(1);

    disk.free();
    const events = await followed(server, 'long', ended(2));
    whole(events);
    expect(inputs(events)).toEqual(['count to 200', 'echo next']);
    expect(count(events, 'step.restarted')).toBe(1);
    const [first] = events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
    expect(first).toContain('200');
    await client.next('agent_finished');

    // The state in memory equals the state on disk.
    await server.kill();
    await using again = await startProcess(disk.path);
    expect(await durableOf(again, 'long')).toEqual(events);
  });

  test('a call whose outcome could not be stored is reported as unknown, and is not repeated', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path, LOGGED);
    Bun.spawnSync(['mkfifo', join(disk.path, 'gate')]);
    await submit(server, 'effect', 'run sh -c "echo once >> effect.txt; cat gate"');
    const asked = await followed(server, 'effect', (events) => count(events, 'approval.requested') === 1);
    const [approval] = asked.flatMap((event) =>
      event.type === 'approval.requested' ? [event.approval] : [],
    );
    await postJson(`${server.http}/v1/approvals/${approval}`, { answer: 'once' });
    // Opening it for writing blocks until the command, which has done its work by then, opens it for reading.
    const gate = await open(join(disk.path, 'gate'), 'w');
    disk.fill();
    await gate.close();
    await server.logged('session stopped');

    disk.free();
    const events = await followed(server, 'effect', ended(1));
    whole(events);
    expect(count(events, 'tool.started')).toBe(1);
    expect(events.flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []))).toEqual([
      'unknown',
    ]);
    expect(readFileSync(join(disk.path, 'effect.txt'), 'utf8')).toBe('once\n');
  });

  test('a stopped server exits cleanly, and acknowledged data is preserved', async () => {
    using disk = mountDisk(16);
    await using server = await startProcess(disk.path);
    // So large that the database must grow.
    await submit(server, 'kept', `echo ${'x'.repeat(200_000)}`);
    const events = await followed(server, 'kept', ended(1));
    disk.fill();
    process.kill(server.pid, 'SIGTERM');
    expect(await server.stderr()).toBe('');
    disk.free();
    await using again = await startProcess(disk.path);
    expect(await durableOf(again, 'kept')).toEqual(events);
  });

  test('data acknowledged while it filled up survives a kill, and refused data is not stored', async () => {
    using disk = mountDisk(8);
    await using server = await startProcess(disk.path);
    const kept: string[] = [];
    const refused: string[] = [];
    // Fills the disk with messages: the log grows, is checkpointed, and grows again.
    for (let number = 0; refused.length < 3; number++) {
      const text = `echo ${number} ${'x'.repeat(40_000)}`;
      const { status } = await command(server, `s${number % 5}`, text);
      expect([200, 503]).toContain(status);
      (status === 200 ? kept : refused).push(text);
    }
    await server.kill();
    const bigger = Bun.spawnSync(['mount', '-o', 'remount,size=64m', disk.path]);
    expect(bigger.exitCode).toBe(0);
    await using again = await startProcess(disk.path);
    const sessions = ['s0', 's1', 's2', 's3', 's4'];
    const found: string[] = [];
    for (const session of sessions) {
      const events = await durableOf(again, session);
      whole(events);
      found.push(...inputs(events));
    }
    expect(found.sort()).toEqual(kept.sort());
  });
});
