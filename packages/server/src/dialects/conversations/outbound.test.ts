import { describe, expect, test } from 'bun:test';
import type { DurableEvent, SessionEvent } from '@parlance/protocol';
import { eventsBackwards } from '../../core/engine/event-pages.ts';
import type { ObservedSession, SessionRecord, SessionRef, SessionSnapshot } from '../../core/index.ts';
import { joinedChunks, of, typesOf } from '../../testing/conversations.ts';
import { Delivery } from '../kit/subscription-hub.ts';
import { conversations } from './dialect.ts';
import { latestMessages, messagesOf } from './routes.ts';

const { projection } = conversations;
const AGENT = { id: 'coder', name: 'Coder' };
const IDLE = {
  ref: { owner: 'uma', id: 's' },
  agent: AGENT,
  turn: null,
  open: null,
  approval: null,
  approvals: [],
};
const RECORD = { ref: IDLE.ref, agent: AGENT.id } as unknown as SessionRecord;

let seq = 0;
const event = (type: string, body: object): SessionEvent =>
  ({ type, session: 's', id: `e${++seq}`, at: seq, seq, turn: 't', ...body }) as never;
const begun = () => event('turn.started', { input: 'i', agent: AGENT });
const delta = (block: string, text: string) => event('text.delta', { block, text });
const ended = (block: string, text: string) => event('text.ended', { block, text });
const over = () => event('turn.ended', { usage: { inputTokens: 1, outputTokens: 2 } });

/** The frames for a socket that joins at the snapshot `now`, after the events `past`, and receives `events`. */
function framesFor(past: SessionEvent[], now: object, events: SessionEvent[]) {
  const snapshot = { ...IDLE, ...now } as unknown as SessionSnapshot;
  const session: ObservedSession = {
    snapshot: () => snapshot,
    eventsSinceIdle: () => past as DurableEvent[],
    status: () => ({ kind: 'running' }),
  };
  let state = new Delivery(projection, console).stateOf(session);
  const bodies: object[] = [...projection.attach(state, snapshot)];
  for (const received of events) {
    const [next, frames] = projection.step(state, received);
    state = next;
    bodies.push(...frames.map((frame) => frame.body));
  }
  return bodies as never[];
}

const contentOf = (bodies: never[]) => of(bodies, 'message_complete')[0]?.payload.content;

describe('the concatenated chunks are the content', () => {
  test('for several blocks', () => {
    const frames = framesFor([], {}, [
      begun(),
      delta('a', 'x'),
      delta('a', 'y'),
      ended('a', 'xy'),
      delta('b', 'z'),
      ended('b', 'z'),
      over(),
    ]);
    expect(joinedChunks(frames)).toBe('xy\n\nz');
    expect(contentOf(frames)).toBe('xy\n\nz');
  });

  test('for a socket that joins inside the second block', () => {
    const now = { turn: 't', open: { kind: 'text', turn: 't', block: 'b', text: 'zz' } };
    const frames = framesFor([begun(), ended('a', 'xy')], now, [delta('b', 'z'), ended('b', 'zzz'), over()]);
    expect(joinedChunks(frames)).toBe('xy\n\nzzz');
    expect(contentOf(frames)).toBe('xy\n\nzzz');
  });

  test('for a socket that joins between two blocks', () => {
    const frames = framesFor([begun(), ended('a', 'xy')], { turn: 't' }, [
      delta('b', 'z'),
      ended('b', 'z'),
      over(),
    ]);
    expect(joinedChunks(frames)).toBe('xy\n\nz');
    expect(contentOf(frames)).toBe('xy\n\nz');
  });

  test('for a resumed turn: the text of the step is discarded', () => {
    const stepped = event('step.ended', { usage: { inputTokens: 1, outputTokens: 1 } });
    const past = [begun(), ended('a', 'xy'), stepped, delta('b', 'hal')];
    const frames = framesFor(past, { turn: 't' }, [
      event('turn.resumed', {}),
      delta('c', 'new'),
      ended('c', 'new'),
      over(),
    ]);
    const from = frames.findIndex(({ type }) => type === 'message_discarded');
    expect(from).toBeGreaterThan(-1);
    expect(joinedChunks(frames.slice(from))).toBe('xy\n\nnew');
    expect(contentOf(frames)).toBe('xy\n\nnew');
  });

  test('for a resumed turn whose open block a socket joined', () => {
    const now = { turn: 't', open: { kind: 'text', turn: 't', block: 'b', text: 'hal' } };
    const frames = framesFor([begun()], now, [
      event('turn.resumed', {}),
      delta('c', 'new'),
      ended('c', 'new'),
      over(),
    ]);
    const from = frames.findIndex(({ type }) => type === 'message_discarded');
    expect(from).toBeGreaterThan(-1);
    expect(joinedChunks(frames.slice(from))).toBe('new');
  });

  test('for a socket that joins the second block of a turn that was resumed before', () => {
    const now = { turn: 't', open: { kind: 'text', turn: 't', block: 'b', text: 'zz' } };
    const past = [begun(), ended('a', 'xy'), event('step.ended', { usage: {} }), event('turn.resumed', {})];
    const frames = framesFor(past, now, [delta('b', 'z'), ended('b', 'zzz'), over()]);
    expect(joinedChunks(frames)).toBe('xy\n\nzzz');
    expect(of(frames, 'message_complete')[0]?.payload).toMatchObject({
      messageId: 't',
      content: 'xy\n\nzzz',
    });
  });

  test('for a block without deltas', () => {
    const frames = framesFor([], {}, [begun(), ended('a', 'xy'), ended('b', 'z'), over()]);
    expect(joinedChunks(frames)).toBe('xy\n\nz');
  });
});

test('a delta inside a block returns the same state', () => {
  let state = projection.start(IDLE as unknown as SessionSnapshot);
  [state] = projection.step(state, begun());
  [state] = projection.step(state, delta('a', 'x'));
  const [after, frames] = projection.step(state, delta('a', 'y'));
  expect(after).toBe(state);
  expect(frames).toHaveLength(1);
});

test('a turn ended by a denial is closed without an error: its text is completed', () => {
  const cancelled = event('turn.cancelled', { reason: 'denied' });
  expect(typesOf(framesFor([begun()], { turn: 't' }, [cancelled]))).toEqual(['workflow_step_complete']);
  const frames = framesFor([begun(), ended('a', 'xy')], { turn: 't' }, [cancelled]);
  expect(typesOf(frames)).toEqual(['message_chunk', 'message_complete', 'workflow_step_complete']);
});

test('an approved call with an unknown outcome is tool_execute_failed', () => {
  const frames = framesFor([], {}, [
    begun(),
    event('call.requested', { call: 'c', tool: 'shell', input: { command: ['x'] } }),
    event('approval.requested', { call: 'c', approval: 'a', ask: { description: 'Runs x.' } }),
    event('approval.answered', { call: 'c', approval: 'a', answer: 'once' }),
    event('tool.ended', { call: 'c', outcome: 'unknown', parts: [{ type: 'text', text: 'lost' }] }),
  ]);
  expect(frames.slice(-2)).toEqual([
    {
      type: 'tool_executed',
      conversationId: 's',
      payload: {
        requestId: 'a',
        toolName: 'shell',
        result: { output: 'lost' },
        success: false,
        errorMessage: 'lost',
      },
    },
    {
      type: 'error',
      conversationId: 's',
      error: 'lost',
      payload: { code: 'tool_execute_failed', message: 'lost', error: 'lost' },
    },
  ] as never);
});

describe('messages', () => {
  const input = (id: string) =>
    event('input.accepted', { input: id, parts: [{ type: 'text', text: id }], dialect: 'd' });
  const read = (events: SessionEvent[], limit: number) => {
    const page = async (_: unknown, after: number, count: number) =>
      events.slice(after, after + count) as DurableEvent[];
    const engine = {
      eventsBackwards: (ref: SessionRef, head: number, size?: number) =>
        eventsBackwards({ read: page }, ref, head, size),
    };
    return latestMessages(engine as never, { ...RECORD, head: events.length }, limit);
  };

  test('the text of an interrupted turn is kept and marked', () => {
    const events = [input('hi'), begun(), event('text.ended', { block: 'a', text: 'x', interrupted: true })];
    expect(messagesOf(RECORD, events as DurableEvent[])[1]).toMatchObject({
      content: 'x',
      metadata: { interrupted: true },
    });
  });

  test('the text of a restarted step is discarded, and the answer has the id of its frames', () => {
    const events = [
      input('hi'),
      begun(),
      ended('a', 'void'),
      event('step.restarted', {
        id: 'again',
        attempt: 1,
        fault: { code: 'provider_unavailable', message: 'x' },
      }),
      ended('b', 'kept'),
    ];
    const answers = messagesOf(RECORD, events as DurableEvent[]).slice(1);
    expect(answers).toMatchObject([{ id: 'again', content: 'kept', agent_id: 'coder' }]);
  });

  test('the latest are read from the end, complete and with their agent, for any length of the history', async () => {
    const turns = Array.from({ length: 400 }, (_, n) => [
      input(`q${n}`),
      event('turn.started', { turn: `t${n}`, input: `q${n}`, agent: { id: `agent${n}`, name: '' } }),
      event('text.ended', { turn: `t${n}`, block: 'a', text: `a${n}` }),
      event('text.ended', { turn: `t${n}`, block: 'b', text: 'more' }),
    ]).flat();
    for (const limit of [1, 2, 3, 249, 250, 251, 800, 1000]) {
      const found = await read(turns, limit);
      const all = messagesOf(RECORD, turns as DurableEvent[]);
      expect(found).toEqual(all.slice(-limit));
    }
  });

  test('messages before a clear are gone', async () => {
    const events = [
      input('before'),
      begun(),
      ended('a', 'x'),
      event('session.cleared', { by: 'uma' }),
      input('after'),
    ];
    expect((await read(events, 10)).map((message) => message.content)).toEqual(['after']);
  });
});
