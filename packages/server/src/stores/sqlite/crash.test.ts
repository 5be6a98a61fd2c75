import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { refOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { openSqliteStore } from './open.ts';

const ROUNDS = 3;
const ACKNOWLEDGED_BEFORE_THE_KILL = 200;

test('every acknowledged append is present exactly once after kill -9, repeatedly', async () => {
  using scratch = scratchFolder();
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    await appendUntilKilled(scratch.path, acknowledged);

    // exclusive, to check that the lock of the dead process is released
    const store = openSqliteStore(scratch.path, { exclusive: true });
    expect(acknowledged.size).toBeGreaterThan(0);
    for (const [id, head] of acknowledged) {
      const ref = refOf('writer', id);
      const record = await store.load(ref);
      expect(record?.head).toBeGreaterThanOrEqual(head);
      const events = await store.read(ref, 0, Number.POSITIVE_INFINITY);
      expect(events).toEqual(textEvents(ref, 0, record?.head ?? 0));
    }
    await store.close();
  }
});

/** Records the last acknowledged event of each session, including those between kill and exit. */
async function appendUntilKilled(folder: string, acknowledged: Map<string, number>): Promise<void> {
  const program = join(import.meta.dir, '../../testing/stores/sqlite-appends-until-killed.ts');
  const child = Bun.spawn([process.execPath, program, folder], { stdout: 'pipe', stderr: 'inherit' });
  let lines = 0;
  let rest = '';
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const complete = (rest + text).split('\n');
    rest = complete.pop() ?? '';
    for (const line of complete) {
      const [id = '', head] = line.split(' ');
      acknowledged.set(id, Number(head));
    }
    lines += complete.length;
    if (lines >= ACKNOWLEDGED_BEFORE_THE_KILL) child.kill('SIGKILL');
  }
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
}
