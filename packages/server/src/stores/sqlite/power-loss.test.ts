/**
 * After a power loss, synced data is complete, and later data may be there in part: these tests truncate or
 * corrupt the log at various positions after the acknowledged part.
 */
import { expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf, refOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { DATABASE_FILE } from './connection.ts';
import { openSqliteStore } from './open.ts';

const APPENDS = 8;
const ref = refOf('ada', 'powerless');

/** Variants of the unsynced bytes. */
const LOSSES: Readonly<Record<string, (log: Buffer, synced: number, next: number) => Buffer>> = {
  'no byte was written': (log, synced) => log.subarray(0, synced),
  'one byte was written': (log, synced) => log.subarray(0, synced + 1),
  'half was written': (log, synced, next) => log.subarray(0, (synced + next) >> 1),
  'all but a byte was written': (log, _synced, next) => log.subarray(0, next - 1),
  'allocated but empty': (log, synced, next) => Buffer.from(log.subarray(0, next)).fill(0, synced),
  'allocated with other content': (log, synced, next) =>
    Buffer.from(log.subarray(0, next)).fill(0xa5, (synced + next) >> 1),
};

test('acknowledged events survive a power loss during a later write, and nothing is half written', async () => {
  using scratch = scratchFolder();
  const [folder, file] = [join(scratch.path, 'whole'), DATABASE_FILE];
  const store = openSqliteStore(folder);
  const sizes: number[] = [];
  for (let head = 0; head < APPENDS; head++) {
    await store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1));
    sizes.push(statSync(join(folder, `${file}-wal`)).size);
  }
  const log = readFileSync(join(folder, `${file}-wal`));
  expect(new Set(sizes).size).toBe(APPENDS);

  for (const [name, lose] of Object.entries(LOSSES))
    for (let acknowledged = 1; acknowledged < APPENDS; acknowledged++) {
      const copy = join(scratch.path, `${name} ${acknowledged}`);
      mkdirSync(copy);
      copyFileSync(join(folder, file), join(copy, file));
      const [synced = 0, next = 0] = sizes.slice(acknowledged - 1);
      writeFileSync(join(copy, `${file}-wal`), lose(log, synced, next));

      const after = openSqliteStore(copy, { exclusive: true });
      expect((await after.load(ref))?.head).toBe(acknowledged);
      expect(await after.read(ref, 0, 100)).toEqual(textEvents(ref, 0, acknowledged));
      await after.append(acknowledged, textEvents(ref, acknowledged, 1), recordOf(ref, acknowledged + 1));
      expect((await after.load(ref))?.head).toBe(acknowledged + 1);
      await after.close();
    }
  await store.close();
});
