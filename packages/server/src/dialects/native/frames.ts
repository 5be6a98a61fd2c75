/** The frames on the connections of a session as server-sent events, for debugging clients. */
import type { Principal } from '@parlance/protocol';
import type { SessionRef } from '../../core/api/index.ts';
import type { EventStream } from '../../http/connection.ts';
import type { ConnectionRegistry, TappedFrame } from '../shared/connection-registry.ts';
import { named } from './projection.ts';

export type FrameSource = {
  readonly connections: ConnectionRegistry;
  readonly ref: SessionRef;
  readonly principal: Principal;
};

/** Sends `attached` once, then a `frame` for each frame, and `missed` after frames were dropped for a slow stream. */
export async function streamFrames(stream: EventStream, source: FrameSource): Promise<void> {
  const { connections, ref, principal } = source;
  stream.send(named('attached', connections.of(ref)));
  const see = (frame: TappedFrame) => void stream.send(named('frame', frame));
  const stop = connections.observeFrames(ref, principal, see);
  try {
    for (let dropped = await stream.lost(); dropped; dropped = await stream.lost()) {
      await stream.ready();
      stream.send(named('missed', { frames: dropped.length }));
    }
  } finally {
    stop();
  }
}
