/**
 * The index of titles and labels, for filters that would read every session. Triggers write it when a title or a label changes.
 * It finds candidates: the filter compares what the session has.
 */
import { isLookupLabel, labelKey, type SessionFilter } from '../../core/ports/event-store.ts';
import { type SharedDatabase, type SqlDialect, Values } from './database.ts';
import { storableKey } from './stored-event.ts';
import { storable } from './text.ts';

/** Characters of a title that are found. Part of migrations, like the table of labels: never change it. */
export const TITLE_CHARACTERS = 1_000;
/** Characters of `name=value` that are compared in the index. */
const LABEL_CHARACTERS = 200;
/** A title is found by any part, so also by parts that are shorter than a gram. */
const GRAM = 3;

type LabelTypes = { readonly key: string; readonly session: string; readonly options: string };

/** Labels whose name starts with `@` are in `lookups`. */
export const labelTable = ({ key, session, options }: LabelTypes): string => `
  CREATE TABLE session_labels (
    session ${session},
    -- name=value, cut
    label ${key} NOT NULL,
    PRIMARY KEY (session, label)
  )${options};
  CREATE INDEX session_labels_by_label ON session_labels (label, session);`;

/** Inserts the labels of the rows; `row` and `labels` are expressions, and `entries` are rows with `key` and `value`. */
export const insertLabels = (row: string, entries: string, from = ''): string => `
  INSERT INTO session_labels (session, label)
  SELECT DISTINCT ${row}, substr(key || '=' || value, 1, ${LABEL_CHARACTERS}) FROM ${from}${entries} WHERE substr(key, 1, 1) <> '@'`;

/** The part of a title, lowercased like titles in both databases: only ASCII letters. */
export const titlePart = (title: string): string =>
  storable(title).replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** A title with this part has all of these grams, of UTF-8 in hexadecimal. */
function gramsOf(part: string): string {
  const characters = [...part];
  const size = Math.min(GRAM, characters.length);
  const grams = characters
    .slice(0, Math.max(0, Math.min(characters.length, TITLE_CHARACTERS) + 1 - size))
    .map((_, at) =>
      Buffer.from(characters.slice(at, at + size).join(''))
        .toString('hex')
        .toUpperCase(),
    );
  return [...new Set(grams)].join(' ');
}

/**
 * More candidates than this are not collected: then so many sessions match that the order of the list finds a page of them
 * soon. In a million sessions, 50 of 5,000 are among the first 10,000.
 */
const MOST = 5_000;

/** Selects `candidate`, a row of `sessions`. */
type Candidates = (values: Values) => string;

/** Null if the filter has neither, or if too many sessions would be candidates. */
export async function candidatesOf(
  { title, label }: SessionFilter,
  { query, dialect }: Pick<SharedDatabase, 'query' | 'dialect'>,
): Promise<Candidates | null> {
  const indexes = [label && ofLabel(label), title ? ofTitle(title, dialect) : undefined];
  for (const select of indexes) {
    if (!select) continue;
    const values = new Values();
    const [found] = await query(
      `SELECT count(*) AS count FROM (${select(values)} LIMIT ${MOST + 1}) AS candidates`,
      values.list,
    );
    if (Number(found?.count) <= MOST) return select;
  }
  return null;
}

function ofLabel({ name, value }: NonNullable<SessionFilter['label']>): Candidates {
  if (isLookupLabel(name)) {
    const { kind, id } = storableKey(labelKey(name, value));
    return (values) =>
      `SELECT session AS candidate FROM lookups WHERE kind = '${kind}' AND id = ${values.text(id)}`;
  }
  const entry = [...`${storable(name)}=${storable(value)}`].slice(0, LABEL_CHARACTERS).join('');
  return (values) => `SELECT session AS candidate FROM session_labels WHERE label = ${values.text(entry)}`;
}

function ofTitle(title: string, dialect: SqlDialect): Candidates {
  const grams = gramsOf(titlePart(title));
  return (values) => dialect.titled(values.text(grams), MOST + 1);
}
