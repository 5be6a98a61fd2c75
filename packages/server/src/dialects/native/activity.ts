/**
 * What happens in all sessions of the caller, as server-sent events: events alone, no words as they are streamed; and
 * who comes to them and leaves.
 */
import { isDurable, type Principal, type SessionEvent } from '@parlance/protocol';
import { type Engine, sessionKey } from '../../core/api/index.ts';
import type { Reader } from '../../http/connection.ts';
import type { ConnectionRegistry, Place } from '../shared/connection-registry.ts';

const encode = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const told = (event: SessionEvent, owner: string): string => encode(event.type, { ...event, owner });

/** `ready` when nothing can be missed any more; `missed` where the reader was too slow and must look for itself. */
export async function passActivity(
  reader: Reader,
  engine: Engine,
  connections: ConnectionRegistry,
  principal: Principal,
): Promise<void> {
  const unwatch = engine.watchAll(principal, (event, session) => {
    if (isDurable(event) || event.type === 'session.erased')
      reader.send(told(event, session.snapshot().ref.owner));
  });
  const stop = passAttached(reader, connections, principal);
  reader.send('event: ready\ndata: {}\n\n');
  try {
    while (await reader.lost()) {
      await reader.ready();
      reader.send('event: missed\ndata: {}\n\n');
    }
  } finally {
    unwatch();
    stop();
  }
}

/** Who comes and goes is told this often at most. */
const GATHER_MS = 100;
/** Where it is more at once, the reader is told to look for itself: counting is not free. */
const MOST_AT_ONCE = 50;

/** `session` is null where somebody came to, or left, all sessions of an owner. Returns what ends it. */
function passAttached(reader: Reader, connections: ConnectionRegistry, principal: Principal): () => void {
  const places = new Map<string, Place>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const changed = [...places.values()];
    places.clear();
    const many = changed.length > MOST_AT_ONCE;
    for (const place of many ? changed.slice(0, 1) : changed) {
      const [session, owner] = typeof place === 'string' ? [null, place] : [place.id, place.owner];
      const attached = typeof place === 'string' || many ? {} : connections.of(place);
      reader.send(encode('session.attached', { session: many ? null : session, owner, attached }));
    }
  };
  const unwatch = connections.watch(principal, (place) => {
    places.set(typeof place === 'string' ? place : sessionKey(place), place);
    timer ??= setTimeout(flush, GATHER_MS);
  });
  return () => {
    clearTimeout(timer);
    unwatch();
  };
}
