/** The messages of a conversation, read from its events. */
import { type DurableEvent, textOf } from '@parlance/protocol';
import { directCallId, type Engine, type SessionRecord } from '../../core/api/index.ts';
import { latest } from './history.ts';
import { outcomeText, REJECTED } from './tool-outcome.ts';

export type Message = {
  id: string;
  conversation_id: string;
  role: 'user' | 'assistant';
  content: string;
  created_at: string;
  metadata: { dialect?: string; interrupted?: boolean };
  agent_id: string | null;
};

/** The latest `limit` messages, oldest first. */
export const latestMessages = (engine: Engine, record: SessionRecord, limit: number): Promise<Message[]> =>
  latest(engine, record, { limit, itemsOf: wholeMessages });

/** The answer of a turn is whole, and its agent known, only where its beginning has been read. */
function wholeMessages(events: readonly DurableEvent[], whole: boolean): Message[] {
  const first = whole ? 0 : events.findIndex((event) => event.type === 'turn.started');
  return first < 0 ? [] : messagesOf(events.slice(first));
}

/**
 * One message per input, and one per turn that has text or is a call that was asked for by name: its id and content
 * are those of `message_complete`.
 */
export function messagesOf(events: readonly DurableEvent[]): Message[] {
  const messages: Message[] = [];
  const answers = new Map<string, Message>();
  let agent: string | null = null;
  let denial = REJECTED;
  for (const event of events) {
    switch (event.type) {
      case 'input.accepted':
        messages.push(question(event));
        break;
      case 'session.rewound': {
        const replaced = messages.findIndex((message) => message.id === event.input);
        if (replaced >= 0) messages.splice(replaced);
        break;
      }
      case 'turn.started':
        agent = event.agent.id;
        break;
      case 'agent.changed':
        agent = event.to.id;
        break;
      case 'text.ended': {
        const known = answers.get(event.turn);
        const message = known ?? answer(event, event.text);
        if (known) known.content += `\n\n${event.text}`;
        else messages.push(message);
        message.agent_id = agent;
        if (event.interrupted) message.metadata.interrupted = true;
        answers.set(event.turn, message);
        break;
      }
      case 'approval.answered':
        denial = event.reason || REJECTED;
        break;
      case 'tool.ended': {
        if (event.call !== directCallId(event.turn) || event.outcome === 'aborted') break;
        messages.push({ ...answer(event, outcomeText(event, denial)), agent_id: agent });
        break;
      }
    }
  }
  return messages;
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

const answer = (event: DurableEvent<'text.ended' | 'tool.ended'>, content: string): Message => ({
  id: event.turn,
  conversation_id: event.session,
  role: 'assistant',
  content,
  created_at: new Date(event.at).toISOString(),
  metadata: {},
  agent_id: null,
});
