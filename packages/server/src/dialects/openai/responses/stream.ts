import type { Fault } from '@parlance/protocol';
import type { EventStream } from '../../../http/connection.ts';
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
  /** resolves when the server has closed the stream; later events are dropped */
  readonly closed: Promise<void>;
  readonly isClosed: boolean;
};

/** `after` is the number of the last event that the client has. */
export function responseStream(stream: EventStream, after = -1): ResponseStream {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let isClosed = false;
  let number = Math.max(0, after);
  stream.onClosing((fault) => {
    isClosed = true;
    stream.send(encodeEvent(closingEvent(fault, number)));
    resolve();
  });
  return {
    closed,
    get isClosed() {
      return isClosed;
    },
    send(event) {
      if (isClosed) return;
      number = event.sequence_number;
      stream.send(encodeEvent(event), event);
    },
  };
}
