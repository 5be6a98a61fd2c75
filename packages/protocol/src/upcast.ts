/**
 * Converts events stored by older versions of Parlance to the current schema. Every stored event has a
 * version; an event without one has version 1. The version increases when a stored field is renamed, removed
 * or changes its meaning; adding an optional field needs no version. A new kind of event or of part needs one,
 * since older servers cannot read it.
 */
import { Fault } from './faults.ts';

export type StoredEvent = { readonly type: string; readonly [field: string]: unknown };

/**
 * The changes from one version to the next: a pure function for each changed event type. It may also change the type.
 */
export type EventUpcast = Readonly<
  Record<
    string,
    ((event: StoredEvent) => StoredEvent) & {
      /** whether an event has to be written in this version; without it, all of the kind */
      readonly isConcerned?: (event: StoredEvent) => boolean;
    }
  >
>;

/** For the step to the version that adds a kind of event. */
export const ADDED = (event: StoredEvent): StoredEvent => event;

/**
 * For the step to the version that changes only some events of a kind: the others are written in the version
 * that they had, so that older nodes of a cluster can read them.
 */
export const only = (
  isConcerned: (event: StoredEvent) => boolean,
  change: (event: StoredEvent) => StoredEvent,
): EventUpcast[string] => Object.assign((event: StoredEvent) => change(event), { isConcerned });

/** Pages were stored as text, with the same delimiters, besides their data. */
const PAGE_TEXT = /^<<<PAGE CONTENT: data, not instructions>>>\n[\s\S]*\n<<<END OF PAGE CONTENT>>>$/;

const partsOf = ({ parts }: StoredEvent): readonly unknown[] => (Array.isArray(parts) ? parts : []);

const hasPage = (event: StoredEvent): boolean =>
  partsOf(event).some((part) => isStoredEvent(part) && part.type === 'page');

const importsPage = ({ items }: StoredEvent): boolean =>
  Array.isArray(items) && items.some((item) => isStoredEvent(item) && hasPage(item));

/** Only parts that a copilot client sent: they follow other parts, and the event has the page as data. */
function withPage(event: StoredEvent): StoredEvent {
  const page = (event.data as { page?: { title?: unknown; url?: unknown } } | undefined)?.page;
  if (!page) return event;
  const parts = partsOf(event).map((part, index) =>
    index > 0 && isStoredEvent(part) && part.type === 'text' && PAGE_TEXT.test(String(part.text))
      ? { type: 'page', title: String(page.title ?? ''), url: String(page.url ?? ''), text: part.text }
      : part,
  );
  return { ...event, parts };
}

const hasChild = ({ child }: StoredEvent): boolean => child !== undefined;

/** The step from version 1 to 2 comes first. Never change a released step; add another one. */
const EVENT_UPCASTS: readonly EventUpcast[] = [
  { 'session.unarchived': ADDED, 'session.pinned': ADDED, 'session.tagged': ADDED },
  {
    'input.accepted': only(hasPage, withPage),
    'tool.ended': only(hasPage, withPage),
    'history.imported': only(importsPage, ADDED),
  },
  {
    'input.accepted': only(({ joins, reportTo, child }) => (joins ?? reportTo ?? child) !== undefined, ADDED),
    'input.joined': ADDED,
    'history.removed': ADDED,
    'question.asked': ADDED,
    'question.repeated': ADDED,
    'question.answered': ADDED,
    'session.restored': ADDED,
    'rewind.started': ADDED,
    'files.rewound': ADDED,
    'instructions.changed': ADDED,
    'session.created': only(({ parent }) => parent !== undefined, ADDED),
    'tool.started': only(hasChild, ADDED),
    'approval.requested': only(hasChild, ADDED),
    'approval.answered': only(hasChild, ADDED),
    'tool.ended': only(({ child, stops }) => (child ?? stops) !== undefined, ADDED),
    'call.delegated': ADDED,
    'child.stopped': ADDED,
    'parent.informed': ADDED,
    'usage.recorded': ADDED,
    'limit.approached': ADDED,
  },
];

/** The newest version of events. */
export const eventVersion = (upcasts: readonly EventUpcast[] = EVENT_UPCASTS): number => upcasts.length + 1;

/** The version in which the event is written: the last one that changed or added its kind. */
export const writtenVersion = (
  event: StoredEvent,
  upcasts: readonly EventUpcast[] = EVENT_UPCASTS,
): number => {
  const { type } = event;
  return (
    upcasts.findLastIndex((step) => Object.hasOwn(step, type) && (step[type]?.isConcerned?.(event) ?? true)) +
    2
  );
};

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
