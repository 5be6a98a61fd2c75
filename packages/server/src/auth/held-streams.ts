/** Streams that end with the token they were asked for with. */
import { tokenOf } from '../core/identity.ts';
import type { OpenStream } from '../core/ports/connection.ts';
import type { Gate } from '../core/ports/gate.ts';

export const heldStreams =
  (gate: Gate, open: OpenStream): OpenStream =>
  (request, stream) => {
    const token = tokenOf(request);
    if (token === null) return open(request, stream);
    const ended = new AbortController();
    return open(request, {
      ...stream,
      until: ended.signal,
      async tell(reader) {
        const endGuard = gate.guard(token, () => ended.abort());
        try {
          await stream.tell(reader);
        } finally {
          endGuard();
        }
      },
    });
  };
