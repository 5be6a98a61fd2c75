/** Events that change the context, for tests. */
import type { CallId, DurableEvent, DurableEventBody, InputId, SessionId, TurnId } from '@parlance/protocol';
import { textPart } from '@parlance/protocol';
import type { ContextItem } from '../core/ports/provider.ts';
import { cutContext, EMPTY, evolveContext, type ModelContext } from '../core/session/context.ts';

export const TURN = 'turn-1' as TurnId;
export const CODER = { id: 'coder', name: 'Coder' };
export const USAGE = { inputTokens: 1, outputTokens: 1 };

export const numbered = (bodies: readonly DurableEventBody[]): DurableEvent[] =>
  bodies.map((body, index) => {
    const head = { session: 's' as SessionId, id: `f${index + 1}`, at: index, seq: index + 1 };
    return { ...body, ...head } as DurableEvent;
  });
export const folded = (events: readonly DurableEvent[]): ModelContext => events.reduce(evolveContext, EMPTY);
export const shown = (context: ModelContext): string[] => context.entries.map(({ item }) => brief(item));

export function brief(item: ContextItem): string {
  switch (item.kind) {
    case 'user':
    case 'result':
      return `${item.kind} ${item.parts.map((part) => (part.type === 'text' ? part.text : part.type))}`;
    case 'call':
      return `call ${item.call}`;
    case 'system':
    case 'text':
    case 'reasoning':
    case 'summary':
      return `${item.kind} ${item.text}`;
  }
}

export const input = (name: string): DurableEventBody => ({
  type: 'input.accepted',
  input: name as InputId,
  parts: [textPart(name)],
  dialect: 'native',
});
export const imported = (name: string): DurableEventBody => ({
  type: 'history.imported',
  input: name as InputId,
  items: [
    { type: 'user', parts: [textPart(name)] },
    { type: 'text', text: `answer to ${name}` },
  ],
  dialect: 'native',
});
export const started = (name: string, turn = TURN): DurableEventBody => ({
  type: 'turn.started',
  turn,
  input: name as InputId,
  agent: CODER,
});
export const text = (said: string, interrupted?: boolean): DurableEventBody => ({
  type: 'text.ended',
  turn: TURN,
  block: 'b' as never,
  text: said,
  interrupted,
});
export const reasoning = (said: string): DurableEventBody => ({
  type: 'reasoning.ended',
  turn: TURN,
  block: 'b' as never,
  text: said,
  durationMs: 1,
});
export const call = (id: string): DurableEventBody => ({
  type: 'call.requested',
  turn: TURN,
  call: id as CallId,
  tool: 'lookup',
  input: {},
});
export const result = (id: string, outcome: 'ok' | 'aborted' | 'unknown' = 'ok'): DurableEventBody => ({
  type: 'tool.ended',
  turn: TURN,
  call: id as CallId,
  outcome,
  parts: [textPart(`${outcome} ${id}`)],
  durationMs: 1,
});
export const step: DurableEventBody = { type: 'step.ended', turn: TURN, usage: USAGE, stop: 'done' };
export const resumed: DurableEventBody = { type: 'turn.resumed', turn: TURN };
export const cancelled: DurableEventBody = { type: 'turn.cancelled', turn: TURN, reason: 'cancelled' };
export const cleared: DurableEventBody = { type: 'session.cleared', by: 'local' };
export const ended: DurableEventBody = {
  type: 'turn.ended',
  turn: TURN,
  usage: USAGE,
  durationMs: 1,
  context: { tokens: 1, limit: 1, items: 1, strategy: 'none' },
};
export const compacted = (keepFrom: number, readFrom: number): DurableEventBody => ({
  type: 'context.compacted',
  summary: 'so far',
  oldTokens: 2,
  newTokens: 1,
  strategy: 'threshold',
  keepFrom,
  readFrom,
});

/** A session history of about `length` events, as the core would write it; deterministic per seed. */
export function history(seed: number, length: number): DurableEventBody[] {
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
  for (let count = seed % 4; count > 0; count--) events.push(imported(`imported-${count}`));
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
