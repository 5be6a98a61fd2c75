/** `bun cluster-polling-worker.ts DATABASE UPSTREAM`: a worker of the hand-made baseline. */
import { SQL } from 'bun';
import { sleep } from '../measure/clock.ts';
import { POLL_MS } from './cluster-polling.ts';

const AT_ONCE = 16;
const [database = '', upstream = ''] = process.argv.slice(2);
const sql = new SQL(database, { max: 8 });

async function work(): Promise<void> {
  for (;;) {
    const [run] = await sql`
      UPDATE runs SET status = 'running' WHERE id = (
        SELECT id FROM runs WHERE status = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1
      ) RETURNING id, input`;
    if (!run) {
      await sleep(POLL_MS);
      continue;
    }
    const answer = await fetch(`${upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'bench',
        stream: true,
        messages: [{ role: 'user', content: run.input }],
      }),
    });
    await sql`UPDATE runs SET status = 'done', output = ${await answer.text()} WHERE id = ${run.id}`;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
