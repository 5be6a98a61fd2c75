import { expect, spyOn, test } from 'bun:test';
import type { ConnectionId } from '@parlance/protocol';
import { PROJECTED } from '../../dialects/index.ts';
import { SubscriptionHub } from '../../dialects/kit/subscription-hub.ts';
import type { Subscriber } from '../../http/connection.ts';
import { controlledStore } from '../../testing/controlled-store.ts';
import { createHarness, SESSION, say } from '../../testing/harness.ts';
import { scriptedProvider, USAGE } from '../../testing/scripted-provider.ts';
import type { Provider } from '../ports/provider.ts';

const WATCHERS = 10;
const ignore = () => undefined;
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** One turn with the given number of tokens, watched by ten sockets of each dialect. */
async function measure(tokens: number, dialects: typeof PROJECTED, offers = false) {
  const sent = { frames: 0, characters: 0 };
  /** frames sent when the model was asked for the next token */
  const atToken: number[] = [];
  let events = 0;
  const provider: Provider = {
    ...scriptedProvider([]),
    contextLimit: 1_000_000,
    async *stream(_prompt, _signal, take) {
      for (let token = 0; token < tokens; token++) {
        if (!offers || !take?.('text', 'word ')) {
          events++;
          yield { type: 'text', text: 'word ' };
        }
        atToken.push(sent.frames);
      }
      yield { type: 'ended', usage: USAGE, stop: 'done' };
    },
  };
  const store = controlledStore();
  const { engine } = await createHarness([], { store, parts: { provider } });
  for (const dialect of dialects) {
    const hub = new SubscriptionHub(engine, dialect.projection, { log: quietLog });
    for (let index = 0; index < WATCHERS; index++) {
      const subscriber: Subscriber = {
        id: `${dialect.name}-${index}` as ConnectionId,
        open: true,
        send(text) {
          sent.frames++;
          sent.characters += text.length;
        },
        close: ignore,
      };
      await hub.subscribe(SESSION, subscriber);
    }
  }
  const stringify = spyOn(JSON, 'stringify');
  await say(engine, 'Go');
  await engine.whenIdle(SESSION);
  const encodes = stringify.mock.calls.length;
  stringify.mockRestore();
  return { appends: store.appends(), encodes, sent, atToken, events };
}

test('the store is called per turn, not per token', async () => {
  const [few, many] = [await measure(10, PROJECTED), await measure(1_000, PROJECTED)];
  expect(many.appends).toBe(few.appends);
});

test('deltas are accepted once their block is open, and reach the same sockets as events', async () => {
  const [asEvents, offered] = [await measure(1_000, PROJECTED), await measure(1_000, PROJECTED, true)];
  expect(asEvents.events).toBe(1_000);
  expect(offered.events).toBe(1);
  expect([offered.sent.frames, offered.appends, offered.atToken]).toEqual([
    asEvents.sent.frames,
    asEvents.appends,
    asEvents.atToken,
  ]);
});

for (const dialect of PROJECTED) {
  test(`${dialect.name}: a token is encoded at most once for all subscribers, without the text so far`, async () => {
    const [some, many] = [await measure(1_000, [dialect]), await measure(2_000, [dialect])];
    const encodesPerToken = (many.encodes - some.encodes) / 1_000;
    expect(encodesPerToken).toBeLessThanOrEqual(1);
    const framesPerToken = (many.sent.frames - some.sent.frames) / 1_000;
    expect(framesPerToken).toBe(encodesPerToken * WATCHERS);
    expect(many.sent.characters).toBeLessThan(some.sent.characters * 2.1);
  });

  test(`${dialect.name}: a token reaches every socket before the next one is read`, async () => {
    const { atToken } = await measure(1_000, [dialect]);
    const steps = atToken.slice(1).map((frames, index) => frames - (atToken[index] ?? 0));
    expect(new Set(steps).size).toBe(1);
  });
}
