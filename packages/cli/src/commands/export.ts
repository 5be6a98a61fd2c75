/** `parlance export`: writes sessions as JSON lines, even while a server uses the data folder or database. */

import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { type PrincipalId, SessionId } from '@parlance/protocol';
import { type EventStore, exportedLines, type SessionIndex, type SessionRecord } from '@parlance/server/data';
import { counted } from '@parlance/ui/chat/cost.ts';
import { CommandError, parseFlags, STORAGE_FLAGS, SWITCH, showUsage, TEXT } from '../command.ts';
import { openConfigured } from '../connection/storage.ts';
import { everySession } from './every-session.ts';

const USAGE = `Usage: parlance export SESSION [--owner NAME] [--out FILE] [--data FOLDER]
       parlance export --all [--owner NAME] [--out FILE] [--data FOLDER]

Writes one session, or all of them, as JSON lines: a header, then one line per event.
Without --out they go to standard output. parlance import reads them. --owner names
the owner of the session; callers without a token are local.

With --database URL, or DATABASE_URL, sessions are read from that database, unless
--data names a folder.`;

export async function exportSessions(argv: readonly string[]): Promise<number> {
  const flags = { ...STORAGE_FLAGS, all: SWITCH, owner: TEXT, out: TEXT };
  const { values, positionals } = parseFlags(argv, flags);
  const [name, extra] = positionals;
  if (values.help || (name === undefined && !values.all)) return showUsage(USAGE, values.help);
  if (name !== undefined && values.all)
    throw new CommandError('export takes a session or --all, not both', 2);
  if (extra !== undefined) throw new CommandError('export takes only one session, or --all', 2);
  const owner = values.owner === undefined ? undefined : (values.owner as PrincipalId);
  const store = await openConfigured(values);
  try {
    const records = name === undefined ? everySession(store, owner) : [await sessionOf(store, name, owner)];
    const { sessions, events } = await writeAll(store, records, values.out);
    if (values.out !== undefined)
      console.log(
        `exported ${counted(sessions, 'session')} with ${counted(events, 'event')} to ${values.out}`,
      );
  } finally {
    await store.close();
  }
  return 0;
}

async function sessionOf(
  store: SessionIndex,
  name: string,
  owner: PrincipalId | undefined,
): Promise<SessionRecord> {
  const id = SessionId.safeParse(name);
  const holders = id.success ? await store.findById(id.data) : [];
  const [found, another] = holders.filter(({ ref }) => owner === undefined || ref.owner === owner);
  if (!found)
    throw new CommandError(
      owner === undefined ? `session ${name} does not exist` : `${owner} has no session ${name}`,
      1,
    );
  if (another) {
    const owners = holders.map(({ ref }) => ref.owner).sort();
    throw new CommandError(
      `several users have a session ${name} (${owners.join(', ')}): choose one with --owner`,
      1,
    );
  }
  return found;
}

type Counts = { sessions: number; events: number };

async function writeAll(
  store: EventStore,
  records: AsyncIterable<SessionRecord> | Iterable<SessionRecord>,
  out: string | undefined,
): Promise<Counts> {
  const counts = { sessions: 0, events: 0 };
  using sink = out === undefined ? toStdout() : toFile(out);
  for await (const record of records) {
    const { ref } = record;
    for await (const text of exportedLines(record, (after, limit) => store.read(ref, after, limit)))
      await sink.write(text);
    counts.sessions++;
    counts.events += record.head;
  }
  sink.done();
  return counts;
}

// Output of a command: a file or stdout.

type Sink = Disposable & {
  write(text: string): Promise<void>;
  /** Marks the output as complete. Disposing without it leaves nothing behind. */
  done(): void;
};

const toStdout = (): Sink => ({
  async write(text) {
    await Bun.write(Bun.stdout, text);
  },
  done: () => undefined,
  [Symbol.dispose]: () => undefined,
});

/** Writes to a temporary file with mode 0600, and moves it when complete. */
function toFile(path: string): Sink {
  const draft = `${path}.${randomUUID()}.part`;
  const file = open(draft, path);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    async write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    },
    done() {
      fsyncSync(file);
      close();
      renameSync(draft, path);
    },
    [Symbol.dispose]() {
      close();
      rmSync(draft, { force: true });
    },
  };
}

function open(draft: string, path: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(',', 1)[0] : String(error);
    throw new CommandError(`${path} cannot be written (${reason})`, 1, { cause: error });
  }
}
