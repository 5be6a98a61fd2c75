/** Records everything that happens during a run. */
import type { Assembled, Effect, Received, Sent, Shown, Waited } from './evidence.ts';
import type { History } from './history.ts';
import { type Message, messageFor } from './messages.ts';
import type { Moment, Moments } from './moments.ts';
import type { Random } from './random.ts';

/** A conversation of one client, with numbered messages. */
export type Conversation = {
  readonly id: string;
  readonly dialect: string;
  readonly sent: Sent[];
};

export class Ledger {
  readonly sent: Sent[] = [];
  readonly received: Received[] = [];
  readonly shown: Shown[] = [];
  readonly assembled: Assembled[] = [];
  readonly waited: Waited[] = [];
  readonly effects: Effect[] = [];
  /** effects that happen at a client, not in the working directory */
  readonly clientEffects: string[] = [];
  readonly errors: string[] = [];
  readonly conversations: Conversation[] = [];
  #effects = 0;

  constructor(
    readonly history: History,
    private readonly moments: Moments,
    private readonly on: {
      readonly onAcknowledged: () => void;
      readonly onError: (what: string) => void;
    },
  ) {}

  /** Dialects with client-generated ids accept any string as `id`. */
  begin(dialect: string, id: string): Conversation {
    const conversation = { id, dialect, sent: [] };
    this.conversations.push(conversation);
    return conversation;
  }

  /** The next numbered message, which is about to be sent. */
  next(conversation: Conversation, random: Random): Sent {
    const number = conversation.sent.length + 1;
    return this.addMessage(conversation, messageFor(number, random, { next: () => this.newEffect() }));
  }

  addMessage({ id: session, dialect, sent }: Conversation, { text, effect }: Message): Sent {
    const message: Sent = { session, dialect, number: sent.length + 1, text, acknowledged: false };
    sent.push(message);
    this.sent.push(message);
    if (effect !== undefined) this.effects.push({ session, name: effect });
    return message;
  }

  newEffect(): string {
    this.#effects++;
    return `effect-${this.#effects}`;
  }

  acknowledge(message: Sent): void {
    message.acknowledged = true;
    message.acknowledgedAt ??= Date.now();
    this.on.onAcknowledged();
  }

  /** Records the message in the history: `send` resolves when it is acknowledged. */
  sending({ dialect, session, text }: Sent, send: () => Promise<void>): Promise<void> {
    return this.history.run(
      { process: `${dialect} ${session}`, operation: 'input', arguments: { session, text } },
      send,
      () => ({ ok: {} }),
    );
  }

  saw(moment: Moment): void {
    this.moments.saw(moment);
  }

  recordError(who: string, thrown: unknown): void {
    const what = `${who}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    this.errors.push(what);
    this.on.onError(what);
  }
}
