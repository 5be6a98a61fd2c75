/** What passes on the sockets that are attached to a session, as server-sent events: for people who debug clients. */
import type { Principal } from '@parlance/protocol';
import type { SessionRef } from '../../core/api/index.ts';
import type { Reader } from '../../http/connection.ts';
import type { ConnectionRegistry, TappedFrame } from '../shared/connection-registry.ts';

const encode = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** `attached` first, then a `frame` each; `missed` where the reader was too slow for some. */
export async function passFrames(
  reader: Reader,
  connections: ConnectionRegistry,
  ref: SessionRef,
  principal: Principal,
): Promise<void> {
  reader.send(encode('attached', connections.of(ref)));
  const see = (frame: TappedFrame) => void reader.send(encode('frame', frame));
  const stop = connections.observeFrames(ref, principal, see);
  try {
    for (let dropped = await reader.lost(); dropped; dropped = await reader.lost()) {
      await reader.ready();
      reader.send(encode('missed', { frames: dropped.length }));
    }
  } finally {
    stop();
  }
}
