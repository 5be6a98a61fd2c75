/** Out: the events of a session as they are, encoded as server-sent events. */
import { type EphemeralEvent, isDurable, type SessionEvent } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import type { Sent } from '../kit/endpoint.ts';
import type { Projection, StepResult } from '../kit/projection.ts';

/** The state of the session when a reader starts to receive live events. */
type Snapshot = { readonly snapshot: Sent<api.Snapshot> };
type Body = SessionEvent | Snapshot;
type Delta = EphemeralEvent<'text.delta' | 'reasoning.delta' | 'call.arguments.delta'>;

const isDelta = (body: Body): body is Delta =>
  'type' in body &&
  (body.type === 'text.delta' || body.type === 'reasoning.delta' || body.type === 'call.arguments.delta');

const pieces: Pieces<Body> = {
  key: (body) => (isDelta(body) ? ('block' in body ? body.block : body.call) : null),
  text: (body) => (isDelta(body) ? body.text : ''),
  with: (body, text) => (isDelta(body) ? { ...body, text } : body),
};

export const projection: Projection<null, Body> = { start, step, attach, pieces, encode };

function start(): null {
  return null;
}

function step(state: null, event: SessionEvent): StepResult<null, SessionEvent> {
  return [state, [{ body: event }]];
}

function attach(_state: null, now: SessionSnapshot): Body[] {
  const { seq, turn, open, approval, deferred, openArguments } = now;
  return [
    {
      snapshot: {
        seq,
        turn,
        open,
        approval,
        ...(deferred.length > 0 && { deferred }),
        ...(openArguments.length > 0 && { arguments: openArguments }),
      },
    },
  ];
}

/** The `id` is the number of the event. Ephemeral events have none, so a reader resumes after the last durable event. */
export function encode(body: Body): string {
  if ('snapshot' in body) return named('snapshot', body.snapshot);
  return isDurable(body) ? `id: ${body.seq}\n${named(body.type, body)}` : named(body.type, body);
}

/** A server-sent event without an id. */
export const named = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
