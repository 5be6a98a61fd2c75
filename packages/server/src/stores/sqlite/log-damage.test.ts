/** A log that lost acknowledged events is noticed at the next start; a torn end that was never acknowledged is not. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf, refOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { DATABASE_FILE } from './connection.ts';
import { readableFrames } from './log.ts';
import { openSqliteStore } from './open.ts';

const APPENDS = 8;
const ref = refOf('ada', 'damaged');
const LOG = `${DATABASE_FILE}-wal`;
const NOTE = `${DATABASE_FILE}-acknowledged`;
const HEADER = 32;
const FRAME = 24 + 4096;

/** The folder of a server that was killed after its last acknowledgement. */
async function killed(folder: string, before?: (database: string) => void): Promise<string> {
  const running = join(folder, 'running');
  const store = openSqliteStore(running, { exclusive: true });
  for (let head = 0; head < APPENDS; head++)
    await store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1));
  before?.(join(running, DATABASE_FILE));
  const copy = join(folder, 'killed');
  cpSync(running, copy, { recursive: true });
  await store.close();
  return copy;
}

/** Flips a bit, as a failing disk does. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

const opened = (folder: string, exclusive = true) => openSqliteStore(folder, { exclusive });

describe('refused in one line with a copy of the files, each time:', () => {
  const DAMAGES: Record<string, (log: string) => void> = {
    'a bit in the first frame': (log) => flip(log, HEADER + 100),
    'a bit in the middle': (log) =>
      flip(log, HEADER + FRAME * (readableFrames(readFileSync(log)).frames >> 1) + 99),
    'a bit in the header': (log) => flip(log, 17),
    'a log that was cut': (log) => truncateSync(log, HEADER + FRAME * 3),
    'a log that was emptied': (log) => truncateSync(log, 0),
    'a log that was removed': (log) => rmSync(log),
  };
  for (const [name, damage] of Object.entries(DAMAGES))
    for (const exclusive of [true, false])
      test(`${name}, for ${exclusive ? 'a server' : 'a command'}`, async () => {
        using scratch = scratchFolder();
        const folder = await killed(scratch.path);
        damage(join(folder, LOG));
        const left = existsSync(join(folder, LOG)) ? readFileSync(join(folder, LOG)) : null;
        for (let starts = 0; starts < 2; starts++)
          expect(() => opened(folder, exclusive)).toThrow(
            `${folder} lacks stored events: ${LOG} was damaged, cut or removed, and a copy of what is left is in ${join(folder, 'damaged')}. Restore a backup (docs/guides/backup.md), or delete ${join(folder, NOTE)} to start without the lost events`,
          );
        if (left) expect(readFileSync(join(folder, 'damaged', LOG))).toEqual(left);
        expect(readdirSync(join(folder, 'damaged'))).toContain(DATABASE_FILE);
        rmSync(join(folder, NOTE));
        const store = opened(folder, exclusive);
        expect((await store.load(ref))?.head ?? 0).toBeLessThan(APPENDS);
        await store.close();
      });
});

test('damage of frames that the database already has is refused, too: it would be read with older pages', async () => {
  using scratch = scratchFolder();
  const folder = await killed(scratch.path, (path) => {
    using database = new Database(path);
    database.run('PRAGMA wal_checkpoint(PASSIVE)');
  });
  flip(join(folder, LOG), HEADER + FRAME * 2 + 99);
  expect(() => opened(folder)).toThrow('lacks stored events');
});

describe('opened, with every acknowledged event:', () => {
  const HARMLESS: Record<string, (folder: string) => void | Promise<void>> = {
    'a log as it was when the process was killed': () => undefined,
    'a torn end that was never acknowledged': (folder) => {
      const path = join(folder, LOG);
      const log = readFileSync(path);
      // A commit that was not synced: its salt is right, its content is not.
      const frame = Buffer.from(log.subarray(-FRAME));
      writeFileSync(path, Buffer.concat([log, frame.fill(0xa5, 100), log.subarray(-FRAME)]));
    },
    'a command that checkpointed the log': async (folder) => opened(folder, false).close(),
    'a note that was half written': (folder) => truncateSync(join(folder, NOTE), 10),
    'no note': (folder) => rmSync(join(folder, NOTE)),
  };
  for (const [name, change] of Object.entries(HARMLESS))
    test(name, async () => {
      using scratch = scratchFolder();
      const folder = await killed(scratch.path);
      await change(folder);
      const store = opened(folder);
      expect(await store.read(ref, 0, 100)).toEqual(textEvents(ref, 0, APPENDS));
      await store.close();
      expect(existsSync(join(folder, NOTE))).toBe(false);
    });

  test('a session that was erased after its last event', async () => {
    using scratch = scratchFolder();
    const folder = await killed(scratch.path);
    const command = opened(folder, false);
    await command.erase(ref);
    await command.close();
    await opened(folder).close();
  });

  test('a server beside a command that wrote the latest event', async () => {
    using scratch = scratchFolder();
    const running = join(scratch.path, 'running');
    const server = opened(running);
    const command = opened(running, false);
    await command.append(0, textEvents(ref, 0, 1), recordOf(ref, 1));
    await command.close();
    await server.erase(ref);
    const copy = join(scratch.path, 'killed');
    cpSync(running, copy, { recursive: true });
    await opened(copy).close();
    await server.close();
  });
});
