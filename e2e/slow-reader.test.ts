/** Readers that stop reading during a long answer: their cost, their disconnection, and no effect on others. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../packages/server/src/testing/until.ts';
import { type RawReader, rawReader } from './raw-reader.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { postJson, type ServerProcess, startProcess } from './server-process.ts';

const TOKENS = 5_000;
const folder = mkdtempSync(join(tmpdir(), 'parlance-slow-'));
let model: ScriptedModel;
/** the server of the tests below */
let server: ServerProcess;
let token: string;
const started: ServerProcess[] = [];

/** The kernel buffers about four megabytes for a reader; this answer has eight. */
const answerOf = (width: number) =>
  Array.from({ length: TOKENS }, (_, index) => `${index}${'.'.repeat(width)}`).join(' ');

beforeAll(() => {
  model = scriptedModel(({ messages }) => {
    const asked = JSON.stringify(messages.at(-1)?.content);
    const answer = answerOf(Number(/words of (\d+)/.exec(asked)?.[1]));
    return follower ? { stream: atThePaceOf(follower, answer) } : { say: answer };
  });
});

/** a reader that the model does not overtake: on a busy machine each reader can be too slow */
let follower: RawReader | undefined;
async function* atThePaceOf(reader: RawReader, answer: string): AsyncGenerator<string> {
  let sent = 0;
  for (const [index, word] of answer.split(/(?<= )/).entries()) {
    yield word;
    sent += word.length;
    let received = 0;
    const arrived = (text: string): boolean => {
      received += text.length;
      return received >= sent;
    };
    if (index % 300 === 299) await reader.until(arrived);
  }
}

/** A server for the tests of a block. */
const withServer = (settings: Record<string, string>) =>
  beforeAll(async () => {
    server = await startProcess(mkdtempSync(join(folder, 'server-')), {
      PROVIDER: 'openai',
      MODEL: 'fake',
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: model.url,
      CONTEXT_LIMIT: '100000000',
      PARLANCE_ANSWER_CHARACTERS: '100000000',
      ...settings,
    });
    started.push(server);
    const user = { username: 'dev', password: 'dev-password' };
    token = String((await postJson(`${server.http}/v1/auth/login`, user)).body.access_token);
  });
afterAll(async () => {
  for (const one of started) await one.kill();
  model?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Body = Record<string, unknown> & { type?: string; payload?: Record<string, unknown>; text?: string };

/** How a reader of each streaming dialect joins its frames, and when the answer is complete. */
const READERS = {
  agentloop: {
    open: (session: string) => rawReader(server.http, `/agentloop?token=${token}&session=${session}`),
    text: (texts: readonly string[]) =>
      texts
        .map((text) => (JSON.parse(text) as Body).payload as Body)
        .filter(({ type, role }) => type === 'message' && role === 'assistant')
        .flatMap(({ content }) => (content as { text: string }[]).map((part) => part.text))
        .join('')
        .replace(/\n$/, ''),
    done: (text: string) => text.includes('"agent_finished"'),
  },
  conversations: {
    open: (session: string) => rawReader(server.http, `/ws?token=${token}&session=${session}`),
    text: (texts: readonly string[]) =>
      texts
        .map((text) => JSON.parse(text) as Body)
        .filter(({ type }) => type === 'message_chunk')
        .map(({ payload }) => payload?.chunk)
        .join(''),
    done: (text: string) => text.includes('"message_complete"'),
  },
  native: {
    open: (session: string) =>
      rawReader(server.http, `/v1/sessions/${session}/events?after=2&token=${token}`, 'text/event-stream'),
    /** a snapshot has the length of the open block, an event the whole text */
    text: (texts: readonly string[]) => {
      let text = '';
      for (const event of texts.join('').split('\n\n')) {
        const [, name, data] = /event: (.*)\ndata: (.*)/.exec(event) ?? [];
        const body = JSON.parse(data ?? '{}') as Body & { open?: { text: string } | null };
        if (name === 'text.delta') text += body.text;
        else if (name === 'text.ended') text = String(body.text);
        else if (name === 'snapshot' && body.open) text = body.open.text;
      }
      return text;
    },
    done: (text: string) => text.includes('event: turn.ended'),
  },
};

const command = async (session: string, body: object) => {
  const url = `${server.http}/v1/sessions/${session}/commands?token=${token}`;
  expect((await postJson(url, body)).status).toBe(200);
};

/** An empty session to watch. */
const prepared = (session: string) => command(session, { type: 'session.create' });

/** Resolves when a fast reader has seen the end of the turn. */
async function turn(session: string, width: number): Promise<void> {
  const reader = await READERS.native.open(session);
  const text = `words of ${width}`;
  await command(session, { type: 'input.submit', parts: [{ type: 'text', text }] });
  await reader.until(READERS.native.done);
  reader.end();
}

async function figure(name: string): Promise<number> {
  const lines = (await (await fetch(`${server.http}/metrics`)).text()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const WIDTH = 1_600;

describe('with a large send buffer', () => {
  withServer({ PARLANCE_HELD_CHARACTERS: '100000000' });
  for (const [name, dialect] of Object.entries(READERS)) {
    test(`${name}: a paused reader receives the rest in few frames, and has the whole answer`, async () => {
      const session = `pause-${name}`;
      await prepared(session);
      const [slow, quick] = [await dialect.open(session), await dialect.open(session)];
      const before = await figure('parlance_frames_coalesced_total');
      slow.stopReading();
      await turn(session, WIDTH);
      await quick.until(dialect.done);
      expect(dialect.text(quick.texts)).toBe(answerOf(WIDTH));
      await until(async () => (await figure('parlance_frames_coalesced_total')) > before);
      slow.resume();
      await slow.until(dialect.done);
      expect(dialect.text(slow.texts)).toBe(answerOf(WIDTH));
      // Not fewer than the other reader, which may be slow on a busy machine.
      expect(slow.texts.length).toBeLessThan(TOKENS);
      for (const reader of [slow, quick]) reader.end();
    });
  }
});

describe('by default', () => {
  withServer({});
  test('conversations: the unsent rest of a slow reader continues on the next socket of its user', async () => {
    const { open, text, done } = READERS.conversations;
    await prepared('left');
    const slow = await open('left');
    slow.stopReading();
    await turn('left', WIDTH);
    slow.resume();
    expect(await slow.closed).toBe(1013);
    // It is too much for the next socket as well, which reconnects until it has everything.
    const readers = [slow];
    while (!readers.at(-1)?.texts.some(done)) {
      const next = await rawReader(server.http, `/ws?token=${token}`);
      await Promise.race([next.until(done).catch(() => 'closed'), next.closed]);
      readers.push(next);
    }
    expect(readers.flatMap(({ texts }) => text(texts)).join('')).toBe(answerOf(WIDTH));
    for (const reader of readers) reader.end();
  });

  for (const name of ['agentloop', 'conversations'] as const) {
    test(`${name}: a reader that is too slow is closed with 1013, and others are not affected`, async () => {
      const session = `gone-${name}`;
      await prepared(session);
      const [slow, quick] = [await READERS[name].open(session), await READERS[name].open(session)];
      const before = await figure('parlance_slow_readers_closed_total');
      slow.stopReading();
      follower = quick;
      await turn(session, WIDTH);
      follower = undefined;
      await quick.until(READERS[name].done);
      expect(READERS[name].text(quick.texts)).toBe(answerOf(WIDTH));
      await until(async () => (await figure('parlance_slow_readers_closed_total')) === before + 1);
      slow.resume();
      expect(await slow.closed).toBe(1013);
      // The received text has no gap: it is a prefix of the answer.
      expect(answerOf(WIDTH).startsWith(READERS[name].text(slow.texts))).toBe(true);
      quick.end();
    });
  }

  test('native: a reader that is too slow continues from the log, with no event lost or repeated', async () => {
    const { open, text, done } = READERS.native;
    await prepared('behind');
    const slow = await open('behind');
    const before = await figure('parlance_resyncs_total');
    slow.stopReading();
    await turn('behind', WIDTH);
    // A slow machine sends the turn in several parts, each of which can be too much.
    await until(async () => (await figure('parlance_resyncs_total')) > before);
    slow.resume();
    await slow.until(done);
    expect(text(slow.texts)).toBe(answerOf(WIDTH));
    const numbers = [...slow.texts.join('').matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    slow.end();
  });
});

/** The small profile returns freed memory at once, so the resident size shows what is retained. */
describe('with the small profile', () => {
  withServer({ PARLANCE_PROFILE: 'small' });

  test('forty readers that do not read cost less than a megabyte each, and are disconnected', async () => {
    const { open } = READERS.agentloop;
    const residentMegabytes = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
    const readers: RawReader[] = [];
    for (const session of ['first', 'second', 'third']) await prepared(session);
    for (const session of ['first', 'second']) await turn(session, WIDTH);
    const before = residentMegabytes();
    const closed = await figure('parlance_slow_readers_closed_total');
    for (let count = 0; count < 40; count++) readers.push(await open('third'));
    for (const reader of readers) reader.stopReading();
    await turn('third', WIDTH);
    await until(async () => (await figure('parlance_slow_readers_closed_total')) === closed + 40);
    // The turn itself leaves garbage, which the process releases later.
    await until(async () => (await figure('parlance_sockets')) >= 0 && residentMegabytes() - before < 40);
    for (const reader of readers) reader.end();
  });
});
