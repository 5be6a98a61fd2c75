/** Live streams without history: activity of all sessions of the caller, and the frames on the sockets of one session. */
import type { ConnectionId, DurableEvent, EphemeralEvent, SessionId } from '@parlance/protocol';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import { ParlanceError } from './error.ts';
import {
  reconnectingStream,
  type Source,
  type StreamContext,
  type WatchOptions,
} from './reconnecting-stream.ts';

export type ActivityEvent =
  | ((DurableEvent | EphemeralEvent<'session.erased'>) & { readonly owner: string })
  /** a client attached to the session or detached from it; null: to all sessions of the owner */
  | {
      readonly type: 'session.attached';
      readonly session: SessionId | null;
      readonly owner: string;
      /** attached connections by dialect; empty if `session` is null */
      readonly attached: Readonly<Record<string, number>>;
    }
  /** an admin changed the settings of the server: fetch `server()` and `models()` again if you show them */
  | { readonly type: 'settings.changed' }
  /** prompts, resources or tools of MCP servers may have changed: fetch `mcp.offers()` again if you show them */
  | { readonly type: 'mcp.changed' }
  /** sent after each (re)connection: nothing is missed from here on; fetch what happened before */
  | { readonly type: 'ready' }
  /** the reader was too slow and some events were dropped: fetch the current state */
  | { readonly type: 'missed' };

/** One message on a socket that is attached to the session, as sent or received. */
export type TappedFrame = {
  readonly type: 'frame';
  readonly at: number;
  readonly dialect: string;
  readonly connection: ConnectionId;
  readonly direction: 'in' | 'out';
  readonly text: string;
};

export type FramesEvent =
  | TappedFrame
  /** sent after each (re)connection: attached connections by dialect */
  | { readonly type: 'attached'; readonly dialects: Readonly<Record<string, number>> }
  /** the reader was too slow: number of frames dropped */
  | { readonly type: 'missed'; readonly frames: number };

export function activityEvents(
  context: StreamContext,
  options: WatchOptions,
): AsyncGenerator<ActivityEvent, void> {
  const source: Source<ActivityEvent> = {
    request: () => ({ path: '/v1/activity' }),
    take: (frame) => [{ ...parsed(frame), type: frame.event } as ActivityEvent],
    isLive: ({ type }) => type === 'ready',
  };
  return reconnectingStream(context, source, options);
}

export function sessionFrames(
  context: StreamContext,
  session: SessionId,
  options: WatchOptions,
): AsyncGenerator<FramesEvent, void> {
  const source: Source<FramesEvent> = {
    request: () => ({ path: `/v1/sessions/${encodeURIComponent(session)}/frames` }),
    take(frame) {
      const data = parsed(frame);
      if (frame.event === 'attached') return [{ type: 'attached', dialects: data } as FramesEvent];
      return [{ ...data, type: frame.event } as FramesEvent];
    },
    isLive: ({ type }) => type === 'attached',
  };
  return reconnectingStream(context, source, options);
}

function parsed({ data }: ServerSentEvent): object {
  try {
    return JSON.parse(data);
  } catch (thrown) {
    throw new ParlanceError('unexpected', 'The stream contains data that is not JSON.', { cause: thrown });
  }
}
