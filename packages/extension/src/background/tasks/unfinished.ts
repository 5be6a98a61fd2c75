/**
 * Tasks that were running when the browser was closed. Their records, which hold parts of pages, are only kept until then; what
 * remains is enough to say so, and to end them on the server.
 */
import { tasks, unfinished } from '../../shared/storage.ts';
import { isRunning } from '../../shared/task-record.ts';
import { ask } from '../server.ts';
import { ended, newTask, putTask } from './records.ts';

const CLOSED = 'The browser was closed before the task had ended. Send it again to start over.';

/** Called when a task changes. */
export async function rememberUnfinished(): Promise<void> {
  const running = Object.values(await tasks.get()).filter(isRunning);
  await unfinished.change((before) => {
    const now = Object.fromEntries(running.map(({ session, query }) => [session, query]));
    return JSON.stringify(before) === JSON.stringify(now) ? before : now;
  });
}

/** Called once when the worker starts. */
export async function endUnfinished(): Promise<void> {
  const [left, known] = await Promise.all([unfinished.get(), tasks.get()]);
  for (const [session, query] of Object.entries(left)) {
    if (session in known) continue;
    await putTask({ ...newTask({ session, query, tab: -1 }), ...ended('failed', CLOSED) });
    const path = `/v1/sessions/${encodeURIComponent(session)}/commands`;
    await ask({ path, body: { type: 'turn.cancel' } }).catch(() => undefined);
  }
  await rememberUnfinished();
}
