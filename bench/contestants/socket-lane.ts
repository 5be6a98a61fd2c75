/** A lane over a WebSocket. */
import { nowMicros } from '../measure/clock.ts';
import type { Lane } from './contestant.ts';

/** The meaning of a frame to a lane: a piece of the answer, its end, or nothing. */
export type Read = (frame: Record<string, unknown>) => string | typeof ENDED | null;
export const ENDED = Symbol('ended');

export function connect(url: string): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  const socket = new WebSocket(url);
  socket.onopen = () => resolve(socket);
  socket.onerror = () => reject(new Error(`cannot connect to ${url}`));
  return promise;
}

export function socketLane(socket: WebSocket, prompt: () => object, read: Read): Lane {
  return {
    ask(onText) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      socket.onmessage = ({ data }) => {
        const arrivedAt = nowMicros();
        try {
          const piece = read(JSON.parse(data as string));
          if (piece === ENDED) resolve();
          else if (piece !== null) onText(piece, arrivedAt);
        } catch (error) {
          reject(error);
        }
      };
      socket.onclose = ({ code, reason }) => reject(new Error(`closed with ${code} ${reason}`));
      socket.send(JSON.stringify(prompt()));
      return promise;
    },
    close() {
      socket.onclose = null;
      socket.close();
    },
  };
}
