/**
 * A client loses its connection in the middle of an answer, comes back as clients of its contract do, and has the whole
 * text in the end: no gap, no repeat. The model speaks when the test lets it, so every cut is where it is meant to be.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { ASSEMBLED, FINAL, THOUGHTS } from './assembled.ts';
import { type DictatedModel, dictatedModel } from './dictated-model.ts';
import { DRIVERS, type Driver } from './drivers.ts';
import { EventReader } from './event-reader.ts';
import { postJson } from './server-process.ts';

let model: DictatedModel;
let server: TestServer;
let token: string;
beforeAll(async () => {
  model = dictatedModel();
  server = await startTestServer(model.settings);
  token = await server.login('dev', 'dev-password');
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

const bearer = () => ({ authorization: `Bearer ${token}` });
const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `w${from + index} `).join('');
/** No handshake: the server finds out by itself. */
const cut = (client: TestClient): void => client.socket.terminate();

/** Someone who stays connected all the time, and knows how far the model has come. */
async function witnessOf(session: string): Promise<EventReader> {
  const command = { type: 'session.create' };
  await postJson(`${server.http}/v1/sessions/${session}/commands`, command, bearer());
  const witness = new EventReader(session, undefined, bearer());
  await witness.follow(server);
  return witness;
}

/** The model says it, and it has arrived at the watchers of the session. */
async function says(witness: EventReader, text: string): Promise<void> {
  const before = witness.latest;
  model.say(text);
  await witness.until(({ latest }) => latest === before + text || latest === text);
}

const ended = ({ events }: EventReader): boolean => events.at(-1)?.type === 'turn.ended';

/** A client of the dialect that comes back to the session time and again. */
function comingBack(dialect: string, session: string) {
  const sockets: TestClient[] = [];
  const open = DRIVERS[dialect];
  if (!open) throw new Error(`no driver for ${dialect}`);
  return {
    async connect(): Promise<Driver> {
      const driver = await open(server, session, token);
      sockets.push(driver.client);
      return driver;
    },
    frames: (): AnyFrame[][] => sockets.map(({ frames }) => frames),
  };
}

for (const dialect of Object.keys(DRIVERS)) {
  describe(`${dialect}:`, () => {
    test('a text that was cut three times is whole', async () => {
      const session = `text-${dialect}`;
      const witness = await witnessOf(session);
      const client = comingBack(dialect, session);
      const first = await client.connect();
      first.say('tell me');
      await says(witness, words(1, 20));
      cut(first.client);
      const second = await client.connect();
      await says(witness, words(21, 20));
      cut(second.client);
      // What is said while nobody is there counts, too.
      await says(witness, words(41, 20));
      const third = await client.connect();
      cut(third.client);
      const last = await client.connect();
      await says(witness, words(61, 20));
      model.end();
      await last.answer();
      await witness.until(ended);

      const assembled = ASSEMBLED[dialect]?.(client.frames());
      expect(assembled).toEqual(FINAL[dialect]?.(witness.events) ?? []);
      expect(assembled).toEqual([words(1, 80)]);
      witness.cut();
      cut(last.client);
    });

    test('a turn that was cut in a thought, at an approval, after it and in its last text is whole', async () => {
      const session = `turn-${dialect}`;
      const witness = await witnessOf(session);
      const client = comingBack(dialect, session);
      const first = await client.connect();
      first.say('do something');
      model.think('Half a thought');
      await witness.until(({ latest }) => latest === 'Half a thought');
      cut(first.client);

      const second = await client.connect();
      model.think(', and the rest.');
      await says(witness, 'I will touch it.');
      model.call('shell', { command: ['touch', `${dialect}.txt`] });
      const asked = await second.asked();
      cut(second.client);

      const third = await client.connect();
      expect(approvalIn(await third.asked())).toEqual(approvalIn(asked));
      third.approve();
      await witness.until(({ events }) => events.some(({ type }) => type === 'tool.ended'));
      cut(third.client);

      const fourth = await client.connect();
      await says(witness, words(1, 20));
      cut(fourth.client);

      const last = await client.connect();
      await says(witness, words(21, 20));
      model.end();
      await last.answer();
      await witness.until(ended);

      const frames = client.frames();
      expect(ASSEMBLED[dialect]?.(frames)).toEqual(FINAL[dialect]?.(witness.events) ?? []);
      const thoughts = frames.flat().filter((frame) => THOUGHTS[dialect]?.(frame));
      expect(JSON.stringify(thoughts).match(/Half a thought, and the rest\./g)).toHaveLength(1);
      witness.cut();
      cut(last.client);
    });
  });
}

/** What names the approval, where the wire does. */
const approvalIn = (frame: AnyFrame): unknown =>
  (frame.payload as { requestId?: string } | undefined)?.requestId ?? frame.message ?? frame.reasoning;

describe('agentloop:', () => {
  test('a client that comes back by previousResponseId has what was said, and then its own answer', async () => {
    const begun = await server.connect(`/agentloop?token=${token}`);
    const input = (text: string, more: object = {}) => ({
      id: crypto.randomUUID(),
      type: 'user_input',
      payload: {
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
        ...more,
      },
    });
    begun.send(input('first'));
    model.say('The first answer.');
    model.end();
    const { responseId, sessionId } = (await begun.next('agent_finished')).payload as Record<string, string>;
    const witness = await witnessOf(String(sessionId));
    begun.send(input('second'));
    await says(witness, words(1, 20));
    cut(begun);

    const back = await server.connect(`/agentloop?token=${token}`);
    back.send(input('third', { previousResponseId: responseId }));
    await witness.until(({ events }) => events.some(({ type }) => type === 'turn.cancelled'));
    await says(witness, 'The third answer.');
    model.end();
    await back.next('agent_finished');
    await witness.until(ended);
    const stored = witness.events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
    expect(stored).toEqual(['The first answer.', words(1, 20), 'The third answer.']);
    expect(ASSEMBLED.agentloop?.([begun.frames, back.frames])).toEqual(stored);
    witness.cut();
    cut(back);
  });
});

describe('conversations:', () => {
  test('a user who comes back without naming the conversation is sent the rest of what is under way', async () => {
    const session = 'temp-unnamed';
    const first = await server.connect(`/ws?token=${token}`);
    first.send({ type: 'send_message', conversationId: session, payload: { content: 'tell me' } });
    await first.next('agent_selected');
    const witness = await witnessOf(session);
    await says(witness, words(1, 20));
    cut(first);
    const back = await server.connect(`/ws?token=${token}`);
    await says(witness, words(21, 20));
    model.end();
    const complete = await back.next('message_complete');
    // Clients append what comes.
    const appended = ASSEMBLED.conversations?.([[...first.frames, ...back.frames]]);
    expect(appended).toEqual([words(1, 40)]);
    expect(complete.payload).toMatchObject({ content: words(1, 40) });
    // The HTTP form of the same conversation has it once.
    const response = await fetch(`${server.http}/v1/conversations/${session}/messages`, {
      headers: bearer(),
    });
    const messages = (await response.json()) as { content: string }[];
    expect(messages.map(({ content }) => content)).toEqual(['tell me', words(1, 40)]);
    witness.cut();
    cut(back);
  });
});

describe('copilot:', () => {
  test('a call that broke off is gone on with, and the answer is there once', async () => {
    const session = crypto.randomUUID();
    const witness = await witnessOf(session);
    const interact = (more: object, signal?: AbortSignal) =>
      fetch(`${server.http}/api/agent/interact`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer() },
        body: JSON.stringify({ query: 'tell me', sessionId: session, ...more }),
        signal,
      });
    const lost = new AbortController();
    const broken = interact({}, lost.signal).catch(() => 'broken off');
    await says(witness, words(1, 20));
    lost.abort();
    expect(await broken).toBe('broken off');
    await says(witness, words(21, 20));

    const active = await fetch(`${server.http}/api/session/${session}/task/active`, { headers: bearer() });
    const { taskId } = ((await active.json()) as { data: { taskId: string } }).data;
    const answering = interact({ taskId });
    model.say(words(41, 20));
    model.end();
    const { data } = (await (await answering).json()) as { data: { thought: string; action: string } };
    expect(data.action).toBe('finish()');
    // The task may have ended before the call came: then it says so, and the text is in the history.
    expect([words(1, 60), 'This task is finished already.']).toContain(data.thought);
    await witness.until(ended);
    const history = await fetch(`${server.http}/api/session/${session}/messages`, { headers: bearer() });
    const { messages } = (await history.json()) as {
      messages: { content: string; sequenceNumber: number }[];
    };
    expect(messages.map(({ content, sequenceNumber }) => [sequenceNumber, content])).toEqual([
      [0, 'tell me'],
      [1, words(1, 60)],
    ]);
    witness.cut();
  });
});

describe('native:', () => {
  const submit = (session: string, text: string) =>
    postJson(
      `${server.http}/v1/sessions/${session}/commands`,
      { type: 'input.submit', parts: [{ type: 'text', text }] },
      bearer(),
    );
  const numbers = ({ events }: EventReader): number[] => events.map(({ seq }) => seq);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  test('a reader that comes back with Last-Event-ID misses no event, is told none twice, and has the whole text', async () => {
    const witness = await witnessOf('native-text');
    const reader = new EventReader('native-text', undefined, bearer());
    await reader.follow(server);
    await submit('native-text', 'tell me');
    model.think('Half a thought');
    await reader.until(({ latest }) => latest === 'Half a thought');
    reader.cut();
    await reader.follow(server);
    model.think(', and the rest.');
    await says(witness, words(1, 20));
    await reader.until(({ latest }) => latest === words(1, 20));
    reader.cut();
    await says(witness, words(21, 20));
    await reader.follow(server);
    await reader.until(({ latest }) => latest === words(1, 40));
    model.say(words(41, 20));
    model.end();
    await reader.until(ended);
    expect(reader.latest).toBe(words(1, 60));
    expect(reader.events.findLast((event) => event.type === 'text.ended')?.text).toBe(words(1, 60));
    expect(numbers(reader)).toEqual(upTo(reader.events.length));
    expect(reader.resets).toBe(0);
    await witness.until(ended);
    expect(reader.events).toEqual(witness.events);
    reader.cut();
    witness.cut();
  });

  test('a position that is not there is answered with a reset, and the session from its beginning', async () => {
    const witness = await witnessOf('native-reset');
    await submit('native-reset', 'tell me');
    await says(witness, words(1, 20));
    const reader = new EventReader('native-reset', undefined, bearer());
    await reader.follow(server, 1_000);
    await reader.until(({ latest }) => latest === words(1, 20));
    expect(reader.resets).toBe(1);
    model.say(words(21, 20));
    model.end();
    await reader.until(ended);
    await witness.until(ended);
    expect(reader.latest).toBe(words(1, 40));
    expect(reader.events).toEqual(witness.events);
    const page = await fetch(`${server.http}/v1/sessions/native-reset/events?after=1000`, {
      headers: bearer(),
    });
    expect(await page.json()).toMatchObject({ reset: true, events: witness.events });
    reader.cut();
    witness.cut();
  });
});
