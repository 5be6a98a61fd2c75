/**
 * Ids of responses and items. The id of a response is derived from the session and the first event of the
 * answer, so it is valid as long as the session is stored. The end of the event id distinguishes a session from
 * a later one with the same id.
 */
import type { DurableEvent, SessionId } from '@parlance/protocol';

export type ResponsePosition = { readonly session: string; readonly seq: number; readonly check: string };

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID = /^resp_([0-9a-z]{1,11})_([0-9a-f]{8})_(?:([0-9a-f]{32})|s([\w-]{1,1100}))$/;

const checkOf = (id: string): string => id.replaceAll('-', '').slice(-8).padStart(8, '0').toLowerCase();

export function responseId({ session, seq, id }: Pick<DurableEvent, 'session' | 'seq' | 'id'>): string {
  return `resp_${seq.toString(36)}_${checkOf(id)}_${sessionPart(session)}`;
}

function sessionPart(session: SessionId): string {
  return uuidPart(session) ?? `s${Buffer.from(session).toString('base64url')}`;
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

export const isAt = (event: DurableEvent, { seq, check }: ResponsePosition): boolean =>
  event.seq === seq && checkOf(event.id) === check;

export type ItemKind = 'msg' | 'rs' | 'fc' | 'mcp';

/** The position of an item: its kind, and its id in the core and session. */
export type ItemPosition = { readonly kind: ItemKind; readonly id: string; readonly session: string };

const ITEM = /^(msg|rs|fc|mcp)_(.{1,300})_(?:([0-9a-f]{32})|x((?:[0-9a-f]{2}){1,1100}))$/s;

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
