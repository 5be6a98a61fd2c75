/** Clients over HTTP and server-sent events lose their connection in the middle of an answer and resume. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { EventReader } from './event-reader.ts';
import { ended, type ReconnectSetup, setUpReconnect, words } from './reconnect-setup.ts';
import { postJson } from './server-process.ts';

let setup: ReconnectSetup;
beforeAll(async () => {
  setup = await setUpReconnect();
});
afterAll(() => setup.stop());

describe('copilot:', () => {
  test('an aborted request is continued, and the answer is stored once', async () => {
    const session = crypto.randomUUID();
    const witness = await setup.observerOf(session);
    const interact = (more: object, signal?: AbortSignal) =>
      fetch(`${setup.server.http}/api/agent/interact`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...setup.bearer },
        body: JSON.stringify({ query: 'tell me', sessionId: session, ...more }),
        signal,
      });
    const lost = new AbortController();
    const broken = interact({}, lost.signal).catch(() => 'broken off');
    await setup.says(witness, words(1, 20));
    lost.abort();
    expect(await broken).toBe('broken off');
    await setup.says(witness, words(21, 20));

    const active = await fetch(`${setup.server.http}/api/session/${session}/task/active`, {
      headers: setup.bearer,
    });
    const { taskId } = ((await active.json()) as { data: { taskId: string } }).data;
    const answering = interact({ taskId });
    setup.model.say(words(41, 20));
    setup.model.end();
    const { data } = (await (await answering).json()) as { data: { thought: string; action: string } };
    expect(data.action).toBe('finish()');
    // The task may have ended before the request: the text is then in the history.
    expect([words(1, 60), 'This task is finished already.']).toContain(data.thought);
    await witness.until(ended);
    const history = await fetch(`${setup.server.http}/api/session/${session}/messages`, {
      headers: setup.bearer,
    });
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
      `${setup.server.http}/v1/sessions/${session}/commands`,
      { type: 'input.submit', parts: [{ type: 'text', text }] },
      setup.bearer,
    );
  const numbers = ({ events }: EventReader): number[] => events.map(({ seq }) => seq);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  test('a reader that reconnects with Last-Event-ID receives every event once and the whole text', async () => {
    const witness = await setup.observerOf('native-text');
    const reader = new EventReader('native-text', undefined, setup.bearer);
    await reader.follow(setup.server);
    await submit('native-text', 'tell me');
    setup.model.think('Half a thought');
    await reader.until(({ latest }) => latest === 'Half a thought');
    reader.cut();
    await reader.follow(setup.server);
    setup.model.think(', and the rest.');
    await setup.says(witness, words(1, 20));
    await reader.until(({ latest }) => latest === words(1, 20));
    reader.cut();
    await setup.says(witness, words(21, 20));
    await reader.follow(setup.server);
    await reader.until(({ latest }) => latest === words(1, 40));
    setup.model.say(words(41, 20));
    setup.model.end();
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

  test('an unknown position is answered with a reset and the session from its beginning', async () => {
    const witness = await setup.observerOf('native-reset');
    await submit('native-reset', 'tell me');
    await setup.says(witness, words(1, 20));
    const reader = new EventReader('native-reset', undefined, setup.bearer);
    await reader.follow(setup.server, 1_000);
    await reader.until(({ latest }) => latest === words(1, 20));
    expect(reader.resets).toBe(1);
    setup.model.say(words(21, 20));
    setup.model.end();
    await reader.until(ended);
    await witness.until(ended);
    expect(reader.latest).toBe(words(1, 40));
    expect(reader.events).toEqual(witness.events);
    const page = await fetch(`${setup.server.http}/v1/sessions/native-reset/events?after=1000`, {
      headers: setup.bearer,
    });
    expect(await page.json()).toMatchObject({ reset: true, events: witness.events });
    reader.cut();
    witness.cut();
  });
});
