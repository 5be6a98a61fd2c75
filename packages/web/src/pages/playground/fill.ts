/** Examples with the ids of a connection in place of those that the server's list is about. */

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
