import type { Fault } from '@parlance/protocol';
import type { EventStream } from '../../../http/connection.ts';
import { TOO_SLOW } from '../../kit/request-turn.ts';
import { errorBody } from '../faults.ts';
import type { NumberedEvent } from './response-follower.ts';

export const encodeEvent = (event: NumberedEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * The last event of a stream that the server closes while the response continues. It has the number of the event
 * before it, so that a client that resumes misses none.
 */
function closingEvent(fault: Fault, sequence_number: number): NumberedEvent {
  const { code, message } = errorBody(fault).error;
  return { type: 'error', sequence_number, code, message, param: null };
}

export type ResponseStream = {
  send(event: NumberedEvent): void;
  /** resolves when the server has closed the stream, or its reader was too slow; later events are dropped */
  readonly closed: Promise<void>;
  /** `ready` of the stream, or immediately if its reader was too slow */
  ready(): Promise<void>;
  /** resolves when the client has disconnected, unless the stream was closed before */
  readonly gone: Promise<void>;
};

/** `after` is the number of the last event that the client has. */
export function responseStream(stream: EventStream, after = -1): ResponseStream {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let isClosed = false;
  let isBehind = false;
  let number = Math.max(0, after);
  stream.onClosing((fault) => {
    isClosed = true;
    stream.send(encodeEvent(closingEvent(fault, number)));
    resolve();
  });
  void stream.lost().then((dropped) => {
    if (isClosed) return;
    if (!dropped) return gone.resolve();
    isClosed = true;
    isBehind = true;
    const [first] = dropped as NumberedEvent[];
    stream.send(encodeEvent(closingEvent(TOO_SLOW, first ? first.sequence_number - 1 : number)));
    resolve();
  });
  return {
    closed,
    gone: gone.promise,
    ready: async () => (isBehind ? undefined : stream.ready()),
    send(event) {
      if (isClosed) return;
      number = event.sequence_number;
      stream.send(encodeEvent(event), event);
    },
  };
}
