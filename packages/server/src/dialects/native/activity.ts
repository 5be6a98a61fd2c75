/** What happens in all sessions of the caller, as server-sent events: facts alone, no words as they are streamed. */
import { isFact, type Principal, type SessionEvent } from '@parlance/protocol';
import type { Engine, Reader } from '../../core/engine.ts';

const encode = (event: SessionEvent, owner: string): string =>
  `event: ${event.type}\ndata: ${JSON.stringify({ ...event, owner })}\n\n`;

/** `ready` when nothing can be missed any more; `missed` where the reader was too slow and must look for itself. */
export async function passActivity(reader: Reader, engine: Engine, principal: Principal): Promise<void> {
  const stop = engine.watchAll(principal, (event, session) => {
    if (isFact(event) || event.type === 'session.erased') reader.send(encode(event, session.now().ref.owner));
  });
  reader.send('event: ready\ndata: {}\n\n');
  try {
    while (await reader.lost()) {
      await reader.ready();
      reader.send('event: missed\ndata: {}\n\n');
    }
  } finally {
    stop();
  }
}
