/** Two pairs of dialects share a path; the first frame tells them apart. */
import { isObject } from '@parlance/protocol';
import type { Connection, Socket } from '../../http/connection.ts';
import { KNOWN_TYPES as AGENTLOOP_FRAMES } from '../agentloop/schemas.ts';
import { KNOWN_TYPES as CONVERSATIONS_TYPES } from '../conversations/requests.ts';
import type { DialectName } from './dialect.ts';

const CONVERSATIONS_FRAMES: ReadonlySet<string> = new Set(CONVERSATIONS_TYPES);

const isOneOf = (types: ReadonlySet<string>, frame: unknown): boolean =>
  isObject(frame) && typeof frame.type === 'string' && types.has(frame.type);

/** `/`: what neither dialect knows is answered by extension. */
export const dialectOf = (frame: unknown): DialectName =>
  isOneOf(AGENTLOOP_FRAMES, frame) ? 'agentloop' : 'extension';

/** A connection that becomes one of two dialects when its first frame arrives. Neither sends anything before it. */
export function detectProtocol(open: (dialect: DialectName) => Connection): Connection {
  let chosen: Connection | null = null;

  async function become(frame: unknown): Promise<Connection> {
    if (chosen) return chosen;
    chosen = open(dialectOf(frame));
    await chosen.opened?.();
    return chosen;
  }

  return {
    receive: async (frame, arrivedAt) => (await become(frame)).receive(frame, arrivedAt),
    onInvalidFrame: async (reason) => (await become(undefined)).onInvalidFrame(reason),
    onRateLimited: (fault) => chosen?.onRateLimited?.(fault),
    identified: () => chosen?.identified?.() ?? null,
    closed: (unsent) => chosen?.closed(unsent),
    draining: () => chosen?.draining(),
  };
}

/**
 * `/ws` without a token: broadcast, which hears from the start. A first frame that only conversations knows means a
 * client whose token is missing: it is closed with the code it understands.
 */
export function withoutToken(socket: Socket, broadcast: Connection): Connection {
  let first = true;
  return {
    ...broadcast,
    receive(frame, arrivedAt) {
      if (first && isOneOf(CONVERSATIONS_FRAMES, frame)) return socket.close(1008, 'A token is required.');
      first = false;
      return broadcast.receive(frame, arrivedAt);
    },
  };
}
