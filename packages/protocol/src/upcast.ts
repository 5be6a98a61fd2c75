/**
 * Converts events stored by older versions of Parlance to the current schema. Every stored event has a
 * version; an event without one has version 1. The version increases when a stored field is renamed, removed
 * or changes its meaning; adding an optional field needs no version. A new kind of event needs one, since
 * older servers cannot read it.
 */
import { Fault } from './faults.ts';

export type StoredEvent = { readonly type: string; readonly [field: string]: unknown };

/**
 * The changes from one version to the next: a pure function for each changed event type. It may also change the type.
 */
export type EventUpcast = Readonly<Record<string, (event: StoredEvent) => StoredEvent>>;

/** For the step to the version that adds a kind of event. */
export const ADDED = (event: StoredEvent): StoredEvent => event;

/** The step from version 1 to 2 comes first. Never change a released step; add another one. */
const EVENT_UPCASTS: readonly EventUpcast[] = [
  { 'session.unarchived': ADDED, 'session.pinned': ADDED, 'session.tagged': ADDED },
];

/** The newest version of events. */
export const eventVersion = (upcasts: readonly EventUpcast[] = EVENT_UPCASTS): number => upcasts.length + 1;

/** The version in which events of this kind are written: the last one that changed or added it. */
export const kindVersion = (type: string, upcasts: readonly EventUpcast[] = EVENT_UPCASTS): number =>
  upcasts.findLastIndex((step) => Object.hasOwn(step, type)) + 2;

/**
 * The event in the current schema, to be parsed; an event of the current version is returned unchanged.
 * Throws a `storage_unavailable` fault if the version is newer than the current one, or invalid.
 */
export function upcast(
  stored: unknown,
  version: number,
  upcasts: readonly EventUpcast[] = EVENT_UPCASTS,
): unknown {
  const current = eventVersion(upcasts);
  if (version === current) return stored;
  if (!Number.isInteger(version) || version < 1 || version > current) {
    throw new Fault('storage_unavailable', `${nameOf(stored)} ${unknownVersion(version, current)}.`);
  }
  if (!isStoredEvent(stored)) return stored;
  return upcasts
    .slice(version - 1)
    .reduce(
      (event, step) => (Object.hasOwn(step, event.type) ? step[event.type]?.(event) : null) ?? event,
      stored,
    );
}

/** The error for an unreadable version of events, files and databases. */
export const unknownVersion = (version: number, current: number): string =>
  version > current
    ? `has schema version ${version}, which a newer version of Parlance wrote: this one reads up to ${current}`
    : `has schema version ${version}, which does not exist`;

const isStoredEvent = (value: unknown): value is StoredEvent =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function nameOf(stored: unknown): string {
  if (!isStoredEvent(stored)) return 'A stored event';
  return `Event ${stored.seq} (${stored.type}) of session ${stored.session}`;
}
