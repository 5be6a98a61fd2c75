/** Turns of a session as spans of time: model steps, calls, and waiting for people. */
import type { DurableEvent } from '@parlance/protocol';
import { textOf } from '@parlance/ui/chat/rows.ts';
import { oneLine } from '../../entries/summary.ts';

export type Span = {
  /** id of the call, the approval or the question; of a step, its number */
  readonly key: string;
  /** the event that began it, or that tells of it */
  readonly seq: number;
  readonly kind: 'step' | 'call' | 'wait';
  readonly label: string;
  readonly from: number;
  /** null: not ended yet */
  readonly to: number | null;
  /** 0: of the turn; 1: of the call above */
  readonly depth: 0 | 1;
  /** it did not end well, in one word */
  readonly problem: string | null;
  readonly tokens: number | null;
  /** in US dollars; null if the model had no price */
  readonly cost: number | null;
  /** the session of a sub-agent that works on the call */
  readonly child: string | null;
};

export type TurnSpans = {
  readonly turn: string;
  /** the beginning of the message */
  readonly label: string;
  /** the event with the message; null if it is not among them */
  readonly inputSeq: number | null;
  readonly agent: string;
  /** the model that answered last, if a vendor did */
  readonly model: string | null;
  readonly seq: number;
  readonly from: number;
  /** null: not ended yet */
  readonly to: number | null;
  readonly spans: readonly Span[];
  readonly steps: number;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number | null;
};

type Open<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type Building = Open<Omit<TurnSpans, 'spans'>> & {
  readonly spans: Open<Span>[];
  /** where the next step begins: when its results were there */
  ready: number;
  /** the event that ended the last step */
  lastStep: number;
};

/** Their cost grows with the number of events. */
export function turnsOf(events: readonly DurableEvent[]): TurnSpans[] {
  const turns = new Map<string, Building>();
  const inputs = new Map<string, DurableEvent<'input.accepted'>>();
  for (const event of events) {
    if (event.type === 'input.accepted') inputs.set(event.input, event);
    if (event.type === 'turn.started') {
      const input = inputs.get(event.input);
      turns.set(event.turn, {
        turn: event.turn,
        label: (input && oneLine(textOf(input.parts))) || event.agent.name,
        inputSeq: input?.seq ?? null,
        agent: event.agent.name,
        model: null,
        seq: event.seq,
        from: event.at,
        to: null,
        spans: [],
        steps: 0,
        calls: 0,
        tokens: 0,
        cost: null,
        ready: event.at,
        lastStep: event.seq,
      });
    }
    const turn = 'turn' in event && typeof event.turn === 'string' ? turns.get(event.turn) : undefined;
    if (turn) add(turn, event);
  }
  return [...turns.values()].map(({ ready: _, lastStep: __, ...turn }) => turn);
}

const NOTHING = { depth: 0, problem: null, tokens: null, cost: null, child: null } as const;

function add(turn: Building, event: DurableEvent): void {
  const { spans } = turn;
  const { at, seq } = event;
  const callOf = (call: string) => spans.find((span) => span.kind === 'call' && span.key === call);
  const waitOf = (id: string) => spans.find((span) => span.kind === 'wait' && span.key === id);
  const open = (span: Pick<Span, 'key' | 'kind' | 'label'>, after?: Open<Span>) => {
    const opened = { ...NOTHING, ...span, seq, from: at, to: null, depth: after ? 1 : 0 } as const;
    if (after) spans.splice(spans.indexOf(after) + 1, 0, opened);
    else spans.push(opened);
  };
  const end = (span: Open<Span> | undefined, problem: string | null = null) => {
    if (!span || span.to !== null) return;
    span.to = at;
    span.problem = problem;
    turn.ready = Math.max(turn.ready, at);
  };
  switch (event.type) {
    case 'step.ended': {
      const { inputTokens, outputTokens } = event.usage;
      turn.steps++;
      turn.model = event.model ?? turn.model;
      turn.tokens += inputTokens + outputTokens;
      if (event.cost !== undefined) turn.cost = (turn.cost ?? 0) + event.cost / 1e6;
      const step: Open<Span> = {
        ...NOTHING,
        key: String(turn.steps),
        seq,
        kind: 'step',
        label: `Step ${turn.steps}`,
        from: Math.min(turn.ready, at),
        to: at,
        tokens: inputTokens + outputTokens,
        cost: event.cost === undefined ? null : event.cost / 1e6,
        problem: event.stop === 'refused' || event.stop === 'length' ? event.stop : null,
      };
      // The calls of an answer are stored before its end.
      const first = spans.findIndex((span) => span.kind === 'call' && span.seq > turn.lastStep);
      spans.splice(first === -1 ? spans.length : first, 0, step);
      turn.ready = at;
      turn.lastStep = seq;
      return;
    }
    case 'call.requested':
      turn.calls++;
      open({ key: event.call, kind: 'call', label: event.tool });
      return;
    case 'tool.started': {
      const call = callOf(event.call);
      // Until then it waited, which has a span of its own.
      if (call) call.from = Math.max(call.from, at);
      if (call && event.child) call.child = event.child.session;
      return;
    }
    case 'call.delegated': {
      const call = callOf(event.call);
      if (call) call.child = event.child;
      return;
    }
    case 'tool.ended': {
      const call = callOf(event.call);
      if (call && event.child) call.child = event.child.session;
      end(call, event.outcome === 'ok' ? null : event.outcome);
      return;
    }
    case 'approval.requested':
      open({ key: event.approval, kind: 'wait', label: 'Approval' }, callOf(event.call));
      return;
    case 'approval.answered':
      end(waitOf(event.approval), event.answer === 'deny' ? 'denied' : null);
      return;
    case 'question.asked':
      open(
        { key: event.question, kind: 'wait', label: 'Question' },
        event.call === undefined ? undefined : callOf(event.call),
      );
      return;
    case 'question.answered':
      end(waitOf(event.question), event.outcome === 'answered' ? null : event.outcome);
      return;
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      turn.to = at;
      for (const span of spans) end(span, 'stopped');
      return;
    default:
      return;
  }
}
