/** A segment of a session: the events after the request of a response, until its turn waits or ends. */
import { type DurableEvent, type Principal, type TurnOptions, turnOptionsOf } from '@parlance/protocol';
import { labelKey, type SessionRef } from '../../../core/index.ts';
import type { FollowTarget } from '../../kit/chat-request.ts';
import { latestEvents } from '../../kit/latest-events.ts';
import { followTarget } from '../../kit/request-keys.ts';
import { IDLE, projection, type State } from '../../kit/turn-updates.ts';
import type { Context } from '../context.ts';
import type { Head } from './objects.ts';
import { isAt, positionOf, responseId } from './response-id.ts';
import { RequestData } from './schemas.ts';

/** A label with the ids of deleted responses. */
export const DELETED = '@openai.deleted';

export type Segment = {
  readonly ref: SessionRef;
  readonly start: DurableEvent;
  readonly head: Head;
  readonly target: FollowTarget;
  /** the events that the request caused, in order */
  readonly requestEvents: readonly DurableEvent[];
  /** the state of the turn's calls before the request */
  readonly state: State;
};

/** The data that a request stored with an event; null for other events. */
export function requestData(event: DurableEvent): RequestData | null {
  const stored =
    event.type === 'input.accepted'
      ? event.data
      : event.type === 'tool.ended' || event.type === 'approval.answered'
        ? event.attributes
        : undefined;
  return stored === undefined ? null : (RequestData.safeParse(stored).data?.response ?? null);
}

/** Null if the caller has no such response, it was not stored, or it was deleted. */
export async function findSegment(ctx: Context, principal: Principal, id: string): Promise<Segment | null> {
  const { engine } = ctx;
  const place = positionOf(id);
  const ref = place && (await engine.find(principal, place.session));
  if (!ref) return null;
  const [start] = await engine.events(ref, place.seq - 1, 1);
  if (!start || !isAt(start, place) || !requestData(start)?.store) return null;
  if (await engine.lookup(principal, labelKey(DELETED, id))) return null;
  return segmentAt(ctx, ref, start);
}

/** The other events of a request are searched within this many events after the first. */
const REQUEST_EVENTS = 300;

export async function segmentAt(ctx: Context, ref: SessionRef, first: DurableEvent): Promise<Segment | null> {
  const { engine, models } = ctx;
  const near = await engine.events(ref, first.seq - 1, REQUEST_EVENTS);
  // Results in the same request as a message are stored before it.
  const start = near.find((event) => requestData(event) !== null);
  const data = start && requestData(start);
  if (!data) return null;
  const requestEvents = near.filter((event) => requestData(event)?.request === data.request);
  const { state, terms } = await before(ctx, ref, start);
  const { agent, model } = await engine.snapshot(ref);
  const named = start.type === 'input.accepted' ? start.agent : undefined;
  return {
    ref,
    start,
    requestEvents,
    state,
    target: followTarget(requestEvents),
    head: {
      id: responseId(start),
      session: ref.id,
      createdAt: start.at,
      model: models.answering((named ?? agent).id, model),
      terms: requestEvents.reduce(termsAfter, terms),
      data,
    },
  };
}

function termsAfter(terms: TurnOptions, event: DurableEvent): TurnOptions {
  if (event.type === 'input.accepted') return turnOptionsOf(event);
  const replaced =
    event.type === 'tool.ended' || event.type === 'approval.answered' ? event.terms : undefined;
  return replaced ?? terms;
}

const PAGE = 200;

type PriorState = { readonly state: State; readonly terms: TurnOptions };

/** The state of a turn before the event that continues it. */
async function before({ engine }: Context, ref: SessionRef, start: DurableEvent): Promise<PriorState> {
  if (start.type !== 'tool.ended' && start.type !== 'approval.answered') return { state: IDLE, terms: {} };
  for await (const { events, whole } of latestEvents(engine, { ref, head: start.seq - 1 }, PAGE)) {
    const started = events.find(
      (event): event is DurableEvent<'turn.started'> =>
        event.type === 'turn.started' && event.turn === start.turn,
    );
    const input = events.findIndex(
      (event) => event.type === 'input.accepted' && event.input === started?.input,
    );
    if (input < 0 && !whole) continue;
    const own = events.slice(Math.max(input, 0)).filter((event) => isOf(event, start.turn, started?.input));
    // What blocked the turn until this request is not part of its response.
    const state = { ...own.reduce(stateAfter, IDLE), changed: null };
    return { state, terms: own.reduce(termsAfter, {}) };
  }
  return { state: IDLE, terms: {} };
}

const isOf = (event: DurableEvent, turn: string, input: string | undefined): boolean =>
  'turn' in event && event.type !== 'input.accepted'
    ? event.turn === turn
    : 'input' in event && event.input === input;

const stateAfter = (state: State, event: DurableEvent): State => projection.step(state, event)[0];
