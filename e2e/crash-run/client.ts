/**
 * A client of one dialect that talks, loses its server, comes back and goes on. What counts as acknowledged on each
 * wire is said in its file. A message that was not acknowledged is not sent again, except where the wire has keys for
 * that: clients of the other dialects cannot know whether it was stored.
 */
import type { ServerProcess } from '../server-process.ts';
import type { Sent } from './evidence.ts';
import type { Conversation, Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import type { Victim } from './victim.ts';

/** What a client needs to talk: where, in which conversation, and where to write down what it sees. */
export type Seat = {
  readonly server: ServerProcess;
  /** of the user `dev`, for dialects that want one */
  readonly token: string;
  readonly conversation: Conversation;
  readonly ledger: Ledger;
};

/** One connection. Everything rejects when the server is gone. */
export type Talk = {
  /** resolves when the message is acknowledged, and has marked it so */
  say(message: Sent): Promise<void>;
  /** resolves when the answer has been shown as complete, and has written down what was shown */
  answered(message: Sent): Promise<void>;
  /** resolves when the answer has begun to be shown; absent where a message does not interrupt the one before it */
  begun?(): Promise<void>;
  close(): void;
};

export type ClientKind = {
  readonly dialect: string;
  newId(random: Random): string;
  /** where it does not say what the others say */
  readonly words?: (number: number) => string;
  /** Comes (back) to the conversation, and waits for what is under way there. */
  open(seat: Seat): Promise<Talk>;
};

export type World = {
  readonly victim: Victim;
  readonly ledger: Ledger;
  readonly token: string;
  stopping: boolean;
};

/** How long a client that lost its server waits to hear that it was killed, before it complains. */
export const PATIENCE_MS = 3_000;

/** Does `work` with one server after another, until it is done without a kill, or the run is over. */
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
  await throughKills(kind.dialect, world, async (server) => {
    while (!world.stopping) {
      const talk = await kind.open({ server, token, conversation, ledger });
      const messages = random.between(3, 12);
      for (let count = 0; count < messages && !world.stopping; count++) {
        await exchange(kind, talk, conversation, ledger, random);
      }
      talk.close();
      if (random.chance(0.5)) conversation = ledger.begin(kind.dialect, kind.newId(random));
    }
    return true;
  });
}

async function exchange(
  kind: ClientKind,
  talk: Talk,
  conversation: Conversation,
  ledger: Ledger,
  random: Random,
): Promise<void> {
  const next = () =>
    kind.words
      ? ledger.says(conversation, { text: kind.words(conversation.sent.length + 1) })
      : ledger.next(conversation, random);
  let message = next();
  await talk.say(message);
  if (talk.begun && message.text.startsWith('count') && random.chance(0.2)) {
    await talk.begun();
    message = next();
    await talk.say(message);
  }
  await talk.answered(message);
}
