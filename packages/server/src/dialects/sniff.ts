/** Two pairs of dialects share a path. The first frame tells them apart; nothing is sent before it. */
import { isObject } from '@parlance/protocol';
import type { Connection, Socket } from '../core/engine.ts';
import type { DialectName } from './dialect.ts';

const AGENTLOOP_FRAMES = new Set(['user_input', 'approval_response', 'get_context_info', 'manual_compact']);
const CONVERSATIONS_FRAMES = new Set([
  'PING',
  'start_conversation',
  'send_message',
  'cancel_stream',
  'approve_tool',
]);

const typeOf = (frame: unknown): unknown => (isObject(frame) ? frame.type : undefined);

/** `/`: extension or agentloop; what neither knows is answered by extension. */
export const atRoot = (frame: unknown): DialectName =>
  AGENTLOOP_FRAMES.has(typeOf(frame) as string) ? 'agentloop' : 'extension';

/** `/ws` without a token: broadcast, unless the frame is one that only conversations knows, which needs a token. */
export const atWs = (frame: unknown): DialectName | 'refused' =>
  CONVERSATIONS_FRAMES.has(typeOf(frame) as string) ? 'refused' : 'broadcast';

/** A connection that becomes one of several dialects when its first frame arrives. */
export function sniffing(
  socket: Socket,
  choose: (frame: unknown) => DialectName | 'refused',
  open: (dialect: DialectName) => Connection,
): Connection {
  let chosen: Connection | null = null;

  async function become(frame: unknown): Promise<Connection | null> {
    if (chosen) return chosen;
    const dialect = choose(frame);
    if (dialect === 'refused') {
      socket.close(1008, 'A token is required.');
      return null;
    }
    chosen = open(dialect);
    await chosen.opened?.();
    return chosen;
  }

  return {
    async receive(frame) {
      const connection = await become(frame);
      await connection?.receive(frame);
    },
    async garbled(reason) {
      const connection = await become(undefined);
      await connection?.garbled(reason);
    },
    closed: () => chosen?.closed(),
    draining: () => chosen?.draining(),
  };
}
