/** The facts of a session, read as turns. */
import { type Fact, textOf } from '../../packages/protocol/src/index.ts';

export type Call = {
  readonly call: string;
  readonly input: string;
  started: number;
  readonly outcomes: string[];
};

export type TurnRead = {
  readonly turn: string;
  /** the words of its input */
  readonly asked: string;
  readonly calls: Map<string, Call>;
  readonly blocks: Map<string, string>;
  /** texts since the last call */
  lastStep: string[];
  all: string[];
  /** how the last call came out */
  outcome: string;
  readonly ends: string[];
  /** text was kept that is not whole, and is marked so */
  interrupted: boolean;
  /** facts of the turn that came after its end */
  late: number;
};

export type SessionRead = {
  readonly turns: readonly TurnRead[];
  /** the words of every input, in the order in which they were stored */
  readonly inputs: readonly string[];
  /** inputs that no turn was begun for */
  readonly unheard: number;
  readonly approvals: ReadonlyMap<string, number>;
};

/** What follows the first part of an input is material, such as a page. */
const wordsOf = (fact: Fact<'input.accepted'>): string => textOf(fact.parts.slice(0, 1));

export function readTurns(facts: readonly Fact[]): SessionRead {
  const words = new Map<string, string>();
  const heard = new Set<string>();
  const turns = new Map<string, TurnRead>();
  const approvals = new Map<string, number>();
  for (const fact of facts) {
    if (fact.type === 'input.accepted') words.set(fact.input, wordsOf(fact));
    if (fact.type === 'approval.answered')
      approvals.set(fact.approval, (approvals.get(fact.approval) ?? 0) + 1);
    if (fact.type === 'turn.started') {
      heard.add(fact.input);
      turns.set(fact.turn, begun(fact.turn, words.get(fact.input) ?? ''));
    }
    const turn = 'turn' in fact ? turns.get(fact.turn) : undefined;
    if (turn) step(turn, fact);
  }
  const inputs = facts.flatMap((fact) => (fact.type === 'input.accepted' ? [wordsOf(fact)] : []));
  return { turns: [...turns.values()], inputs, unheard: words.size - heard.size, approvals };
}

const begun = (turn: string, asked: string): TurnRead => ({
  turn,
  asked,
  calls: new Map(),
  blocks: new Map(),
  lastStep: [],
  all: [],
  outcome: '',
  ends: [],
  interrupted: false,
  late: 0,
});

function step(turn: TurnRead, fact: Fact): void {
  if (turn.ends.length > 0 && !isEnd(fact)) turn.late++;
  switch (fact.type) {
    case 'text.ended':
      turn.blocks.set(fact.block, fact.text);
      if (fact.interrupted) turn.interrupted = true;
      turn.lastStep.push(fact.text);
      turn.all.push(fact.text);
      break;
    case 'call.requested':
      turn.lastStep = [];
      turn.calls.set(fact.call, {
        call: fact.call,
        input: JSON.stringify(fact.input),
        started: 0,
        outcomes: [],
      });
      break;
    case 'tool.started': {
      const call = turn.calls.get(fact.call);
      if (call) call.started++;
      break;
    }
    case 'tool.ended':
      turn.calls.get(fact.call)?.outcomes.push(fact.outcome);
      turn.outcome = textOf(fact.parts);
      break;
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
      turn.ends.push(fact.type);
      break;
    default:
      break;
  }
}

const isEnd = ({ type }: Fact): boolean =>
  type === 'turn.ended' || type === 'turn.failed' || type === 'turn.cancelled';

export const ENDED = 'turn.ended';
const BETWEEN_BLOCKS = '\n\n';

/** The text that a wire shows of the turn, which shows this part of it. */
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
