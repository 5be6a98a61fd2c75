/** Several dialects at one WebSocket path: the first frame selects one. */
import { isObject } from '@parlance/protocol';
import type { Connection, Socket } from '../../http/connection.ts';
import type { SocketRoute } from './listen.ts';

/** A route, and the function that opens a socket in its dialect. */
export type Candidate = { readonly route: SocketRoute; readonly open: (socket: Socket) => Connection };

/** The function that opens a socket at a path with these candidates; null if none is served. */
export function openAt(candidates: readonly Candidate[]): ((socket: Socket) => Connection) | null {
  const served = candidates.filter(({ route }) => route.refuse === undefined);
  const refused = candidates.filter(({ route }) => route.refuse !== undefined).map(({ route }) => route);
  const [only, ...others] = served;
  if (!only) return null;
  if (others.length > 0) return (socket) => refusing(refused, socket, detected(served, socket));
  return refused.length === 0 ? only.open : (socket) => refusing(refused, socket, only.open(socket));
}

/** The first candidate that knows the frame; otherwise the one that takes any frame. */
function candidateFor(candidates: readonly Candidate[], frame: unknown): Candidate | undefined {
  return (
    candidates.find(({ route }) => knows(route, frame)) ??
    candidates.find(({ route }) => route.firstFrame === undefined) ??
    candidates.at(-1)
  );
}

const knows = ({ firstFrame }: SocketRoute, frame: unknown): boolean =>
  isObject(frame) && typeof frame.type === 'string' && firstFrame?.has(frame.type) === true;

/** Opens the dialect when the first frame arrives. No candidate sends anything before it. */
function detected(candidates: readonly Candidate[], socket: Socket): Connection {
  let chosen: Connection | null = null;

  async function select(frame: unknown): Promise<Connection> {
    if (chosen) return chosen;
    const candidate = candidateFor(candidates, frame);
    if (!candidate) throw new Error('no dialect is served at this path');
    chosen = candidate.open(socket);
    await chosen.opened?.();
    return chosen;
  }

  return {
    receive: async (frame, arrivedAt) => (await select(frame)).receive(frame, arrivedAt),
    onInvalidFrame: async (reason) => (await select(undefined)).onInvalidFrame(reason),
    onRateLimited: (fault) => chosen?.onRateLimited?.(fault),
    identified: () => chosen?.identified?.() ?? null,
    closed: (unsent, code) => chosen?.closed(unsent, code),
    draining: () => chosen?.draining(),
  };
}

/** Disconnects a client whose first frame belongs to a dialect that is refused at this path. */
function refusing(refused: readonly SocketRoute[], socket: Socket, connection: Connection): Connection {
  if (refused.length === 0) return connection;
  let isFirst = true;
  return {
    ...connection,
    receive(frame, arrivedAt) {
      const refusal = isFirst ? refused.find((route) => knows(route, frame)) : undefined;
      if (refusal) return socket.close(1008, refusal.refuse ?? '');
      isFirst = false;
      return connection.receive(frame, arrivedAt);
    },
  };
}
