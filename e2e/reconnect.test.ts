/**
 * A client loses its connection during an answer, reconnects as its contract specifies, and has the complete
 * text in the end. The test controls the model, so every cut is at a defined position.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';
import { ASSEMBLED, FINAL, THOUGHTS } from './assembled.ts';
import { DRIVERS, type Driver } from './drivers.ts';
import { cut, ended, type ReconnectSetup, setUpReconnect, words } from './reconnect-setup.ts';

let setup: ReconnectSetup;
beforeAll(async () => {
  setup = await setUpReconnect();
});
afterAll(() => setup.stop());

/** A client of the dialect that reconnects repeatedly. */
function reconnecting(dialect: string, session: string) {
  const sockets: TestClient[] = [];
  const open = DRIVERS[dialect];
  if (!open) throw new Error(`no driver for ${dialect}`);
  return {
    async connect(): Promise<Driver> {
      const driver = await open(setup.server, session, setup.token);
      sockets.push(driver.client);
      return driver;
    },
    frames: (): AnyFrame[][] => sockets.map(({ frames }) => frames),
  };
}

for (const dialect of Object.keys(DRIVERS)) {
  describe(`${dialect}:`, () => {
    test('a text cut three times is complete', async () => {
      const session = `text-${dialect}`;
      const witness = await setup.observerOf(session);
      const client = reconnecting(dialect, session);
      const first = await client.connect();
      first.say('tell me');
      await setup.says(witness, words(1, 20));
      cut(first.client);
      const second = await client.connect();
      await setup.says(witness, words(21, 20));
      cut(second.client);
      // Includes text that was streamed while disconnected.
      await setup.says(witness, words(41, 20));
      const third = await client.connect();
      cut(third.client);
      const last = await client.connect();
      await setup.says(witness, words(61, 20));
      setup.model.end();
      await last.answer();
      await witness.until(ended);

      const assembled = ASSEMBLED[dialect]?.(client.frames());
      expect(assembled).toEqual(FINAL[dialect]?.(witness.events) ?? []);
      expect(assembled).toEqual([words(1, 80)]);
      witness.cut();
      cut(last.client);
    });

    test('a turn cut in reasoning, at an approval, after it and in its last text is complete', async () => {
      const session = `turn-${dialect}`;
      const witness = await setup.observerOf(session);
      const client = reconnecting(dialect, session);
      const first = await client.connect();
      first.say('do something');
      setup.model.think('Half a thought');
      await witness.until(({ latest }) => latest === 'Half a thought');
      cut(first.client);

      const second = await client.connect();
      setup.model.think(', and the rest.');
      await setup.says(witness, 'I will touch it.');
      setup.model.call('shell', { command: ['touch', `${dialect}.txt`] });
      const asked = await second.asked();
      cut(second.client);

      const third = await client.connect();
      expect(approvalIn(await third.asked())).toEqual(approvalIn(asked));
      third.approve();
      await witness.until(({ events }) => events.some(({ type }) => type === 'tool.ended'));
      cut(third.client);

      const fourth = await client.connect();
      await setup.says(witness, words(1, 20));
      cut(fourth.client);

      const last = await client.connect();
      await setup.says(witness, words(21, 20));
      setup.model.end();
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

/** The id or text of the approval, if the dialect has one. */
const approvalIn = (frame: AnyFrame): unknown =>
  (frame.payload as { requestId?: string } | undefined)?.requestId ?? frame.message ?? frame.reasoning;

describe('agentloop:', () => {
  test('a client that reconnects with previousResponseId receives the earlier text, then its own answer', async () => {
    const begun = await setup.server.connect(`/agentloop?token=${setup.token}`);
    const input = (text: string, more: object = {}) => ({
      id: crypto.randomUUID(),
      type: 'user_input',
      payload: {
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
        ...more,
      },
    });
    begun.send(input('first'));
    setup.model.say('The first answer.');
    setup.model.end();
    const { responseId, sessionId } = (await begun.next('agent_finished')).payload as Record<string, string>;
    const witness = await setup.observerOf(String(sessionId));
    begun.send(input('second'));
    await setup.says(witness, words(1, 20));
    cut(begun);

    const back = await setup.server.connect(`/agentloop?token=${setup.token}`);
    const asked = setup.model.asked();
    back.send(input('third', { previousResponseId: responseId }));
    await asked;
    await witness.until(({ events }) => events.some(({ type }) => type === 'turn.cancelled'));
    await setup.says(witness, 'The third answer.');
    setup.model.end();
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
  test('a user who reconnects without naming the conversation receives the rest of the running turn', async () => {
    const session = 'temp-unnamed';
    const first = await setup.server.connect(`/ws?token=${setup.token}`);
    first.send({ type: 'send_message', conversationId: session, payload: { content: 'tell me' } });
    await first.next('agent_selected');
    const witness = await setup.observerOf(session);
    await setup.says(witness, words(1, 20));
    cut(first);
    const back = await setup.server.connect(`/ws?token=${setup.token}`);
    await setup.says(witness, words(21, 20));
    setup.model.end();
    const complete = await back.next('message_complete');
    // Clients append chunks.
    const appended = ASSEMBLED.conversations?.([[...first.frames, ...back.frames]]);
    expect(appended).toEqual([words(1, 40)]);
    expect(complete.payload).toMatchObject({ content: words(1, 40) });
    // The HTTP history contains it once.
    const response = await fetch(`${setup.server.http}/v1/conversations/${session}/messages`, {
      headers: setup.bearer,
    });
    const messages = (await response.json()) as { content: string }[];
    expect(messages.map(({ content }) => content)).toEqual(['tell me', words(1, 40)]);
    witness.cut();
    cut(back);
  });
});
