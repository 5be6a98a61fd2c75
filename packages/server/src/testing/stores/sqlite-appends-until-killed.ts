/**
 * A program for `crash.test.ts`: several writers append to the folder until the process is killed. Prints
 * each acknowledged append as `session seq`.
 */
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../stores/sqlite/open.ts';
import { recordOf, refOf, textEvents } from './contract/samples.ts';

const WRITERS = 8;
const [folder = ''] = process.argv.slice(2);
const store = openSqliteStore(folder, { exclusive: true });

async function writeForever(id: string): Promise<never> {
  const ref = refOf('writer', id);
  let head = (await store.load(ref))?.head ?? 0;
  while (true) {
    const count = 1 + (head % 3);
    await store.append(head, textEvents(ref, head, count), recordOf(ref, head + count));
    head += count;
    // unbuffered: printed before the process can die
    writeSync(1, `${id} ${head}\n`);
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, index) => writeForever(`session-${index}`)));
