/** The durable events of all sessions of the caller, changes of their connections, and of the server's settings, as server-sent events. */
import { isDurable, type Principal } from '@parlance/protocol';
import { type Engine, sessionKey } from '../../core/api/index.ts';
import type { EventStream } from '../../http/connection.ts';
import type { ConnectionRegistry, WatchScope } from '../shared/connection-registry.ts';
import type { Setup } from '../shared/setup.ts';
import { named } from './projection.ts';

export type ActivitySource = {
  readonly engine: Engine;
  readonly connections: ConnectionRegistry;
  readonly setup: Pick<Setup, 'onChange'>;
  readonly principal: Principal;
};

/** Sends `ready` when every later event is sent, and `missed` after events were dropped for a slow stream. */
export async function streamActivity(stream: EventStream, source: ActivitySource): Promise<void> {
  const { engine, principal, setup } = source;
  const unwatch = engine.watchAll(principal, (event, session) => {
    if (isDurable(event) || event.type === 'session.erased')
      stream.send(named(event.type, { ...event, owner: session.snapshot().ref.owner }));
  });
  const stop = sendAttached(stream, source);
  // Without content: what the caller may see of the settings is up to the endpoints that have them.
  const unfollow = setup.onChange(() => stream.send('event: settings.changed\ndata: {}\n\n'));
  stream.send('event: ready\ndata: {}\n\n');
  try {
    while (await stream.lost()) {
      await stream.ready();
      stream.send('event: missed\ndata: {}\n\n');
    }
  } finally {
    unwatch();
    stop();
    unfollow();
  }
}

/** Changes of connections are sent at most this often. */
const GATHER_MS = 100;
/** If more sessions change at once, one event without counts is sent: counting is not free. */
const MAX_CONCURRENT = 50;

/** Sends `session.attached`; its `session` is null if all sessions of an owner changed. Returns a function that stops it. */
function sendAttached(stream: EventStream, { connections, principal }: ActivitySource): () => void {
  const places = new Map<string, WatchScope>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const changed = [...places.values()];
    places.clear();
    const many = changed.length > MAX_CONCURRENT;
    for (const place of many ? changed.slice(0, 1) : changed) {
      const [session, owner] = typeof place === 'string' ? [null, place] : [place.id, place.owner];
      const attached = typeof place === 'string' || many ? {} : connections.of(place);
      stream.send(named('session.attached', { session: many ? null : session, owner, attached }));
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
