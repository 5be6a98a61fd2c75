/**
 * Text that every database can hold. A NUL and half of a surrogate pair become U+FFFD, in names as in titles, on
 * the way in and when looking up. Events need none of this: as JSON they carry both as escapes, unchanged.
 */
import type { PrincipalId, SessionId } from '@parlance/protocol';
import type { SessionRef } from '../../core/ports/event-store.ts';

export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

export const storableLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [storable(name), storable(value)]));

export const storableRef = (ref: SessionRef): SessionRef => ({
  owner: storable(ref.owner) as PrincipalId,
  id: storable(ref.id) as SessionId,
});
