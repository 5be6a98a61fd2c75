/** The messages of a conversation, from its events and the projected state after each. */
import { type DurableEvent, type TurnId, textOf, wasStopped } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/index.ts';
import { finalAnswer } from '../kit/calls.ts';
import { latest } from '../kit/latest-items.ts';
import { replay } from '../kit/replay.ts';
import { startOf, step } from './projection.ts';
import { BETWEEN_BLOCKS, type State } from './state.ts';

export type Message = {
  id: string;
  conversation_id: string;
  role: 'user' | 'assistant';
  content: string;
  created_at: string;
  metadata: { dialect?: string; interrupted?: boolean; imported?: boolean };
  agent_id: string | null;
};

/** The latest `limit` messages, oldest first. */
export const latestMessages = (engine: Engine, record: SessionRecord, limit: number): Promise<Message[]> =>
  latest(engine, record, { limit, itemsOf: (events, first) => messagesOf(record, events, first) });

/**
 * One message per input, and one per turn that has text or is a direct call; id and content are those that the
 * projection sends. Events before `first` are folded but not shown.
 */
export function messagesOf(record: SessionRecord, events: readonly DurableEvent[], first = 0): Message[] {
  const messages: Message[] = [];
  const answers = new Map<TurnId, Message>();
  for (const { event, state } of [...replay(step, startOf(record), events)].slice(first)) {
    switch (event.type) {
      case 'history.imported':
        messages.push(...importedMessages(event));
        break;
      case 'input.accepted':
        // An input without parts lets the model continue; there is no message to show.
        if (event.parts.length > 0 || event.call) messages.push(question(event));
        break;
      case 'input.cancelled': {
        const cancelled = messages.findIndex((message) => message.id === event.input);
        if (cancelled >= 0) messages.splice(cancelled, 1);
        break;
      }
      case 'session.rewound': {
        const replaced = messages.findIndex((message) => message.id === event.input);
        if (replaced >= 0) messages.splice(replaced);
        break;
      }
      case 'text.ended':
      case 'tool.ended': {
        if (event.type === 'tool.ended' && !isAnswer(event, state)) break;
        const known = answers.get(event.turn);
        const message = known ?? answer(event);
        if (!known) messages.push(message);
        answers.set(event.turn, Object.assign(message, answered(state)));
        if (event.type === 'text.ended' && event.interrupted) message.metadata.interrupted = true;
        break;
      }
      case 'turn.resumed':
      case 'step.restarted': {
        // The text of the step is discarded.
        const known = answers.get(event.turn);
        if (known && state.texts.length > 0) Object.assign(known, answered(state));
        else if (known) {
          answers.delete(event.turn);
          messages.splice(messages.indexOf(known), 1);
        }
        break;
      }
    }
  }
  return messages;
}

/** The outcome of a direct call, or of one that ends the turn. */
const isAnswer = (event: DurableEvent<'tool.ended'>, { direct }: State): boolean =>
  (direct && !wasStopped(event)) || finalAnswer(event) !== null;

/** The answer as the projection has it. */
const answered = ({ message, texts, agent }: State): Pick<Message, 'id' | 'content' | 'agent_id'> => ({
  id: message,
  content: texts.join(BETWEEN_BLOCKS),
  agent_id: agent.id,
});

/** The message of the user, and the reply to it as one message. */
function importedMessages(event: DurableEvent<'history.imported'>): Message[] {
  const { input, items, dialect } = event;
  const message = (id: string, role: Message['role'], content: string): Message => ({
    id,
    conversation_id: event.session,
    role,
    content,
    created_at: new Date(event.at).toISOString(),
    metadata: { dialect, imported: true },
    agent_id: null,
  });
  const [first] = items;
  const texts = items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return [
    ...(input && first?.type === 'user' ? [message(input, 'user', textOf(first.parts))] : []),
    ...(texts.length > 0 ? [message(event.id, 'assistant', texts.join(BETWEEN_BLOCKS))] : []),
  ];
}

const question = (event: DurableEvent<'input.accepted'>): Message => ({
  id: event.input,
  conversation_id: event.session,
  role: 'user',
  content: textOf(event.parts),
  created_at: new Date(event.at).toISOString(),
  metadata: { dialect: event.dialect },
  agent_id: null,
});

const answer = (event: DurableEvent<'text.ended' | 'tool.ended'>): Message => ({
  id: event.turn,
  conversation_id: event.session,
  role: 'assistant',
  content: '',
  created_at: new Date(event.at).toISOString(),
  metadata: {},
  agent_id: null,
});
