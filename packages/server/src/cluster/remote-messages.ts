/** Messages between nodes about sessions. Encoded as arrays, since one is sent per token. */
import {
  BlockId,
  CallId,
  ConnectionId,
  type DurableEvent,
  type EphemeralEvent,
  FaultCode,
  type Json,
  PrincipalId,
  parseDurableEvent,
  SessionId,
  TurnId,
} from '@parlance/protocol';
import { z } from 'zod';
import type { OpenArguments, OpenBlock } from '../core/engine/open-output.ts';

import type { Driver } from '../core/ports/lease.ts';
import type { SessionRef } from '../core/ports/session-ref.ts';
import type { NodeMessage } from './transport.ts';

export const EVENTS = 'session.events';
export const LIVE = 'session.live';
export const JOIN = 'session.join';
export const STOP = 'session.stop';
export const RELEASED = 'sessions.released';
export const HEAD = 'session.head';

/** An ephemeral event as published by its node. */
export type Live = {
  readonly ref: SessionRef;
  /** epoch of the driver; 0 if the sender does not drive the session */
  readonly epoch: number;
  /** number of the last durable event before it */
  readonly seq: number;
  /** for a delta: length of its block before it */
  readonly offset: number;
  readonly event: EphemeralEvent;
};

export const liveMessage = ({ ref, epoch, seq, offset, event }: Live): NodeMessage => ({
  kind: LIVE,
  body: [ref.owner, ref.id, epoch, seq, offset, event as unknown as Json],
});

/** Validated by hand, since it runs for every token. */
export function readLive(body: unknown): Live {
  if (!Array.isArray(body)) throw new Error('not a live event');
  const [owner, id, epoch, seq, offset, event] = body as unknown[];
  if (
    typeof owner !== 'string' ||
    typeof id !== 'string' ||
    typeof epoch !== 'number' ||
    typeof seq !== 'number' ||
    typeof offset !== 'number' ||
    !isEphemeral(event)
  )
    throw new Error('not a live event');
  return { ref: { owner: owner as PrincipalId, id: id as SessionId }, epoch, seq, offset, event };
}

function isEphemeral(value: unknown): value is EphemeralEvent {
  if (typeof value !== 'object' || value === null || 'seq' in value) return false;
  const { type, id, at, session } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof at !== 'number' || typeof session !== 'string') return false;
  const { turn, block, text, call, tool, offset } = value as Record<string, unknown>;
  const isText = typeof turn === 'string' && typeof text === 'string';
  if (type === 'text.delta' || type === 'reasoning.delta') return isText && typeof block === 'string';
  if (type !== 'call.arguments.delta') return typeof type === 'string';
  return isText && typeof call === 'string' && typeof tool === 'string' && typeof offset === 'number';
}

const Ref = z.tuple([PrincipalId, SessionId]);
const Committed = z.tuple([
  PrincipalId,
  SessionId,
  z.object({ node: z.string(), epoch: z.number() }).nullable(),
  z.array(z.unknown()),
]);

export type CommittedEvents = {
  readonly ref: SessionRef;
  readonly driver: Driver | null;
  readonly events: readonly DurableEvent[];
  /** id of the event before them; undefined if there is none, or if an older version has sent them */
  readonly after: string | undefined;
};

/** The first event names the one before it: older versions ignore that. */
export const eventsMessage = ({
  ref,
  driver,
  events: [first, ...rest],
  after,
}: CommittedEvents): NodeMessage => ({
  kind: EVENTS,
  body: [ref.owner, ref.id, driver, [{ ...first, after }, ...rest] as unknown as Json],
});

const First = z.object({ after: z.string().optional() });

export function readEvents(body: unknown): CommittedEvents {
  const [owner, id, driver, events] = Committed.parse(body);
  const { after } = First.parse(events[0]);
  return { ref: { owner, id }, driver, events: events.map(parseDurableEvent), after };
}

const Head = z.tuple([PrincipalId, SessionId, z.number()]);

/** Carries the number of the last event that the sender has stored or seen. */
export const headMessage = ({ owner, id }: SessionRef, seq: number): NodeMessage => ({
  kind: HEAD,
  body: [owner, id, seq],
});

export function readHead(body: unknown): { readonly ref: SessionRef; readonly seq: number } {
  const [owner, id, seq] = Head.parse(body);
  return { ref: { owner, id }, seq };
}

export const refMessage = (kind: string, { owner, id }: SessionRef): NodeMessage => ({
  kind,
  body: [owner, id],
});

export function readRef(body: unknown): SessionRef {
  const [owner, id] = Ref.parse(body);
  return { owner, id };
}

/** The position of the driving node in the session. */
const Position = z.object({
  epoch: z.number(),
  seq: z.number(),
  open: z
    .object({
      kind: z.enum(['text', 'reasoning']),
      turn: TurnId,
      block: BlockId,
      text: z.string(),
      at: z.number(),
    })
    .nullable(),
  /** calls whose arguments are being streamed, with the text so far */
  calls: z.array(z.object({ turn: TurnId, call: CallId, tool: z.string(), text: z.string() })).default([]),
});
export type Position = z.infer<typeof Position>;

export const readPosition = (body: unknown): Position => Position.parse(body);

export const positionOf = (
  { epoch, seq }: Pick<Position, 'epoch' | 'seq'>,
  open: OpenBlock | null,
  openArguments: OpenArguments,
): Position => ({
  epoch,
  seq,
  calls: openArguments.list(),
  open: open && {
    kind: open.kind,
    turn: open.turn,
    block: open.block,
    text: String(open.text),
    at: open.startedAt,
  },
});

// Messages between nodes about calls that a client of another node executes.

export const REQUEST = 'tool.request';
export const PROGRESS = 'tool.progress';
export const ANSWER = 'tool.answer';

const Fields = z.record(z.string(), z.json());

const Run = z.object({
  id: z.string(),
  owner: PrincipalId,
  connection: ConnectionId,
  run: z.object({ id: z.string(), at: z.number() }),
  request: z.object({
    tool: z.string(),
    parameters: Fields,
    schema: Fields,
    permissions: z.array(z.string()),
    timeoutMs: z.number(),
    unavailable: z.string(),
  }),
});

/** Starts a call, or stops one. */
export const ToolRequest = z.union([Run, z.object({ stop: z.string() })]);
export type RequestedRun = z.infer<typeof Run>;

export const ToolProgress = z.object({
  id: z.string(),
  execution: z.string(),
  progress: z.object({
    status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
    progress: z.number().optional(),
    message: z.string().optional(),
  }),
});

export type ToolProgress = z.infer<typeof ToolProgress>;

export const ToolAnswer = z.union([
  z.object({ id: z.string(), result: z.json() }),
  z.object({
    id: z.string(),
    fault: z.object({ code: FaultCode, message: z.string() }),
    /** the client may have executed the call */
    unknown: z.boolean().optional(),
  }),
]);
export type ToolAnswer = z.infer<typeof ToolAnswer>;

/** A client's offer, as stored in its registry entry. */
export const Offer = z.object({
  tools: z.union([z.array(z.string()), z.literal('all')]),
  fallback: z.boolean(),
});
