/** The messages of a conversation, read from its facts. */
import { type Fact, textOf } from '@parlance/protocol';
import { directCallId, type Engine, type SessionRecord } from '../../core/engine.ts';
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
function wholeMessages(facts: readonly Fact[], whole: boolean): Message[] {
  const first = whole ? 0 : facts.findIndex((fact) => fact.type === 'turn.started');
  return first < 0 ? [] : messagesOf(facts.slice(first));
}

/**
 * One message per input, and one per turn that has text or is a call that was asked for by name: its id and content
 * are those of `message_complete`.
 */
export function messagesOf(facts: readonly Fact[]): Message[] {
  const messages: Message[] = [];
  const answers = new Map<string, Message>();
  let agent: string | null = null;
  let denial = REJECTED;
  for (const fact of facts) {
    switch (fact.type) {
      case 'input.accepted':
        messages.push(question(fact));
        break;
      case 'session.rewound': {
        const replaced = messages.findIndex((message) => message.id === fact.input);
        if (replaced >= 0) messages.splice(replaced);
        break;
      }
      case 'turn.started':
        agent = fact.agent.id;
        break;
      case 'agent.changed':
        agent = fact.to.id;
        break;
      case 'text.ended': {
        const known = answers.get(fact.turn);
        const message = known ?? answer(fact, fact.text);
        if (known) known.content += `\n\n${fact.text}`;
        else messages.push(message);
        message.agent_id = agent;
        if (fact.interrupted) message.metadata.interrupted = true;
        answers.set(fact.turn, message);
        break;
      }
      case 'approval.answered':
        denial = fact.reason || REJECTED;
        break;
      case 'tool.ended': {
        if (fact.call !== directCallId(fact.turn) || fact.outcome === 'aborted') break;
        messages.push({ ...answer(fact, outcomeText(fact, denial)), agent_id: agent });
        break;
      }
    }
  }
  return messages;
}

const question = (fact: Fact<'input.accepted'>): Message => ({
  id: fact.input,
  conversation_id: fact.session,
  role: 'user',
  content: textOf(fact.parts),
  created_at: new Date(fact.at).toISOString(),
  metadata: { dialect: fact.dialect },
  agent_id: null,
});

const answer = (fact: Fact<'text.ended' | 'tool.ended'>, content: string): Message => ({
  id: fact.turn,
  conversation_id: fact.session,
  role: 'assistant',
  content,
  created_at: new Date(fact.at).toISOString(),
  metadata: {},
  agent_id: null,
});
