import { expect, test } from 'bun:test';
import {
  type ConnectionId,
  LOCAL,
  type Principal,
  type PrincipalId,
  type SessionId,
  textPart,
} from '@parlance/protocol';
import type { Engine, SessionRef, Watch } from '../../core/index.ts';
import type { Socket } from '../../http/connection.ts';
import { CALLER, countingIds, createHarness, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { says } from '../../testing/scripted-provider.ts';
import { until } from '../../testing/until.ts';
import { SubscriptionHub } from '../kit/subscription-hub.ts';
import { DetachedStreams, newPeer } from './detached-streams.ts';
import { projection, type State } from './outbound.ts';
import { StreamResume } from './resume.ts';

const ignore = () => undefined;
const preferences = { get: async () => null, put: async () => undefined };
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

type FakeSocket = Socket & { open: boolean; readonly sent: string[] };
function fakeSocket(): FakeSocket {
  const sent: string[] = [];
  const send = (text: string) => void sent.push(JSON.parse(text).type);
  return {
    id: crypto.randomUUID() as string as ConnectionId,
    principal: LOCAL,
    session: null,
    open: true,
    sent,
    send,
    sendFrame: (frame) => send(JSON.stringify(frame)),
    setDialect: ignore,
    tap: ignore,
    close: ignore,
  };
}

/** The detached of an engine, and a counter of its watched sessions. */
async function harness(keptMs?: number) {
  const { engine } = await createHarness([says('Hello.')]);
  let watching = 0;
  const watch: Engine['watch'] = (ref, sink, options) => {
    const begin = (began: Watch) => {
      watching++;
      const stop = () => {
        watching--;
        began.stop();
      };
      options?.begin?.({ ...began, stop });
    };
    return engine.watch(ref, sink, { ...options, begin });
  };
  const hub = new SubscriptionHub<State>({ watch } as Engine, projection as never, { log: quietLog });
  const detached = new DetachedStreams(hub, { newId: countingIds(), now: Date.now, keptMs });
  return { engine, detached, watching: () => watching };
}

/** The socket takes over everything that was lost. */
async function resume(
  detached: DetachedStreams,
  socket: FakeSocket,
  principal: Principal = LOCAL,
): Promise<void> {
  const peer = newPeer(socket, principal, Date.now());
  for (const { id } of await detached.of(principal.id)) detached.succeed(peer, id);
}

const refOf = (id: number): SessionRef => ({ owner: LOCAL.id, id: `session-${id}` as SessionId });

test('an stream is dropped after the time limit, and its session is no longer watched', async () => {
  const { engine, detached, watching } = await harness(1);
  await detached.keep(LOCAL.id, [SESSION]);
  expect(watching()).toBe(1);
  await until(() => watching() <= 0);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  const late = fakeSocket();
  await resume(detached, late);
  expect(late.sent).toEqual([]);
});

test('a conversation that was taken over is not dropped later', async () => {
  const { engine, detached, watching } = await harness();
  await detached.keep(LOCAL.id, [SESSION]);
  const socket = fakeSocket();
  await resume(detached, socket);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(socket.sent.at(-1)).toBe('workflow_step_complete');
  expect(watching()).toBe(1);
});

test('beyond the limit the oldest stream is dropped', async () => {
  const { detached, watching } = await harness();
  for (let id = 0; id < 40; id++) await detached.keep(LOCAL.id, [refOf(id)]);
  expect(watching()).toBe(32);
  for (let id = 40; id < 45; id++) await detached.keep('other' as PrincipalId, [refOf(id)]);
  expect(watching()).toBe(37);
});

test('a former admin resumes no conversation of others', async () => {
  const { engine, detached, watching } = await harness();
  const principal: Principal = { ...LOCAL, id: 'ada' as PrincipalId, role: 'developer' };
  await detached.keep(principal.id, [SESSION]);
  const socket = fakeSocket();
  await resume(detached, socket, principal);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(socket.sent).toEqual([]);
  expect(watching()).toBe(0);
});

test('a socket that closes before it takes over leaves the detached to the next one', async () => {
  const { engine, detached } = await harness();
  await detached.keep(LOCAL.id, [SESSION]);
  const gone = fakeSocket();
  gone.open = false;
  await resume(detached, gone);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  const next = fakeSocket();
  await resume(detached, next);
  expect(next.sent).toEqual([
    'agent_selected',
    'workflow_step_start',
    'message_chunk',
    'message_complete',
    'workflow_step_complete',
  ]);
  expect(gone.sent).toEqual([]);
});

test('a conversation that continues on another node is not sent by this one', async () => {
  const cluster = new HarnessCluster();
  const nodes = await Promise.all([cluster.open([says('Hello.')]), cluster.open([])]);
  const resumes = nodes.map(({ engine }) => {
    const hub = new SubscriptionHub<State>(engine, projection as never, { log: quietLog });
    return new StreamResume(hub, { engine, log: quietLog, newId: countingIds(), now: Date.now, preferences });
  });
  const [here, there] = resumes;
  const [{ engine }] = nodes as [HarnessNode, HarnessNode];
  if (!here || !there) throw new Error('there are two nodes');
  const other = refOf(2);
  await here.detached.keep(LOCAL.id, [SESSION, other]);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  // Messages on the bus arrive in order.
  await there.named({ ...newPeer(fakeSocket(), LOCAL, Date.now()), standing: 'new' }, SESSION);
  const arrived = Promise.withResolvers<void>();
  engine.transport?.on('mark', () => arrived.resolve());
  nodes[1]?.engine.transport?.broadcast({ kind: 'mark', body: null });
  await arrived.promise;
  const socket = fakeSocket();
  await resume(here.detached, socket);
  expect(socket.sent).toEqual([]);
  await engine.send(other, { type: 'input.submit', parts: [textPart('Hi')] }, CALLER);
  await engine.whenIdle(other);
  expect(socket.sent).toContain('message_complete');
  await Promise.all(nodes.map((node) => node.engine.drain(0)));
});
