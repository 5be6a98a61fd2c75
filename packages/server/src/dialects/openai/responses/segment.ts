/**
 * A segment of a session: the events after the request of a response, until its turn waits or ends; and the ids of
 * responses and items, by which segments are found.
 */
import { type DurableEvent, type Principal, type TurnOptions, turnOptionsOf } from '@parlance/protocol';
import { labelKey, type SessionRef } from '../../../core/index.ts';
import type { FollowTarget } from '../../kit/chat-request.ts';
import { latestEvents } from '../../kit/replay.ts';
import { followTarget } from '../../kit/request-keys.ts';
import { IDLE, projection, type State } from '../../kit/turn-updates.ts';
import type { VendorContext } from '../../kit/vendor-requests.ts';
import { RequestData } from '../contract.ts';

/** A label with the ids of deleted responses. */
export const DELETED = '@openai.deleted';

/** The fields that do not change while the response is created. */
export type Head = {
  readonly id: string;
  readonly session: string;
  /** in milliseconds */
  readonly createdAt: number;
  readonly model: string;
  readonly terms: TurnOptions;
  readonly data: RequestData;
};

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

/** Null if the caller has no such response, it was not stored (unless `isHeld`), or it was deleted. */
export async function findSegment(
  ctx: VendorContext,
  principal: Principal,
  id: string,
  isHeld = false,
): Promise<Segment | null> {
  const { engine } = ctx;
  const place = positionOf(id);
  const ref = place && (await engine.find(principal, place.session));
  if (!ref) return null;
  const [start] = await engine.events(ref, place.seq - 1, 1);
  const data = start && isAt(start, place) && requestData(start);
  if (!start || !data || !(data.store || isHeld)) return null;
  if (await engine.lookup(principal, labelKey(DELETED, id))) return null;
  return segmentAt(ctx, ref, start);
}

/** The other events of a request are searched within this many events after the first. */
const REQUEST_EVENTS = 300;

export async function segmentAt(
  ctx: VendorContext,
  ref: SessionRef,
  first: DurableEvent,
): Promise<Segment | null> {
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
async function before({ engine }: VendorContext, ref: SessionRef, start: DurableEvent): Promise<PriorState> {
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

// The id of a response is derived from the session and the first event of the answer, so it is valid as long as the
// session is stored. The end of the event id distinguishes a session from a later one with the same id.

type ResponsePosition = { readonly session: string; readonly seq: number; readonly check: string };

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID = /^resp_([0-9a-z]{1,11})_([0-9a-f]{8})_(?:([0-9a-f]{32})|s([\w-]{1,1100}))$/;

const checkOf = (id: string): string => id.replaceAll('-', '').slice(-8).padStart(8, '0').toLowerCase();

function responseId({ session, seq, id }: Pick<DurableEvent, 'session' | 'seq' | 'id'>): string {
  const name = uuidPart(session) ?? `s${Buffer.from(session).toString('base64url')}`;
  return `resp_${seq.toString(36)}_${checkOf(id)}_${name}`;
}

/** The hex digits of a session id that is a UUID. */
function uuidPart(session: string): string | null {
  const plain = session.replaceAll('-', '');
  return UUID.test(plain) && dashed(plain) === session ? plain : null;
}

const dashed = (plain: string): string => plain.replace(UUID, '$1-$2-$3-$4-$5');

/** Null if the id is not ours. */
export function positionOf(id: string): ResponsePosition | null {
  const [, seq, check, uuid, name] = ID.exec(id) ?? [];
  if (seq === undefined || check === undefined) return null;
  const session = uuid === undefined ? Buffer.from(name ?? '', 'base64url').toString() : dashed(uuid);
  return { session, seq: Number.parseInt(seq, 36), check };
}

const isAt = (event: DurableEvent, { seq, check }: ResponsePosition): boolean =>
  event.seq === seq && checkOf(event.id) === check;

export type ItemKind = 'msg' | 'rs' | 'fc' | 'fco' | 'mcp';

/** The position of an item: its kind, and its id in the core and session. */
export type ItemPosition = { readonly kind: ItemKind; readonly id: string; readonly session: string };

const ITEM = /^(msg|rs|fc|fco|mcp)_(.{1,300})_(?:([0-9a-f]{32})|x((?:[0-9a-f]{2}){1,1100}))$/s;

export function itemId(kind: ItemKind, { session, id }: Omit<ItemPosition, 'kind'>): string {
  return `${kind}_${id}_${uuidPart(session) ?? `x${Buffer.from(session).toString('hex')}`}`;
}

/** Null if the id is not ours. */
export function itemPosition(item: string): ItemPosition | null {
  const [, kind, id, uuid, name] = ITEM.exec(item) ?? [];
  if (kind === undefined || id === undefined) return null;
  const session = uuid === undefined ? Buffer.from(name ?? '', 'hex').toString() : dashed(uuid);
  return { kind: kind as ItemKind, id, session };
}
