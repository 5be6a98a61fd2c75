/** The examples of a dialect, ready to be edited and sent: with ids that the connection has learned from frames. */
import { isObject, parsedJson } from '@parlance/protocol/json-text';
import type { Dialect, DialectExample } from '@parlance/sdk';

export type Example = DialectExample & {
  /** the message that it is an example of */
  readonly name: string;
};

export const examplesOf = ({ messages }: Dialect): readonly Example[] =>
  messages.flatMap(({ name, examples }) => examples.map((example) => ({ ...example, name })));

/** The frame of an example with the ids of the connection. */
export function frameOf({ transport }: Dialect, frame: Example['frame'], filling: Filling): object {
  const made = filled(frame, filling);
  if (transport !== 'requests' || typeof frame.path !== 'string') return made;
  return { ...made, path: filledPath(frame.path, filling) };
}

/** The first message of a client. */
export function firstFrame(dialect: Dialect, filling: Filling): object {
  const [snippet] = dialect.snippets.filter(({ kind }) => kind === 'socket');
  const frame = snippet?.kind === 'socket' ? snippet.frames[0] : examplesOf(dialect)[0]?.frame;
  return frame === undefined ? {} : frameOf(dialect, frame, filling);
}

// Examples with the ids of a connection in place of those that the server's list is about.

type Value = unknown;
type Ids = Readonly<Record<string, string>>;

/** Ids by name. Those that are not known stay as they are in the example. */
export type Known = Readonly<Record<string, string | undefined>>;

export type Filling = {
  /** the ids of the examples */
  readonly ids: Ids;
  readonly known: Known;
  /** a new id, for texts that contain a session while there is none */
  readonly fresh: string;
};

/** Without a session, fields that name one are left out. */
export function filled<Shape extends object>(frame: Shape, filling: Filling): Shape {
  return fill(frame, filling) as Shape;
}

/** The same for the path of a request. */
export const filledPath = (path: string, { ids, known, fresh }: Filling): string =>
  replaced(path, ids, {
    ...mapped(known, encodeURIComponent),
    session: encodeURIComponent(known.session ?? fresh),
  });

function fill(value: Value, filling: Filling): Value {
  const { ids, known, fresh } = filling;
  if (typeof value === 'string') return replaced(value, ids, { ...known, session: known.session ?? fresh });
  if (Array.isArray(value)) return value.map((inner) => fill(inner, filling));
  if (typeof value !== 'object' || value === null) return value;
  const isShown = (inner: Value) => known.session !== undefined || inner !== ids.session;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => isShown(inner))
      .map(([key, inner]) => [key, fill(inner, filling)]),
  );
}

const replaced = (text: string, ids: Ids, known: Known): string =>
  Object.entries(ids).reduce((changed, [name, example]) => {
    const id = known[name];
    return id === undefined ? changed : changed.replaceAll(example, () => id);
  }, text);

const mapped = (known: Known, change: (id: string) => string): Known =>
  Object.fromEntries(Object.entries(known).map(([name, id]) => [name, id === undefined ? id : change(id)]));

// Ids in the frames of the server, which the next frame may have to name.

/** Returns the same object if the frame adds nothing. */
export function learn(known: Known, { ids }: Pick<Dialect, 'ids'>, text: string): Known {
  const frame = parsedJson(text);
  if (!isObject(frame)) return known;
  const name = frame.type ?? frame.event;
  const found = ids
    .filter(({ message }) => message === null || message === name)
    .flatMap(({ id, at, match }) => {
      const value = part(valueAt(frame, at.split('.')), match);
      return value === undefined ? [] : [[id, value] as const];
    });
  return found.length === 0 ? known : { ...known, ...Object.fromEntries(found) };
}

function valueAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return value;
  const inner = typeof value === 'string' ? parsedJson(value) : value;
  return isObject(inner) ? valueAt(inner[key], rest) : undefined;
}

function part(value: unknown, match: string | null): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return match === null ? value : new RegExp(match).exec(value)?.[0];
}
