/**
 * A client of one dialect that sends messages, loses its server, reconnects and continues. Each client's file
 * defines what counts as acknowledged. An unacknowledged message is sent again only if the protocol has
 * idempotency keys: otherwise the client cannot know whether it was stored.
 */
import type { ServerProcess } from '../server-process.ts';
import type { Sent } from './evidence.ts';
import type { Conversation, Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import type { Lives } from './victim.ts';

/** The inputs of a client: an address, a conversation, and a ledger. */
export type Seat = {
  readonly server: ServerProcess;
  /** of the user `dev`, for dialects that need one */
  readonly token: string;
  readonly conversation: Conversation;
  readonly ledger: Ledger;
};

/** One connection. Everything rejects if the server is gone. */
export type Talk = {
  /** resolves when the message is acknowledged and marked as such */
  say(message: Sent): Promise<void>;
  /** resolves when the answer has been shown as complete and recorded */
  answered(message: Sent): Promise<void>;
  /** resolves when the answer has started; absent if a message does not interrupt the previous one */
  begun?(): Promise<void>;
  close(): void;
};

export type ClientKind = {
  readonly dialect: string;
  newId(random: Random): string;
  /** if its messages differ from those of the others */
  readonly words?: (number: number) => string;
  /** Connects to the conversation and waits for its running turn. */
  open(seat: Seat): Promise<Talk>;
};

export type World = {
  readonly victim: Lives;
  readonly ledger: Ledger;
  readonly token: string;
  stopping: boolean;
};

/** How long a client that lost its server waits for the news of a kill before it reports an error. */
export const PATIENCE_MS = 3_000;

/** Runs `work` with one server after another, until it completes without a kill, or the run is over. */
export async function throughKills(
  who: string,
  { victim, ledger }: World,
  work: (server: ServerProcess) => Promise<boolean>,
): Promise<void> {
  for (;;) {
    const { number, server } = await victim.up();
    try {
      if (await work(server)) return;
    } catch (thrown) {
      if (await victim.over(number, PATIENCE_MS)) continue;
      ledger.trouble(who, thrown);
      return;
    }
  }
}

/** Talks until the run is over, in one conversation after another. */
export async function talking(kind: ClientKind, world: World, random: Random): Promise<void> {
  const { ledger, token } = world;
  let conversation = ledger.begin(kind.dialect, kind.newId(random));
  const next = () =>
    kind.words
      ? ledger.says(conversation, { text: kind.words(conversation.sent.length + 1) })
      : ledger.next(conversation, random);
  await throughKills(kind.dialect, world, async (server) => {
    while (!world.stopping) {
      const talk = await kind.open({ server, token, conversation, ledger });
      const messages = random.between(3, 12);
      for (let count = 0; count < messages && !world.stopping; count++) {
        await exchange(talk, next, random);
      }
      talk.close();
      if (random.chance(0.5)) conversation = ledger.begin(kind.dialect, kind.newId(random));
    }
    return true;
  });
}

async function exchange(talk: Talk, next: () => Sent, random: Random): Promise<void> {
  let message = next();
  await talk.say(message);
  if (talk.begun && message.text.startsWith('count') && random.chance(0.2)) {
    await talk.begun();
    message = next();
    await talk.say(message);
  }
  await talk.answered(message);
}
