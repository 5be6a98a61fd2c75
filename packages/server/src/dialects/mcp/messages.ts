/** The messages of a session: one per input, and one per turn with text. */
import { type DurableEvent, type TurnId, textOf, wasStopped } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/index.ts';
import { finalAnswer } from '../kit/calls.ts';
import { latest } from '../kit/latest-items.ts';

export type Message = { readonly role: 'user' | 'assistant'; readonly text: string; readonly at: string };

/** The latest `limit` messages, oldest first. */
export const latestMessages = async (
  engine: Engine,
  record: SessionRecord,
  limit: number,
): Promise<Message[]> => {
  const drafts = await latest(engine, record, { limit, itemsOf: draftsOf });
  return drafts.map(({ role, texts, at }) => ({
    role,
    text: texts.join(BETWEEN_BLOCKS),
    at: new Date(at).toISOString(),
  }));
};

const BETWEEN_BLOCKS = '\n\n';

type Draft = {
  readonly role: Message['role'];
  /** set for an input */
  readonly input: string | null;
  texts: string[];
  /** number of texts of completed steps */
  settled: number;
  readonly at: number;
};

/** Events before `first` are read but not shown. */
export function draftsOf(events: readonly DurableEvent[], first: number): Draft[] {
  const drafts: Draft[] = [];
  const answers = new Map<TurnId, Draft>();
  const direct = directTurns(events);
  for (const event of events.slice(first))
    switch (event.type) {
      case 'history.imported':
        drafts.push(...imported(event));
        break;
      case 'input.accepted':
        // An input without parts lets the model continue; there is no message to show.
        if (event.parts.length > 0 || event.call) drafts.push(draft('user', event, [textOf(event.parts)]));
        break;
      case 'input.cancelled': {
        const cancelled = drafts.findIndex(({ input }) => input === event.input);
        if (cancelled >= 0) drafts.splice(cancelled, 1);
        break;
      }
      case 'session.rewound': {
        const replaced = drafts.findIndex(({ input }) => input === event.input);
        if (replaced >= 0) drafts.splice(replaced);
        break;
      }
      case 'text.ended':
        if (event.text !== '') answerOf(event).texts.push(event.text);
        break;
      case 'tool.ended': {
        // The result of a direct call, or of one that ends the turn, is the answer.
        const isAnswer = (direct.has(event.turn) && !wasStopped(event)) || finalAnswer(event) !== null;
        if (!isAnswer) break;
        const answer = answerOf(event);
        answer.settled = answer.texts.push(textOf(event.parts));
        break;
      }
      case 'step.ended': {
        const answer = answers.get(event.turn);
        if (answer) answer.settled = answer.texts.length;
        break;
      }
      case 'step.restarted':
      case 'turn.resumed': {
        const answer = answers.get(event.turn);
        answer?.texts.splice(answer.settled);
      }
    }
  return drafts.filter(({ texts }) => texts.length > 0);

  function answerOf(event: DurableEvent<'text.ended' | 'tool.ended'>): Draft {
    const known = answers.get(event.turn);
    if (known) return known;
    const answer = draft('assistant', { at: event.at }, []);
    answers.set(event.turn, answer);
    drafts.push(answer);
    return answer;
  }
}

const draft = (
  role: Message['role'],
  event: { readonly at: number; readonly input?: string },
  texts: string[],
): Draft => ({
  role,
  input: event.input ?? null,
  texts,
  settled: 0,
  at: event.at,
});

function imported(event: DurableEvent<'history.imported'>): Draft[] {
  const [first] = event.items;
  const texts = event.items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return [
    ...(first?.type === 'user' ? [draft('user', event, [textOf(first.parts)])] : []),
    draft('assistant', { at: event.at }, texts),
  ];
}

/** The turns of direct calls. */
function directTurns(events: readonly DurableEvent[]): ReadonlySet<TurnId> {
  const inputs = new Set<string>();
  const turns = new Set<TurnId>();
  for (const event of events) {
    if (event.type === 'input.accepted' && event.call) inputs.add(event.input);
    if (event.type === 'turn.started' && inputs.has(event.input)) turns.add(event.turn);
  }
  return turns;
}

const NAMES = { user: 'User', assistant: 'Assistant' } as const;

/** The messages as Markdown. */
export const transcript = (messages: readonly Message[]): string =>
  messages.map(({ role, text, at }) => `**${NAMES[role]}** (${at})\n\n${text}`).join('\n\n---\n\n');
