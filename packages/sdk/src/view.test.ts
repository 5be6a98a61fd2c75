import { describe, expect, test } from 'bun:test';
import type { SessionEvent, SessionId } from '@parlance/protocol';
import { readTranscript } from '../../server/src/testing/transcripts.ts';
import type { Snapshot } from './cursor.ts';
import { type CallView, EMPTY, type Entry, fold, foldAll, type SessionView, type TurnView } from './view.ts';

const viewOf = (name: string): SessionView => foldAll(EMPTY, readTranscript(name));
const turnsOf = (view: SessionView): TurnView[] =>
  view.entries.filter((entry): entry is TurnView => entry.kind === 'turn');
const items = (view: SessionView, turn = -1) => turnsOf(view).at(turn)?.items ?? [];
const callIn = (view: SessionView): CallView => {
  const call = items(view).find((item) => item.kind === 'call');
  if (call?.kind !== 'call') throw new Error('there is no call');
  return call;
};

describe('a view', () => {
  test('has the messages of both sides, the title and the totals', () => {
    const view = viewOf('tool-call');
    expect(view).toMatchObject({
      title: 'What is parlance?',
      status: 'idle',
      agent: { id: 'coder' },
      usage: { inputTokens: 20, outputTokens: 10 },
      context: { limit: 1000 },
    });
    expect(turnsOf(view)[0]?.input?.parts).toEqual([{ type: 'text', text: 'What is parlance?' }]);
    expect(items(view)).toMatchObject([
      { kind: 'text', text: 'Let me look.', state: 'ended' },
      { kind: 'call', tool: 'lookup', state: { phase: 'ended', outcome: 'ok', data: { word: 'parlance' } } },
      { kind: 'text', text: 'It is a word.', state: 'ended' },
    ]);
  });

  test('grows with each delta, in the same block', () => {
    const [deltas, rest] = [[] as SessionView[], readTranscript('plain-answer')];
    let view = EMPTY;
    for (const event of rest) {
      view = fold(view, event);
      if (event.type === 'text.delta') deltas.push(view);
    }
    expect(deltas.map((each) => items(each))).toMatchObject([
      [{ text: 'Hello ', state: 'open', seqs: [] }],
      [{ text: 'Hello there.', state: 'open' }],
    ]);
  });

  test('shares what a delta did not touch', () => {
    const events = readTranscript('queue');
    const last = events.findLastIndex(({ type }) => type === 'text.delta');
    const before = foldAll(EMPTY, events.slice(0, last));
    const after = fold(before, events[last] as SessionEvent);
    expect(after).not.toBe(before);
    expect(after.entries[0]).toBe(before.entries[0] as TurnView);
    expect(after.queued).toBe(before.queued);
  });

  test('shows who answered an approval and how, with the original words', () => {
    const { approval } = callIn(viewOf('approval-by-word'));
    expect(approval?.state).toMatchObject({ status: 'answered', answer: 'once', by: 'local', said: 'yes' });
    const denied = callIn(viewOf('approval-no'));
    expect(denied.approval?.state).toMatchObject({ answer: 'deny', reason: 'not now' });
    expect(denied.state).toMatchObject({ phase: 'ended', outcome: 'denied' });
    const explained = viewOf('approval-explained');
    expect(callIn(explained).approval?.explanations).toEqual(['It runs the tests.']);
    expect(explained.grants).toEqual(['shell:npm']);
  });

  test('shares the pending approval with its call until it is answered', () => {
    const events = readTranscript('approval-explained');
    const at = (type: string) =>
      foldAll(EMPTY, events.slice(0, 1 + events.findIndex((e) => e.type === type)));
    for (const type of ['approval.requested', 'approval.explained']) {
      const view = at(type);
      expect(view).toMatchObject({ status: 'waiting', pending: { state: { status: 'pending' } } });
      expect(view.pending).toBe(callIn(view).approval);
    }
    expect(at('approval.answered')).toMatchObject({ status: 'running', pending: null });
  });

  test('drops the output of a restarted step and shows the restart', () => {
    expect(items(viewOf('retry-mid-stream'))).toMatchObject([
      { kind: 'restart', attempt: 2, fault: { code: 'provider_unavailable' } },
      { kind: 'text', text: 'A whole answer.' },
    ]);
    expect(items(viewOf('resume'))).toMatchObject([{ kind: 'resumed' }, { text: 'A whole answer.' }]);
  });

  test('shows which model answers instead, and why', () => {
    const view = viewOf('fallback');
    expect(turnsOf(view).map(({ fallback }) => fallback)).toEqual(['small', 'small']);
    expect(turnsOf(view)[0]?.items[0]).toMatchObject({
      kind: 'restart',
      fault: { code: 'provider_limited' },
      fallback: { model: 'small', passed: [{ model: 'large', reason: 'failed' }] },
    });
  });

  test('drops an open block when its turn ends', () => {
    const events = readTranscript('failure-mid-stream').filter(({ type }) => type !== 'text.ended');
    const view = foldAll(EMPTY, events);
    expect(turnsOf(view)[0]).toMatchObject({ items: [], open: null, state: { status: 'failed' } });
  });

  test('drops the ended blocks of a restarted step, and none of the previous step', () => {
    const events = readTranscript('reasoning');
    const thought = events.findIndex(({ type }) => type === 'reasoning.ended');
    const { turn, seq, ...head } = events[thought] as Extract<SessionEvent, { type: 'reasoning.ended' }>;
    const view = foldAll(EMPTY, events.slice(0, thought + 1));
    expect(items(view)).toHaveLength(1);
    const fault = { code: 'provider_unavailable', message: 'No.' } as const;
    const restarted = {
      ...head,
      type: 'step.restarted',
      turn,
      attempt: 2,
      delayMs: 1,
      fault,
      seq: seq + 1,
    } as const;
    const once = fold(view, restarted);
    expect(items(once)).toMatchObject([{ kind: 'restart' }]);
    const again = fold(once, { ...restarted, attempt: 3, seq: seq + 2 });
    expect(items(again)).toMatchObject([{ kind: 'restart', attempt: 3, seqs: [seq + 1, seq + 2] }]);
    const shown = fold(again, { ...restarted, attempt: 4, shown: true, seq: seq + 3 });
    expect(items(shown)).toMatchObject([{ kind: 'restart', attempt: 4, seqs: [seq + 3] }]);
  });

  test('shows queued inputs, and which turn an input superseded', () => {
    const events = readTranscript('queue');
    const second = events.findLastIndex(({ type }) => type === 'input.accepted');
    const waiting = foldAll(EMPTY, events.slice(0, second + 1));
    expect(waiting.queued).toMatchObject([{ parts: [{ text: 'Second' }], superseded: null }]);
    const [first, next] = turnsOf(viewOf('supersede'));
    expect(first?.state).toEqual({ status: 'cancelled', reason: 'superseded' });
    expect(first?.items).toMatchObject([{ text: 'The first ', state: 'interrupted' }]);
    expect(next?.input?.superseded).toBe(first?.turn ?? null);
  });

  test('shows a fault, an unknown outcome and a handoff', () => {
    expect(viewOf('failure-mid-stream').status).toBe('failed');
    expect(turnsOf(viewOf('failure-mid-stream'))[0]?.state).toMatchObject({
      status: 'failed',
      fault: { code: 'provider_unavailable' },
    });
    expect(callIn(viewOf('resume-call-lost')).state).toMatchObject({ outcome: 'unknown' });
    expect(viewOf('handoff')).toMatchObject({ agent: { id: 'tester' } });
    expect(items(viewOf('handoff')).map(({ kind }) => kind)).toEqual(['call', 'handoff', 'text']);
  });

  test('marks where the context was cleared or compacted', () => {
    expect(viewOf('clear').entries.map(({ kind }) => kind)).toEqual(['turn', 'cleared']);
    expect(viewOf('clear').title).toBe('Hi');
    expect(items(viewOf('compaction'))[0]).toMatchObject({
      kind: 'compaction',
      summary: 'They asked twice.',
    });
  });

  test('of a session that waits for a client is waiting', () => {
    const events = readTranscript('deferred-call');
    const at = events.findIndex(({ type }) => type === 'call.deferred');
    expect(foldAll(EMPTY, events.slice(0, at + 1)).status).toBe('waiting');
  });

  test('has the progress of a running call, and the plan once it is accepted', () => {
    const events = readTranscript('tool-call').map((event) =>
      event.type === 'call.requested'
        ? { ...event, tool: 'update_plan', input: { steps: [{ step: 'Look', status: 'in_progress' }] } }
        : event,
    );
    const started = events.findIndex(({ type }) => type === 'tool.started');
    const { session, id, at } = events[started] as SessionEvent;
    const call = callIn(foldAll(EMPTY, events)).call;
    const live = {
      type: 'call.progress',
      call,
      execution: 'e',
      status: 'executing',
      progress: 40,
      session,
      id,
      at,
    } as const;
    const running = fold(foldAll(EMPTY, events.slice(0, started + 1)), live);
    expect(callIn(running).state).toMatchObject({ phase: 'running', progress: { progress: 40 } });
    expect(running.plan).toBeNull();
    const over = foldAll(running, events);
    expect(over.plan?.steps).toEqual([{ step: 'Look', status: 'in_progress' }]);
    expect(fold(over, live)).toBe(over);
  });
});

describe('a snapshot', () => {
  const events = readTranscript('plain-answer');
  const first = events.findIndex(({ type }) => type === 'text.delta');
  const delta = events[first] as Extract<SessionEvent, { type: 'text.delta' }>;
  const view = foldAll(EMPTY, events.slice(0, first + 1));
  const { turn, block } = delta;
  const snapshot: Snapshot = { type: 'snapshot', seq: view.seq, turn, open: null, approval: null };

  test("sets the open block to the server's text", () => {
    const open = { kind: 'text', turn, block, text: 'Hello there' } as const;
    expect(items(fold(view, { ...snapshot, open }))).toMatchObject([{ text: 'Hello there', state: 'open' }]);
    expect(fold(view, { ...snapshot, open: { ...open, text: 'Hello ' } })).toBe(view);
  });

  test('drops a block that the server no longer has', () => {
    expect(items(fold(view, snapshot))).toEqual([]);
  });

  test('does not reopen an ended block', () => {
    const ended = foldAll(view, events.slice(0, -1));
    const open = { kind: 'text', turn, block, text: 'Hello ' } as const;
    expect(fold(ended, { ...snapshot, open })).toBe(ended);
  });
});

test('a reset clears the view', () => {
  expect(fold(viewOf('queue'), { type: 'reset' })).toBe(EMPTY);
});

test('an erased session keeps only who erased it; a new session of the same name starts over', () => {
  const events = readTranscript('plain-answer');
  const { session, id, at } = events[0] as SessionEvent;
  const erased = fold(viewOf('queue'), { type: 'session.erased', by: 'ada', session, id, at });
  expect(erased).toEqual({ ...EMPTY, session, erasedBy: 'ada' });
  expect(foldAll(erased, events)).toEqual(viewOf('plain-answer'));
});

test('an unknown event of a newer server only moves the position', () => {
  const view = viewOf('plain-answer');
  const unknown = { ...readTranscript('plain-answer')[0], type: 'moon.risen', seq: view.seq + 1 };
  expect(fold(view, unknown as never)).toEqual({ ...view, seq: view.seq + 1 });
  expect(fold(view, { type: 'moon.rising' } as never)).toBe(view);
});

test('a history that was taken over comes before the turns, and can be replaced from one of its messages', () => {
  const events = readTranscript('history');
  const view = foldAll(EMPTY, events);
  expect(view.title).toBe('Name a river');
  expect(view.entries.map(({ kind }) => kind)).toEqual(['history', 'history', 'turn']);
  const [first, second] = view.entries;
  expect(first).toMatchObject({ dialect: 'native', items: [{ type: 'user' }, {}, {}, {}, { type: 'text' }] });
  if (second?.kind !== 'history' || !second.input) throw new Error('there is no message');
  const rewound = { type: 'session.rewound', input: second.input, from: 3, by: 'local' } as const;
  const head = { session: 'session-1' as SessionId, id: 'rewound', at: 0, seq: view.seq + 1 };
  expect(fold(view, { ...rewound, ...head }).entries).toEqual([first as Entry]);
});

test('a call is seen while the model writes it, is discarded with its step, and is an item when it is complete', () => {
  const seen = new Set<string>();
  let view = EMPTY;
  for (const event of readTranscript('streamed-arguments')) {
    view = fold(view, event);
    const writing = turnsOf(view).at(-1)?.writing ?? [];
    if (event.type === 'step.restarted' || event.type === 'step.ended') expect(writing).toEqual([]);
    for (const { call, text } of writing) seen.add(`${call} ${text}`);
  }
  expect([...seen]).toEqual(['call_0 {"wor', 'call_1 ', 'call_1 {"word":', 'call_1 {"word":"parlance"}']);
  expect(callIn(view)).toMatchObject({ call: 'call_1', input: { word: 'parlance' } });
});

test('arguments of which the beginning was missed are not shown, unless a snapshot has it', () => {
  const events = readTranscript('streamed-arguments');
  const last = events.findLastIndex(({ type }) => type === 'call.arguments.delta');
  const before = foldAll(
    EMPTY,
    events.slice(0, last).filter(({ type }) => type !== 'call.arguments.delta'),
  );
  const writing = (view: SessionView) => turnsOf(view).at(-1)?.writing;
  expect(writing(fold(before, events[last] as SessionEvent))).toEqual([]);
  const { turn } = turnsOf(before).at(-1) as TurnView;
  const call = 'call_1' as CallView['call'];
  const written = [{ turn, call, tool: 'lookup', text: '{"word":' }];
  const snapshot: Snapshot = {
    type: 'snapshot',
    seq: before.seq,
    turn,
    open: null,
    approval: null,
    arguments: written,
  };
  expect(writing(fold(fold(before, snapshot), events[last] as SessionEvent))).toEqual([
    { call, tool: 'lookup', text: '{"word":"parlance"}' },
  ]);
});
