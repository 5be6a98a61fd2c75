/** Subscribers other than sockets: a reader with a position in the log, and a pipe. */
import { expect, test } from 'bun:test';
import type { ConnectionId, DurableEvent, SessionEvent } from '@parlance/protocol';
import type { Subscriber } from '../../http/connection.ts';
import { createHarness, SESSION, say } from '../../testing/harness.ts';
import { says } from '../../testing/scripted-provider.ts';
import { quiet, ticks } from '../../testing/ticks.ts';
import { agentloop } from '../agentloop/dialect.ts';
import { broadcast } from '../broadcast/dialect.ts';
import { type Cursor, NOTHING, SubscriptionHub } from './subscription-hub.ts';

const ignore = () => undefined;
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const MOMENTS = Array.from({ length: 24 }, (_, index) => index);

/** Records the numbers of the durable events that it is sent, from the log or live. */
class LogReader implements Subscriber, Cursor {
  readonly id = 'reader' as ConnectionId;
  open = true;
  readonly seen: number[] = [];
  live = 0;

  constructor(private readonly read: (after: number, limit: number) => Promise<DurableEvent[]>) {}

  get seq(): number {
    return this.seen.at(-1) ?? 0;
  }

  send(_text: string, frame?: object): void {
    const { seq } = frame as { seq?: number };
    if (seq === undefined) return;
    this.seen.push(seq);
    this.live++;
  }

  async catchUp(head: number): Promise<void> {
    for (const { seq } of await this.read(this.seq, head - this.seq)) this.seen.push(seq);
  }

  close(): void {
    this.open = false;
  }
}

const events = {
  start: () => null,
  step: (state: unknown, body: SessionEvent) => [state, [{ body }]] as const,
  attach: () => [],
};

test('a subscriber with a cursor receives every event once and in order, at any point of the turn', async () => {
  const lives = new Set<number>();
  for (const moment of MOMENTS) {
    const { engine } = await createHarness([says('Hello.'), says('Again.')]);
    await say(engine, 'Hi');
    await engine.whenIdle(SESSION);
    const hub = new SubscriptionHub(engine, events, { log: quietLog });
    const reader = new LogReader((after, limit) => engine.events(SESSION, after, limit));
    const second = say(engine, 'More');
    await ticks(moment);
    await Promise.all([hub.subscribe(SESSION, reader, { cursor: reader, shown: NOTHING }), second]);
    await engine.whenIdle(SESSION);
    await quiet();
    const stored = await engine.events(SESSION, 0, 100);
    expect({ moment, seen: reader.seen }).toEqual({ moment, seen: stored.map(({ seq }) => seq) });
    lives.add(reader.live);
  }
  // The subscriptions happened at more than one point of the turn.
  expect(lives.size).toBeGreaterThan(1);
});

test('an unreadable log rejects a subscription with a cursor and leaves no watcher', async () => {
  const { engine } = await createHarness([says('Hello.')]);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  const hub = new SubscriptionHub(engine, events, { log: quietLog });
  const reader = new LogReader(() => Promise.reject(new Error('unreadable')));
  await expect(hub.subscribe(SESSION, reader, { cursor: reader })).rejects.toThrow('unreadable');
  expect(hub.snapshots(reader)).toEqual([]);
  expect(hub.isSubscribed(SESSION, reader)).toBe(false);
});

test('a pipe is a subscriber: one frame per line, the same frames as any other', async () => {
  const { engine } = await createHarness([says('Hello ', 'there.')]);
  const hub = new SubscriptionHub(engine, agentloop.projection, { log: quietLog });
  const process = Bun.spawn(['cat'], { stdin: 'pipe', stdout: 'pipe' });
  const sent: string[] = [];
  const pipe: Subscriber = {
    id: 'pipe' as ConnectionId,
    open: true,
    send: (text) => process.stdin.write(`${text}\n`),
    close: () => process.stdin.end(),
  };
  const other = {
    id: 'other' as ConnectionId,
    open: true,
    send: (text: string) => sent.push(text),
    close: ignore,
  };
  await hub.subscribe(SESSION, pipe);
  await hub.subscribe(SESSION, other);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  hub.leave(pipe);
  pipe.close(1000, 'done');
  const lines = (await new Response(process.stdout).text()).trimEnd().split('\n');
  expect(lines).toEqual(sent);
  expect(lines.length).toBeGreaterThan(4);
});

test('a subscription moves to a successor without a gap or a second snapshot', async () => {
  const { engine } = await createHarness([says('Hello.')]);
  const hub = new SubscriptionHub(engine, broadcast.projection, { log: quietLog });
  const subscriber = (id: string) => {
    const sent: string[] = [];
    return {
      id: id as ConnectionId,
      open: true,
      sent,
      send: (text: string) => sent.push(text),
      close: ignore,
    };
  };
  const [first, second] = [subscriber('first'), subscriber('second')];
  await hub.subscribe(SESSION, first);
  hub.replace(SESSION, first, second);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(first.sent).toEqual([]);
  expect(second.sent).toHaveLength(2);
});
