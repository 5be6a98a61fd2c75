/** What happens in all sessions of the caller, and what passes on the sockets of one. Neither has a past to be told. */
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
  /** somebody has come to the session or has left it; null: to all sessions of the owner */
  | {
      readonly type: 'session.attached';
      readonly session: SessionId | null;
      readonly owner: string;
      /** how many are attached now, by dialect; empty where it is all sessions */
      readonly attached: Readonly<Record<string, number>>;
    }
  /** after each connection: from now on nothing is missed; what happened before is to be looked up */
  | { readonly type: 'ready' }
  /** the reader was too slow for some: it has to look them up */
  | { readonly type: 'missed' };

/** One message on a socket that is attached to the session, as it was on the wire. */
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
  /** after each connection: how many are attached, by dialect */
  | { readonly type: 'attached'; readonly dialects: Readonly<Record<string, number>> }
  /** the reader was too slow for so many */
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
    throw new ParlanceError('unexpected', 'The stream holds something that is not JSON.', { cause: thrown });
  }
}
