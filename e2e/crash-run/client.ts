/**
 * A client of one dialect that sends messages, loses its server, reconnects and continues. Each client's file
 * defines what counts as acknowledged. An unacknowledged message is sent again only if the protocol has
 * idempotency keys: otherwise the client cannot know whether it was stored.
 */
import { slowness } from '../../packages/server/src/testing/until.ts';
import type { ServerProcess } from '../server-process.ts';
import type { Sent } from './evidence.ts';
import type { Conversation, Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import type { ServerLives } from './victim.ts';

/** The inputs of a client: an address, a conversation, and a ledger. */
export type ClientContext = {
  readonly server: ServerProcess;
  /** of the user `dev`, for dialects that need one */
  readonly token: string;
  readonly conversation: Conversation;
  readonly ledger: Ledger;
};

/** One connection. Everything rejects if the server is gone. */
export type ClientConnection = {
  /** resolves when the message is acknowledged and marked as such */
  send(message: Sent): Promise<void>;
  /** resolves when the answer has been shown as complete and recorded */
  answered(message: Sent): Promise<void>;
  /** resolves when the answer has started; absent if a message does not interrupt the previous one */
  answerStarted?(): Promise<void>;
  close(): void;
};

export type ClientKind = {
  readonly dialect: string;
  newId(random: Random): string;
  /** if its messages differ from those of the others */
  readonly messageText?: (number: number) => string;
  /** Connects to the conversation and waits for its running turn. */
  open(context: ClientContext): Promise<ClientConnection>;
};

export type RunContext = {
  readonly victim: ServerLives;
  readonly ledger: Ledger;
  readonly token: string;
  stopping: boolean;
};

/** How long a client that lost its server waits for the news of a kill before it reports an error. */
export const patienceMs = (): number => 3_000 * slowness();

/** Runs `work` with one server after another, until it completes without a kill, or the run is over. */
export async function retryAfterKills(
  who: string,
  { victim, ledger }: RunContext,
  work: (server: ServerProcess) => Promise<boolean>,
): Promise<void> {
  for (;;) {
    const { number, server } = await victim.up();
    try {
      if (await work(server)) return;
    } catch (thrown) {
      if (await victim.over(number, patienceMs())) continue;
      ledger.recordError(who, thrown);
      return;
    }
  }
}

/** Talks until the run is over, in one conversation after another. */
export async function runClient(kind: ClientKind, run: RunContext, random: Random): Promise<void> {
  const { ledger, token } = run;
  let conversation = ledger.begin(kind.dialect, kind.newId(random));
  const next = () =>
    kind.messageText
      ? ledger.addMessage(conversation, { text: kind.messageText(conversation.sent.length + 1) })
      : ledger.next(conversation, random);
  await retryAfterKills(kind.dialect, run, async (server) => {
    while (!run.stopping) {
      const connection = await kind.open({ server, token, conversation, ledger });
      const messages = random.between(3, 12);
      for (let count = 0; count < messages && !run.stopping; count++) {
        await exchange(recorded(connection, ledger), next, random);
      }
      connection.close();
      if (random.chance(0.5)) conversation = ledger.begin(kind.dialect, kind.newId(random));
    }
    return true;
  });
}

/** Messages of protocols without receipts: the history has no number of their event. */
const recorded = (connection: ClientConnection, ledger: Ledger): ClientConnection => ({
  ...connection,
  send: (message) => ledger.sending(message, () => connection.send(message)),
});

async function exchange(connection: ClientConnection, next: () => Sent, random: Random): Promise<void> {
  let message = next();
  await connection.send(message);
  if (connection.answerStarted && message.text.startsWith('count') && random.chance(0.2)) {
    await connection.answerStarted();
    message = next();
    await connection.send(message);
  }
  await connection.answered(message);
}
