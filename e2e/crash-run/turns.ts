/** Groups the events of a session by turn. */
import { type DurableEvent, textOf } from '../../packages/protocol/src/index.ts';

export type Call = {
  readonly call: string;
  readonly input: string;
  started: number;
  readonly outcomes: string[];
};

export type TurnRead = {
  readonly turn: string;
  /** ids of its answer: the turn's own, and those of its restarts */
  readonly names: string[];
  /** text of its input */
  readonly asked: string;
  readonly calls: Map<string, Call>;
  readonly blocks: Map<string, string>;
  /** texts since the last call */
  lastStep: string[];
  all: string[];
  /** how many texts belong to completed steps; the others are discarded if the step restarts */
  settled: number;
  /** outcome of the last call */
  outcome: string;
  readonly ends: string[];
  /** incomplete text was stored and marked as such */
  interrupted: boolean;
  /** events of the turn after its end */
  late: number;
};

export type SessionRead = {
  readonly turns: readonly TurnRead[];
  /** text of every input, in stored order */
  readonly inputs: readonly string[];
  /** inputs without a turn */
  readonly unstarted: number;
  readonly approvals: ReadonlyMap<string, number>;
};

/** Later parts of an input are attachments, such as a page. */
const wordsOf = (event: DurableEvent<'input.accepted'>): string => textOf(event.parts.slice(0, 1));

export function readTurns(events: readonly DurableEvent[]): SessionRead {
  const words = new Map<string, string>();
  const started = new Set<string>();
  const turns = new Map<string, TurnRead>();
  const approvals = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'input.accepted') words.set(event.input, wordsOf(event));
    if (event.type === 'approval.answered')
      approvals.set(event.approval, (approvals.get(event.approval) ?? 0) + 1);
    if (event.type === 'turn.started') {
      started.add(event.input);
      turns.set(event.turn, begun(event.turn, words.get(event.input) ?? ''));
    }
    const turn = 'turn' in event && event.turn ? turns.get(event.turn) : undefined;
    if (turn) step(turn, event);
  }
  const inputs = events.flatMap((event) => (event.type === 'input.accepted' ? [wordsOf(event)] : []));
  return { turns: [...turns.values()], inputs, unstarted: words.size - started.size, approvals };
}

const begun = (turn: string, asked: string): TurnRead => ({
  turn,
  names: [turn],
  asked,
  calls: new Map(),
  blocks: new Map(),
  lastStep: [],
  all: [],
  settled: 0,
  outcome: '',
  ends: [],
  interrupted: false,
  late: 0,
});

function step(turn: TurnRead, event: DurableEvent): void {
  if (turn.ends.length > 0 && !isEnd(event)) turn.late++;
  switch (event.type) {
    case 'text.ended':
      turn.blocks.set(event.block, event.text);
      if (event.interrupted) turn.interrupted = true;
      turn.lastStep.push(event.text);
      turn.all.push(event.text);
      break;
    case 'step.ended':
      turn.settled = turn.all.length;
      break;
    case 'step.restarted':
    case 'turn.resumed':
      turn.names.push(event.id);
      turn.all = turn.all.slice(0, turn.settled);
      break;
    case 'call.requested':
      turn.lastStep = [];
      turn.calls.set(event.call, {
        call: event.call,
        input: JSON.stringify(event.input),
        started: 0,
        outcomes: [],
      });
      break;
    case 'tool.started': {
      const call = turn.calls.get(event.call);
      if (call) call.started++;
      break;
    }
    case 'tool.ended':
      turn.calls.get(event.call)?.outcomes.push(event.outcome);
      turn.outcome = textOf(event.parts);
      break;
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      turn.ends.push(event.type);
      break;
    default:
      break;
  }
}

const isEnd = ({ type }: DurableEvent): boolean =>
  type === 'turn.ended' || type === 'turn.failed' || type === 'turn.cancelled';

export const ENDED = 'turn.ended';
const BETWEEN_BLOCKS = '\n\n';

/** The text of the turn in this part. */
export function shownOf(turn: TurnRead, part: 'last step' | 'turn' | 'outcome'): string {
  switch (part) {
    case 'last step':
      return turn.lastStep.length > 0 ? turn.lastStep.join(BETWEEN_BLOCKS) : turn.outcome;
    case 'turn':
      return turn.all.join(BETWEEN_BLOCKS);
    case 'outcome':
      return turn.outcome;
  }
}
