/** Out: events as they are, in pages and as streams of server-sent events. */
import { type EphemeralEvent, isDurable, type Principal, type SessionEvent } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import { EventsHeaders, EventsQuery } from '@parlance/protocol/api';
import {
  type Engine,
  requirePermission,
  type SessionRef,
  type SessionSnapshot,
  sessionKey,
} from '../../core/index.ts';
import type { EventStream, Pieces, Subscriber } from '../../http/connection.ts';
import { type ClockTimer, SYSTEM_CLOCK } from '../../lib/clock.ts';
import type { Administration } from '../kit/administration.ts';
import type { ConnectionRegistry, TappedFrame, WatchScope } from '../kit/connection-registry.ts';
import type { Sent } from '../kit/endpoint.ts';
import type { Projection, StepResult } from '../kit/projection.ts';
import type { Cursor, SubscriptionHub } from '../kit/subscription-hub.ts';
import { endpoint, type NativeContext, sessionOf } from './context.ts';
import { questionView } from './views.ts';

// The projection

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
  const { seq, turn, open, approval, questions, deferred, openArguments } = now;
  return [
    {
      snapshot: {
        seq,
        turn,
        open,
        approval,
        ...(questions.length > 0 && { questions: questions.map(questionView) }),
        ...(deferred.length > 0 && { deferred }),
        ...(openArguments.length > 0 && { arguments: openArguments }),
      },
    },
  ];
}

/** The `id` is the number of the event. Ephemeral events have none, so a reader resumes after the last durable event. */
function encode(body: Body): string {
  if ('snapshot' in body) return named('snapshot', body.snapshot);
  return isDurable(body) ? `id: ${body.seq}\n${named(body.type, body)}` : named(body.type, body);
}

/** A server-sent event without an id. */
const named = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

// The endpoints

export const streamEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/frames',
    summary: 'A live stream of the frames on the sockets attached to a session',
    examples: ({ session }) => [{ params: { id: session } }],
    answers: {
      200: {
        description: '`attached`, then one `frame` each; `missed` if the reader was too slow',
        type: 'text/event-stream',
      },
    },
    errors: [401, 403, 404],
    async handle({ principal, params, request }, ctx) {
      const produce = framesOf(await sessionOf(ctx, principal, params.id), ctx, principal);
      return ctx.stream(request, { dialect: 'native', encode: String, produce });
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/activity',
    summary: 'A live stream of the events of all sessions of the caller',
    examples: ({ owner }) => [{}, { query: { owner } }],
    answers: {
      200: {
        description:
          '`ready`, then the events, with `session.attached` when a client attaches or detaches, and `settings.changed` when `/v1/server` may have changed; `missed` if the reader was too slow',
        type: 'text/event-stream',
      },
    },
    errors: [401, 403],
    handle({ principal, request }, ctx) {
      requirePermission(principal, 'chat:read');
      return ctx.stream(request, { dialect: 'native', encode: String, produce: activityOf(principal, ctx) });
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/events',
    summary: 'Events after a position; as a stream, followed by live events',
    examples: ({ session }) => [
      { title: 'Follow the events', first: true, stream: true, params: { id: session } },
    ],
    query: EventsQuery,
    headers: EventsHeaders,
    answers: {
      200: [
        { description: 'A page of events, or a stream of server-sent events', schema: 'EventPage' },
        {
          description: '',
          type: 'text/event-stream',
          text: 'events, then `snapshot`, then live events; `reset` first if the position no longer exists',
        },
      ],
    },
    errors: [400, 401, 403, 404],
    async handle({ principal, params, query, headers, request }, ctx) {
      const { engine } = ctx;
      const ref = await sessionOf(ctx, principal, params.id);
      const { seq: head } = await engine.snapshot(ref);
      const after = headers['last-event-id'] || query.after;
      const reset = after > head; // a position of another or a restored database
      const from = reset ? 0 : after;
      if (request.headers.get('accept')?.includes('text/event-stream')) {
        return ctx.stream(request, {
          dialect: 'native',
          encode: encodeEvent,
          produce: eventsOf(ref, ctx, { after: from, reset }),
        });
      }
      const events = await engine.events(ref, from, query.limit);
      const last = events.at(-1)?.seq ?? from;
      return { events, head, next: last < head ? last : null, reset };
    },
  }),
];

/*
 * The producers are created outside of the request handlers: a closure in a handler would keep the request in
 * memory until the stream ends.
 */

const encodeEvent = (event: object): string => encode(event as SessionEvent);

const eventsOf =
  (ref: SessionRef, { engine, hub }: NativeContext, from: Pick<EventSource, 'after' | 'reset'>) =>
  (stream: EventStream): Promise<void> =>
    streamEvents(stream, { ...from, engine, ref, hub });

const framesOf =
  (ref: SessionRef, { connections }: NativeContext, principal: Principal) =>
  (stream: EventStream): Promise<void> =>
    streamFrames(stream, { connections, ref, principal });

const activityOf =
  (principal: Principal, { engine, connections, administration }: NativeContext) =>
  (stream: EventStream): Promise<void> =>
    streamActivity(stream, { engine, connections, principal, administration });

// The durable events of all sessions of the caller, changes of their connections, of the server's settings and of what MCP servers offer,
// as server-sent events.

type ActivitySource = {
  readonly engine: Engine;
  readonly connections: ConnectionRegistry;
  readonly administration: Pick<Administration, 'setup' | 'mcpOffers'>;
  readonly principal: Principal;
};

/** Sends `ready` when every later event is sent, and `missed` after events were dropped for a slow stream. */
async function streamActivity(stream: EventStream, source: ActivitySource): Promise<void> {
  const { engine, principal, administration } = source;
  const unwatch = engine.watchAll(principal, (event, session) => {
    if (isDurable(event) || event.type === 'session.erased')
      stream.send(named(event.type, { ...event, owner: session.snapshot().ref.owner }));
  });
  const stop = sendAttached(stream, source);
  // Without content: what the caller may see is up to the endpoints that have it.
  const unfollow = administration.setup.onChange(() => stream.send('event: settings.changed\ndata: {}\n\n'));
  const unfollowMcp = administration.mcpOffers.onChange(() =>
    stream.send('event: mcp.changed\ndata: {}\n\n'),
  );
  stream.send('event: ready\ndata: {}\n\n');
  try {
    while (await stream.lost()) {
      await stream.ready();
      stream.send('event: missed\ndata: {}\n\n');
    }
  } finally {
    unwatch();
    stop();
    unfollow();
    unfollowMcp();
  }
}

/** Changes of connections are sent at most this often. */
const GATHER_MS = 100;
/** If more sessions change at once, one event without counts is sent: counting is not free. */
const MAX_CONCURRENT = 50;

/** Sends `session.attached`; its `session` is null if all sessions of an owner changed. Returns a function that stops it. */
function sendAttached(stream: EventStream, { connections, principal }: ActivitySource): () => void {
  const places = new Map<string, WatchScope>();
  let timer: ClockTimer | undefined;
  const flush = () => {
    timer = undefined;
    const changed = [...places.values()];
    places.clear();
    const many = changed.length > MAX_CONCURRENT;
    for (const place of many ? changed.slice(0, 1) : changed) {
      const [session, owner] = typeof place === 'string' ? [null, place] : [place.id, place.owner];
      const attached = typeof place === 'string' || many ? {} : connections.of(place);
      stream.send(named('session.attached', { session: many ? null : session, owner, attached }));
    }
  };
  const unwatch = connections.watch(principal, (place) => {
    places.set(typeof place === 'string' ? place : sessionKey(place), place);
    timer ??= SYSTEM_CLOCK.setTimeout(flush, GATHER_MS);
  });
  return () => {
    SYSTEM_CLOCK.clear(timer);
    unwatch();
  };
}

// A session as server-sent events: the past at the reader's pace, then live events.

const PAGE = 50;

type EventSource = {
  readonly engine: Engine;
  readonly hub: SubscriptionHub<unknown>;
  readonly ref: SessionRef;
  /** The number of the last event that the reader has received. */
  readonly after: number;
  /** True if the position of the reader is unknown here: it is sent `reset`, then all events. */
  readonly reset: boolean;
};

/**
 * Sends the events after `after`, then `snapshot` (the block that is being streamed and the pending approval), then live
 * events. A reader that falls too far behind is brought up to date the same way from the last event it was sent.
 */
export async function streamEvents(stream: EventStream, source: EventSource): Promise<void> {
  const { hub, ref } = source;
  if (source.reset) stream.send(named('reset', { after: 0 }));
  const reader = new EventReader(stream, source);
  try {
    while (stream.open) {
      await stream.ready();
      await hub.subscribe(ref, reader, { cursor: reader });
      const dropped = await stream.lost();
      hub.unsubscribe(ref, reader);
      reader.resume(dropped ?? []);
    }
  } finally {
    hub.leave(reader);
  }
}

/** Remembers the last durable event that the stream accepted. */
class EventReader implements Subscriber, Cursor {
  seq: number;
  #lost = false;

  constructor(
    private readonly stream: EventStream,
    private readonly source: EventSource,
  ) {
    this.seq = source.after;
  }

  get id() {
    return this.stream.id;
  }

  get open() {
    return this.stream.open;
  }

  /** After a rejected frame, accepts no frame until `resume`: the reader would miss an event. */
  send(text: string, frame?: object, pieces?: Pieces): void {
    if (this.#lost) return;
    this.#lost = !this.stream.send(text, frame, pieces);
    const event = frame as SessionEvent | undefined;
    if (!this.#lost && event && isDurable(event)) this.seq = event.seq;
  }

  close(code: number, reason: string): void {
    this.stream.close(code, reason);
  }

  /** Sends page by page, and waits before each page so that none is buffered for a slow reader. */
  async catchUp(head: number): Promise<void> {
    const { engine, ref } = this.source;
    while (this.seq < head && this.open) {
      await this.stream.ready();
      const page = await engine.events(ref, this.seq, Math.min(PAGE, head - this.seq));
      for (const event of page) {
        await this.stream.ready();
        this.stream.send(encode(event), event);
      }
      // A session that was erased in the meantime has no events to catch up with.
      this.seq = page.at(-1)?.seq ?? head;
    }
  }

  /** Returns to the event before the first dropped one. */
  resume(dropped: readonly (object | undefined)[]): void {
    this.#lost = false;
    const missed = (dropped as readonly (SessionEvent | undefined)[]).find(
      (event) => event && isDurable(event),
    );
    if (missed && isDurable(missed)) this.seq = missed.seq - 1;
  }
}

// The frames on the connections of a session as server-sent events, for debugging clients.

type FrameSource = {
  readonly connections: ConnectionRegistry;
  readonly ref: SessionRef;
  readonly principal: Principal;
};

/** Sends `attached` once, then a `frame` for each frame, and `missed` after frames were dropped for a slow stream. */
async function streamFrames(stream: EventStream, source: FrameSource): Promise<void> {
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
