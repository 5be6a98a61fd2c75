/** The server is killed with SIGKILL during its work, and restarted on the same folder. */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
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
  submitKeyed,
} from './server-process.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-crash-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));
/** An answer that is interrupted lasts longer than what a test does meanwhile. */
const [SLOW, QUICK] = [{ PARLANCE_OFFLINE_DELAY: '50' }, { PARLANCE_OFFLINE_DELAY: '0' }];

const count = (events: readonly DurableEvent[], type: DurableEvent['type']): number =>
  events.filter((event) => event.type === type).length;
const ended =
  (turns: number) =>
  (events: readonly DurableEvent[]): boolean =>
    count(events, 'turn.ended') === turns;
const inputs = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'input.accepted' ? [textOf(event.parts)] : []));

/** Checks for sequence numbers without a gap, unique ids, and one end per turn. */
function whole(events: readonly DurableEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const ends = count(events, 'turn.ended') + count(events, 'turn.cancelled') + count(events, 'turn.failed');
  expect(ends).toBe(count(events, 'turn.started'));
}

const userInput = (text: string) => ({
  id: crypto.randomUUID(),
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
});

type Approvals = { approvals: { id: string; session: string; hash: string; ask: { command: string[] } }[] };
const approvals = async (server: ServerProcess) =>
  (await getJson<Approvals>(`${server.http}/v1/approvals`)).approvals;
const approve = (server: ServerProcess, id: string, more: object = {}) =>
  postJson(`${server.http}/v1/approvals/${id}`, { answer: 'once', ...more });

/** Resolves when the file exists. */
async function appears(folder: string, name: string): Promise<void> {
  const found = Promise.withResolvers<void>();
  const watcher = watch(folder, () => existsSync(join(folder, name)) && found.resolve());
  if (existsSync(join(folder, name))) found.resolve();
  await found.promise.finally(() => watcher.close());
}

describe('killed in the middle of a stream', () => {
  test('nothing acknowledged is lost, the turn is resumed and ends, and queued inputs are answered', async () => {
    const folder = newFolder();
    await using first = await startProcess(folder, SLOW);
    const client = await first.connect('/agentloop?session=stream');
    client.send(userInput('count to 300'));
    const streamed = () => client.next((frame) => frame.type === 'response_item');
    await streamed();
    expect(await submit(first, 'stream', 'echo second')).toBe(true);
    expect(await submit(first, 'stream', 'echo third')).toBe(true);
    for (let frame = 0; frame < 5; frame++) await streamed();
    await first.kill();
    await client.closed;

    await using second = await startProcess(folder, QUICK);
    await followed(second, 'stream', ended(3));
    const events = await durableOf(second, 'stream');
    whole(events);
    expect(inputs(events)).toEqual(['count to 300', 'echo second', 'echo third']);
    expect(count(events, 'turn.resumed')).toBe(1);
    const answers = events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
    expect(answers[0]).toContain('300');
  });

  test('an acknowledged input is stored once, and an unacknowledged one can be sent again with its key', async () => {
    const folder = newFolder();
    const sessions = ['a', 'b', 'c'];
    const texts = Array.from({ length: 20 }, (_, index) => `echo ${index}`);
    const acknowledged = new Map(sessions.map((session) => [session, [] as string[]]));
    await using first = await startProcess(folder);
    let left = 30;
    const enough = Promise.withResolvers<void>();
    const writers = sessions.map(async (session) => {
      for (const text of texts) {
        if (!(await submitKeyed(first, session, { text, key: text }))) throw new Error('refused');
        acknowledged.get(session)?.push(text);
        if (--left === 0) enough.resolve();
      }
    });
    const broken = Promise.allSettled(writers);
    await enough.promise;
    await first.kill();
    expect((await broken).some(({ status }) => status === 'rejected')).toBe(true);

    await using second = await startProcess(folder);
    for (const session of sessions) {
      const kept = inputs(await durableOf(second, session));
      const known = acknowledged.get(session) ?? [];
      // One more input may be stored: it was written, and the process died before the acknowledgement.
      expect(kept.slice(0, known.length)).toEqual(known);
      expect(kept.length - known.length).toBeLessThanOrEqual(1);
      for (const text of texts) expect(await submitKeyed(second, session, { text, key: text })).toBe(true);
      await followed(second, session, ended(texts.length));
      const events = await durableOf(second, session);
      whole(events);
      expect(inputs(events)).toEqual(texts);
    }
  });

  test('clients of every dialect reconnect to the session and continue', async () => {
    const folder = newFolder();
    const open = async (server: ServerProcess) => {
      const { body } = await postJson(`${server.http}/v1/auth/login`, {
        username: 'dev',
        password: 'dev-password',
      });
      const attach = async (name: string) => {
        const driver = DRIVERS[name];
        if (!driver) throw new Error(`no driver for ${name}`);
        return driver(server as unknown as TestServer, 'shared', String(body.access_token));
      };
      const begins = await attach('agentloop');
      begins.say('echo hello');
      await begins.answer();
      const others = ['broadcast', 'conversations', 'extension'];
      const drivers = [begins, ...(await Promise.all(others.map(attach)))];
      return drivers;
    };
    await using first = await startProcess(folder, SLOW);
    const before = await open(first);
    before[0]?.say('count to 300');
    await before[0]?.client.next((frame) => frame.type === 'response_item');
    await first.kill();
    for (const { client } of before) await client.closed;

    await using second = await startProcess(folder, QUICK);
    const after = await open(second);
    for (const speaker of after) {
      speaker.say('echo parlance');
      for (const driver of after) {
        for (let answer = ''; !answer.includes('parlance'); ) answer = await driver.answer();
      }
    }
  });
});

describe('killed while an approval is pending', () => {
  test('it is still pending with the same id, can be answered, and then runs once', async () => {
    const folder = newFolder();
    await using first = await startProcess(folder);
    const chat = await first.connect('/ws');
    chat.send({ type: 'chat', message: 'run touch made.txt', session_id: 'asks' });
    await chat.next((frame) => String(frame.reasoning).startsWith('Waiting for approval: '));
    expect(await submit(first, 'asks', 'hello again')).toBe(true);
    const waiting = await approvals(first);
    await first.kill();
    expect(waiting.map(({ session, ask }) => [session, ask.command])).toEqual([
      ['asks', ['touch', 'made.txt']],
    ]);

    await using second = await startProcess(folder);
    expect(await approvals(second)).toEqual(waiting);
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    // A client that attaches receives the approval with its id.
    const client = await second.connect('/agentloop?session=asks');
    const [{ id, hash } = { id: '', hash: '' }] = waiting;
    expect((await client.next('approval_request')).payload).toMatchObject({ requestId: id });
    expect((await approve(second, id, { hash: 'another' })).status).toBe(400);
    expect((await approve(second, id, { hash })).status).toBe(200);
    expect((await approve(second, id)).status).toBe(409);
    const events = await followed(second, 'asks', ended(2));
    whole(events);
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    expect(count(events, 'tool.started')).toBe(1);
    expect(inputs(events)).toEqual(['run touch made.txt', 'hello again']);
  });
});

describe('killed while a tool runs', () => {
  test('its outcome is reported as unknown, and the side effect is not repeated', async () => {
    const folder = newFolder();
    await using first = await startProcess(folder);
    const client = await first.connect('/agentloop?session=lost');
    client.send(userInput(`run sh -c "echo once >> effect.txt; touch done.txt; sleep 30"`));
    await client.next('approval_request');
    client.send({ id: crypto.randomUUID(), type: 'approval_response', payload: { review: 'yes' } });
    await client.next((frame) => (frame.payload as { type?: string }).type === 'function_call');
    await appears(folder, 'done.txt');
    await first.kill();

    await using second = await startProcess(folder);
    const events = await followed(second, 'lost', ended(1));
    whole(events);
    expect(events.flatMap((event) => (event.type === 'tool.ended' ? [event.outcome] : []))).toEqual([
      'unknown',
    ]);
    expect(count(events, 'tool.started')).toBe(1);
    expect(count(events, 'turn.resumed')).toBe(1);
    expect(readFileSync(join(folder, 'effect.txt'), 'utf8')).toBe('once\n');
    expect(await approvals(second)).toEqual([]);
  });
});
