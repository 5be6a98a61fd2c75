/**
 * Ids of responses. An id is derived from the session and from the event with which the answer begins, so it is good as long
 * as the session is stored. The end of the event's own id tells a session from a later one of the same name.
 */
import type { DurableEvent, SessionId } from '@parlance/protocol';

export type Place = { readonly session: string; readonly seq: number; readonly check: string };

const UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const ID = /^resp_([0-9a-z]{1,11})_([0-9a-f]{8})_(?:([0-9a-f]{32})|s([\w-]{1,1100}))$/;

const checkOf = (id: string): string => id.replaceAll('-', '').slice(-8).padStart(8, '0').toLowerCase();

export function responseId({ session, seq, id }: Pick<DurableEvent, 'session' | 'seq' | 'id'>): string {
  return `resp_${seq.toString(36)}_${checkOf(id)}_${sessionPart(session)}`;
}

function sessionPart(session: SessionId): string {
  const plain = session.replaceAll('-', '');
  const isUuid = UUID.test(plain) && dashed(plain) === session;
  return isUuid ? plain : `s${Buffer.from(session).toString('base64url')}`;
}

const dashed = (plain: string): string => plain.replace(UUID, '$1-$2-$3-$4-$5');

/** Null if it is no id of ours. */
export function placeOf(id: string): Place | null {
  const [, seq, check, uuid, name] = ID.exec(id) ?? [];
  if (seq === undefined || check === undefined) return null;
  const session = uuid === undefined ? Buffer.from(name ?? '', 'base64url').toString() : dashed(uuid);
  return { session, seq: Number.parseInt(seq, 36), check };
}

export const isAt = (event: DurableEvent, { seq, check }: Place): boolean =>
  event.seq === seq && checkOf(event.id) === check;

/** Ids of items: a kind, and the id of the core. */
export const itemId = (kind: 'msg' | 'rs' | 'fc' | 'mcp', id: string): string => `${kind}_${id}`;
