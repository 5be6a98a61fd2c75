/** Sockets and streams that end with the token they were asked for with. */
import { tokenOf } from '../core/identity.ts';
import type { Guard, OpenStream } from '../core/ports/connection.ts';
import type { Gate } from '../core/ports/gate.ts';

export const guardOf =
  (gate: Gate, token: string): Guard =>
  (ended) =>
    gate.guard(token, ended);

export const heldStreams =
  (gate: Gate, open: OpenStream): OpenStream =>
  (request, stream) => {
    const token = tokenOf(request);
    return open(request, token === null ? stream : { ...stream, guard: guardOf(gate, token) });
  };
