/**
 * Text that every database can store. NUL and lone surrogates become U+FFFD, in names and titles, on write and on
 * lookup. Events do not need this: JSON carries both as escapes.
 */
import type { PrincipalId, SessionId } from '@parlance/protocol';
import type { SessionRef } from '../../core/ports/event-store.ts';

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

export const storableOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : storable(text);

export const storableLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [storable(name), storable(value)]));

export const storableRef = (ref: SessionRef): SessionRef => ({
  owner: storable(ref.owner) as PrincipalId,
  id: storable(ref.id) as SessionId,
});

/** Databases sort by UTF-8 bytes. String comparison would put U+1F600 before U+FF5E. */
export const byCodePoint = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
