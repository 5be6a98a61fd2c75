import { describe, expect, test } from 'bun:test';
import type { CallId, DurableEvent, DurableEventBody, InputId, SessionId, TurnId } from '@parlance/protocol';
import { textPart } from '@parlance/protocol';
import type { PromptItem } from '../ports/provider.ts';
import { type Context, cutContext, EMPTY, evolveContext } from './context.ts';
import { evolve } from './evolve.ts';
import { initialState } from './session-state.ts';

const TURN = 'turn-1' as TurnId;
const CODER = { id: 'coder', name: 'Coder' };
const USAGE = { inputTokens: 1, outputTokens: 1 };

const numbered = (bodies: readonly DurableEventBody[]): DurableEvent[] =>
  bodies.map((body, index) => {
    const head = { session: 's' as SessionId, id: `f${index + 1}`, at: index, seq: index + 1 };
    return { ...body, ...head } as DurableEvent;
  });
const folded = (events: readonly DurableEvent[]): Context => events.reduce(evolveContext, EMPTY);
const shown = (context: Context): string[] => context.entries.map(({ item }) => brief(item));

function brief(item: PromptItem): string {
  switch (item.kind) {
    case 'user':
    case 'result':
      return `${item.kind} ${item.parts.map((part) => (part.type === 'text' ? part.text : part.type))}`;
    case 'call':
      return `call ${item.call}`;
    case 'text':
    case 'reasoning':
    case 'summary':
      return `${item.kind} ${item.text}`;
  }
}

const input = (name: string): DurableEventBody => ({
  type: 'input.accepted',
  input: name as InputId,
  parts: [textPart(name)],
  dialect: 'native',
});
const started = (name: string, turn = TURN): DurableEventBody => ({
  type: 'turn.started',
  turn,
  input: name as InputId,
  agent: CODER,
});
const text = (said: string, interrupted?: boolean): DurableEventBody => ({
  type: 'text.ended',
  turn: TURN,
  block: 'b' as never,
  text: said,
  interrupted,
});
const reasoning = (said: string): DurableEventBody => ({
  type: 'reasoning.ended',
  turn: TURN,
  block: 'b' as never,
  text: said,
  durationMs: 1,
});
const call = (id: string): DurableEventBody => ({
  type: 'call.requested',
  turn: TURN,
  call: id as CallId,
  tool: 'lookup',
  input: {},
});
const result = (id: string, outcome: 'ok' | 'aborted' | 'unknown' = 'ok'): DurableEventBody => ({
  type: 'tool.ended',
  turn: TURN,
  call: id as CallId,
  outcome,
  parts: [textPart(`${outcome} ${id}`)],
  durationMs: 1,
});
const step: DurableEventBody = { type: 'step.ended', turn: TURN, usage: USAGE, stop: 'done' };
const resumed: DurableEventBody = { type: 'turn.resumed', turn: TURN };
const cancelled: DurableEventBody = { type: 'turn.cancelled', turn: TURN, reason: 'cancelled' };
const cleared: DurableEventBody = { type: 'session.cleared', by: 'local' };
const ended: DurableEventBody = {
  type: 'turn.ended',
  turn: TURN,
  usage: USAGE,
  durationMs: 1,
  context: { tokens: 1, limit: 1, items: 1, strategy: 'none' },
};
const compacted = (keepFrom: number, readFrom: number): DurableEventBody => ({
  type: 'context.compacted',
  summary: 'so far',
  oldTokens: 2,
  newTokens: 1,
  strategy: 'threshold',
  keepFrom,
  readFrom,
});

describe('the context', () => {
  test('holds inputs where their turn began, not where they were accepted', () => {
    const events = [input('one'), started('one'), input('two'), text('1'), step, ended, started('two')];
    expect(shown(folded(numbered(events)))).toEqual(['user one', 'text 1', 'user two']);
  });

  test('voids the unfinished step when the turn is resumed, and keeps the finished ones', () => {
    const finished = [input('one'), started('one'), text('1'), call('a'), step, result('a')];
    const events = [...finished, reasoning('half a thought'), resumed, text('2'), step];
    expect(shown(folded(numbered(events)))).toEqual([
      'user one',
      'text 1',
      'call a',
      'result ok a',
      'text 2',
    ]);
  });

  test('keeps a call that a person asked for by name when the process dies before its result', () => {
    const events = [input('one'), started('one'), call('a'), resumed, result('a', 'unknown')];
    expect(shown(folded(numbered(events)))).toEqual(['user one', 'call a', 'result unknown a']);
  });

  test('keeps the text of an interrupted turn as far as it was shown', () => {
    const events = [
      input('one'),
      started('one'),
      text('Half', true),
      cancelled,
      input('two'),
      started('two'),
    ];
    const context = folded(numbered([...events, resumed]));
    expect(shown(context)).toEqual(['user one', 'text Half', 'user two']);
  });

  test('voids the unfinished step even where the context was compacted in the middle of it', () => {
    const before = [input('one'), started('one'), text('1'), step, ended, input('two'), started('two')];
    const events = [...before, reasoning('half a thought'), compacted(7, 6), resumed, text('2'), step];
    expect(shown(folded(numbered(events)))).toEqual(['summary so far', 'user two', 'text 2']);
  });

  test('is empty after a clear, except for the inputs that still wait', () => {
    const events = [input('one'), started('one'), input('two'), cancelled, cleared];
    expect(shown(folded(numbered(events)))).toEqual([]);
    expect(folded(numbered(events)).tokens).toBe(0);
    expect(shown(folded(numbered([...events, started('two')])))).toEqual(['user two']);
  });

  test('never gives an older summary a second place', () => {
    const events = [
      ...[input('one'), started('one'), text('1'), step, ended],
      ...[compacted(6, 6), input('two'), started('two'), ended, compacted(9, 9)],
    ];
    expect(shown(folded(numbered(events)))).toEqual(['summary so far']);
  });
});

describe('a cut', () => {
  const turn = (name: string, size: number): DurableEventBody[] => [
    input(name),
    started(name),
    text('x'.repeat(size * 4)),
    step,
    ended,
  ];

  test('keeps the last whole turns that fit, and drops the rest', () => {
    const context = folded(numbered([...turn('one', 100), ...turn('two', 100), ...turn('three', 100)]));
    const cut = cutContext(context, 250);
    expect(cut).toMatchObject({ keepFrom: 7, readFrom: 6 });
    expect(cut?.dropped.map(brief)[0]).toBe('user one');
    expect(cut?.dropped).toHaveLength(2);
  });

  test('always keeps the running turn, however large it is', () => {
    const context = folded(numbered([...turn('one', 100), input('two'), started('two'), text('y'), step]));
    expect(cutContext(context, 0, 7)).toMatchObject({ keepFrom: 7, readFrom: 6 });
  });

  test('is none where nothing would be dropped, or nothing but the last summary', () => {
    expect(cutContext(EMPTY, 0)).toBeNull();
    expect(cutContext(folded(numbered(turn('one', 100))), 1_000)).toBeNull();
    const events = [...turn('one', 100), compacted(6, 6), input('two'), started('two')];
    expect(cutContext(folded(numbered(events)), 0, 8)).toBeNull();
  });

  test('reads from the first input that still waits, so that it is not lost', () => {
    const events = numbered([input('one'), input('two'), started('one'), text('1'), step, ended]);
    const cut = cutContext(folded(events), 0);
    expect(cut).toMatchObject({ keepFrom: 4, readFrom: 2 });
  });

  test('does not touch a turn that begins while the summary is being written', () => {
    const before = numbered(turn('one', 100));
    const cut = cutContext(folded(before), 0);
    const after = [...turn('one', 100), input('two'), started('two'), compacted(cut?.keepFrom ?? 0, 0)];
    expect(shown(folded(numbered(after)))).toEqual(['summary so far', 'user two']);
  });
});

describe('whatever happened', () => {
  const SEEDS = Array.from({ length: 300 }, (_, index) => index + 1);

  test('the context folded from readFrom equals the context folded from the first event', () => {
    for (const seed of SEEDS) {
      const events = numbered(history(seed, 60));
      let state = initialState(CODER);
      for (const [index, event] of events.entries()) {
        state = evolve(state, event);
        const all = folded(events.slice(0, index + 1));
        const late = folded(events.slice(Math.max(0, state.readFrom - 1), index + 1));
        const { tokens, settled } = late;
        expect({ seed, at: event.seq, items: shown(late), tokens, settled }).toEqual({
          seed,
          at: event.seq,
          items: shown(all),
          tokens: all.tokens,
          settled: all.settled,
        });
        expect([...late.waiting.keys()]).toEqual([...all.waiting.keys()]);
      }
    }
  });

  test('no result stands without its call before it, and no finished turn leaves a call without a result', () => {
    for (const seed of SEEDS) {
      const events = numbered(history(seed, 60));
      for (let length = 1; length <= events.length; length++) {
        const { entries } = folded(events.slice(0, length));
        const open = new Set<string>();
        for (const { item } of entries) {
          if (item.kind === 'call') open.add(item.call);
          if (item.kind === 'result') {
            const known = open.delete(item.call);
            expect({ seed, length, call: item.call, known }).toEqual({
              seed,
              length,
              call: item.call,
              known: true,
            });
          }
          if (item.kind === 'user') expect({ seed, length, open: [...open] }).toMatchObject({ open: [] });
        }
      }
    }
  });
});

/** A session as the core would write it, of about `length` events: the same seed gives the same history. */
function history(seed: number, length: number): DurableEventBody[] {
  const random = mulberry32(seed);
  const chance = (share: number) => random() < share;
  const events: DurableEventBody[] = [];
  const waiting: string[] = [];
  let inputs = 0;
  let calls = 0;
  let open: string[] = [];
  let running = false;
  const accept = () => {
    waiting.push(`input-${++inputs}`);
    events.push(input(`input-${inputs}`));
  };
  const stop = () => {
    events.push(...open.map((id) => result(id, 'aborted')), cancelled);
    open = [];
    running = false;
  };
  const compact = () => {
    const context = folded(numbered(events));
    const kept = running ? context.turns.at(-1)?.started : undefined;
    const cut = cutContext(context, random() * context.tokens, kept);
    if (cut) events.push(compacted(cut.keepFrom, cut.readFrom));
  };
  while (events.length < length) {
    if (chance(0.2)) accept();
    const next = running ? undefined : waiting.shift();
    if (!running && !next) {
      if (chance(0.1)) events.push(cleared);
      if (chance(0.2)) compact();
      accept();
      continue;
    }
    if (next) {
      if (chance(0.1)) compact();
      events.push(started(next));
      running = true;
      if (chance(0.1)) {
        open = [`call-${++calls}`];
        events.push(call(`call-${calls}`));
      }
    } else if (chance(0.1)) events.push(resumed);
    else if (chance(0.08)) {
      stop();
      if (chance(0.3)) events.push(cleared);
    } else if (open.length > 0) events.push(result(open.shift() ?? ''));
    else if (chance(0.15)) compact();
    else if (chance(0.3)) events.push(reasoning(`thought ${events.length}`));
    else if (chance(0.5)) {
      open = [`call-${++calls}`, `call-${++calls}`];
      events.push(text(`said ${events.length}`), ...open.map(call), step);
    } else {
      events.push(text(`answer ${events.length}`), step, ended);
      running = false;
    }
  }
  return events;
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
