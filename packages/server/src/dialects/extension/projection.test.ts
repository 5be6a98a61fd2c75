import { describe, expect, test } from 'bun:test';
import type {
  ConnectionId,
  DurableEventBody,
  EphemeralEventBody,
  Principal,
  SessionEvent,
} from '@parlance/protocol';
import { LOCAL } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Socket } from '../../http/connection.ts';
import { registration } from '../../testing/extension.ts';
import type { DialectContext } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { extension } from './dialect.ts';

const { projection } = extension;
const NOW = {
  created: null,
  turn: null,
  approval: null,
  approvals: [],
  ref: { id: 's' },
  seq: 0,
} as unknown as SessionSnapshot;
const agent = { id: 'coder', name: 'Coder' };
const usage = { inputTokens: 1, outputTokens: 1 };
const context = { tokens: 1, limit: 10, items: 1, strategy: 'none' };

type Loose = { type: (DurableEventBody | EphemeralEventBody)['type'] } & Record<string, unknown>;

const event = (body: Loose, n: number): SessionEvent =>
  ({
    ...body,
    session: 's',
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    at: 1_000 + n,
    ...(body.type.endsWith('.delta') || body.type === 'call.progress' ? {} : { seq: n }),
  }) as unknown as SessionEvent;

/** The frames of the events, without ids and times. */
function project(...bodies: Loose[]): object[] {
  let state = projection.start(NOW);
  return bodies.flatMap((body, index) => {
    const [next, frames] = projection.step(state, event(body, index + 1));
    state = next;
    return frames.map((frame) => {
      const { id: _id, timestamp: _timestamp, ...content } = frame.body as Record<string, unknown>;
      return JSON.parse(JSON.stringify(content)) as object;
    });
  });
}

const STARTED: Loose = { type: 'turn.started', turn: 't', input: 'i', agent };
const ENDED: Loose = { type: 'turn.ended', turn: 't', usage, durationMs: 1, context };
const requested = (call: string, tool: string, input: object): Loose => ({
  type: 'call.requested',
  turn: 't',
  call,
  tool,
  input,
});
const started = (call: string): Loose => ({ type: 'tool.started', turn: 't', call });
const ended = (call: string, text: string, outcome = 'ok'): Loose => ({
  type: 'tool.ended',
  turn: 't',
  call,
  outcome,
  parts: [{ type: 'text', text }],
  durationMs: 7,
});
const text = (words: string): Loose => ({ type: 'text.ended', turn: 't', block: words, text: words });
const reasoning = (words: string): Loose => ({
  type: 'reasoning.ended',
  turn: 't',
  block: words,
  text: words,
  durationMs: 1,
});
const thinking = { type: 'agent_status', status: 'thinking', sessionId: 's' };
const analyzing = { type: 'agent_status', status: 'analyzing', sessionId: 's' };
const complete = { type: 'agent_status', status: 'complete', sessionId: 's' };

describe('the projection', () => {
  test('a web search has the status of the example in the contract', () => {
    expect(
      project(
        STARTED,
        reasoning('First thought.'),
        text('I look it up.'),
        requested('c', 'web_search', { query: 'search query' }),
        started('c'),
        ended('c', 'search results'),
        reasoning('Second thought.'),
        text('AI agent response content'),
        ENDED,
      ),
    ).toEqual([
      thinking,
      { ...thinking, message: 'I look it up.' },
      { type: 'agent_status', status: 'searching', currentTool: 'web_search', sessionId: 's' },
      analyzing,
      complete,
      {
        type: 'agent_response',
        content: 'AI agent response content',
        reasoning: 'First thought.\n\nSecond thought.',
        sessionId: 's',
        toolsUsed: [
          { tool: 'web_search', input: 'search query', output: 'search results', executionTime: 7 },
        ],
      },
    ]);
  });

  test('a turn without text answers with the result of its last tool', () => {
    const frames = project(
      STARTED,
      requested('c', 'echo', { value: 'a' }),
      started('c'),
      ended('c', 'a'),
      ENDED,
    );
    expect(frames.at(-1)).toMatchObject({ type: 'agent_response', content: 'a' });
  });

  test('a turn does not include anything of the previous one', () => {
    const first = [
      STARTED,
      reasoning('Old.'),
      requested('c', 'echo', {}),
      started('c'),
      ended('c', 'old'),
      text('Old.'),
    ];
    expect(project(...first, ENDED, STARTED, text('New.'), ENDED).at(-1)).toEqual({
      type: 'agent_response',
      content: 'New.',
      sessionId: 's',
      toolsUsed: [],
    });
  });

  test.each([
    ['failed', 'echo failed.', 1],
    ['denied', 'echo was not allowed to run.', 0],
    ['unknown', 'It is not known what came of echo.', 1],
  ])('a call with the outcome %s is reported', (outcome, message, used) => {
    const frames = project(STARTED, requested('c', 'echo', {}), started('c'), ended('c', '', outcome), ENDED);
    expect(frames).toContainEqual({ ...analyzing, message });
    expect((frames.at(-1) as { toolsUsed: object[] }).toolsUsed).toHaveLength(used);
  });

  test.each([
    ['cancelled', 'The turn was cancelled.'],
    ['superseded', 'The turn was superseded by a newer message.'],
    ['denied', 'The turn was ended by a denial.'],
  ])('a turn that was %s is reported', (reason, message) => {
    const cancelled: Loose = { type: 'turn.cancelled', turn: 't', reason };
    const frames = project(STARTED, requested('c', 'echo', {}), ended('c', 'aborted', 'aborted'), cancelled);
    expect(frames).toEqual([
      thinking,
      { type: 'agent_status', status: 'error', message, sessionId: 's' },
      {
        type: 'error',
        message: `Chat processing failed: ${message}`,
        code: 'HANDLER_ERROR',
        details: reason,
        sessionId: 's',
      },
    ]);
  });

  test('an explanation, a handoff and a resumed turn are reported', () => {
    expect(
      project(
        STARTED,
        { type: 'approval.explained', turn: 't', approval: 'a', text: 'It makes a file.' },
        {
          type: 'agent.changed',
          turn: 't',
          from: agent,
          to: { id: 'tester', name: 'Tester' },
          reason: 'tests',
        },
        { type: 'turn.resumed', turn: 't' },
      ),
    ).toEqual([
      thinking,
      { type: 'agent_status', status: 'using_tool', message: 'It makes a file.', sessionId: 's' },
      { ...thinking, message: 'Coder hands over to Tester: tests' },
      thinking,
    ]);
  });

  test('deltas produce no frame and the same state', () => {
    const state = projection.start(NOW);
    for (const type of ['text.delta', 'reasoning.delta'] as const) {
      const [next, frames] = projection.step(state, event({ type, turn: 't', block: 'b', text: 'a' }, 1));
      expect(next).toBe(state);
      expect(frames).toHaveLength(0);
    }
  });

  test('the same events give the same frames, with unique ids', () => {
    const events = [STARTED, text('a'), ENDED].map((body, n) => event(body, n + 1));
    const run = () => {
      let state = projection.start(NOW);
      return events.flatMap((each) => {
        const [next, frames] = projection.step(state, each);
        state = next;
        return frames.map((frame) => frame.body as { id: string; timestamp: number });
      });
    };
    expect(JSON.stringify(run())).toBe(JSON.stringify(run()));
    expect(new Set(run().map((body) => body.id)).size).toBe(3);
    expect(run().map((body) => body.timestamp)).toEqual([1_001, 1_003, 1_003]);
  });
});

test('a client that disconnected during the token check receives no tool calls', async () => {
  const verified = Promise.withResolvers<Principal>();
  const present = new Set<string>();
  const clients = {
    register: (client: { connection: string }) => present.add(client.connection),
    unregister: (connection: string) => present.delete(connection),
  };
  let open = true;
  const sent: object[] = [];
  const socket: Socket = {
    id: crypto.randomUUID() as string as ConnectionId,
    principal: null,
    session: null,
    get open() {
      return open;
    },
    sendFrame: (frame) => void (open && sent.push(frame)),
    setDialect: () => undefined,
    tap: () => undefined,
    send: () => undefined,
    close: () => undefined,
  };
  const ctx = {
    engine: { clients },
    authenticator: { open: true, verify: () => verified.promise },
    now: () => 1,
    newId: () => crypto.randomUUID(),
    settings: { allowedToolOrigins: [] },
  } as unknown as DialectContext;
  const hub = { leave: () => undefined } as unknown as SubscriptionHub<unknown>;
  const connection = extension.inbound(ctx, hub).open?.(socket);
  const received = connection?.receive(registration(['echo'], { sessionToken: 'token' }), 0);
  open = false;
  connection?.closed([], 1006);
  verified.resolve(LOCAL);
  await received;
  expect(present.size).toBe(0);
  expect(sent).toEqual([]);
});
