/**
 * A session as rows of a virtualised list. Unchanged rows stay the same object, so that a token renders one row and not
 * the whole session.
 */
import type { InputId, Part } from '@parlance/protocol';
import type {
  Entry,
  InputView,
  Item,
  RestartView,
  RewoundView,
  SessionView,
  TurnView,
  Version,
} from '@parlance/sdk';

export type Row = { readonly key: string } & (
  | { readonly kind: 'input'; readonly input: InputView }
  | { readonly kind: 'item'; readonly item: Item }
  | { readonly kind: 'between'; readonly entry: Exclude<Entry, TurnView> }
  /** the turn is over: outcome and usage */
  | { readonly kind: 'end'; readonly turn: TurnView }
  /** the last turn reached its limit of steps: it can be continued */
  | { readonly kind: 'paused' }
  /** the turn is running and no block is open */
  | { readonly kind: 'working'; readonly turn: TurnView }
  /** its turn has not started */
  | { readonly kind: 'queued'; readonly input: InputView }
  /** the server has not accepted it yet */
  | { readonly kind: 'sending'; readonly parts: readonly Part[] }
);

/** A message on its way to the server. `key` is also in the accepted input. */
export type Sending = { readonly key: string; readonly parts: readonly Part[] };

const made = new WeakMap<object, Row>();
const rowsOfTurn = new WeakMap<TurnView, readonly Row[]>();

function rowFor(of: object, make: () => Row): Row {
  const known = made.get(of);
  if (known) return known;
  const row = make();
  made.set(of, row);
  return row;
}

export const sendingRow = (sending: Sending): Row =>
  rowFor(sending, () => ({ key: `sending ${sending.key}`, kind: 'sending', parts: sending.parts }));

/** `entries` are those of the shown version. */
export function rowsOf(
  view: SessionView,
  { entries, isLatest, branches }: ShownEntries = {
    entries: view.entries,
    isLatest: true,
    branches: new Map(),
  },
): readonly Row[] {
  const rows: Row[] = [];
  for (const entry of entries) {
    if (entry.kind === 'turn') for (const row of turnRows(entry)) rows.push(versioned(row, branches));
    else rows.push(rowFor(entry, () => ({ key: `${entry.kind} ${entry.seqs[0]}`, kind: 'between', entry })));
  }
  const last = entries.at(-1);
  if (isLatest && view.queued.length === 0 && last?.kind === 'turn' && isPaused(last)) rows.push(PAUSED);
  if (isLatest)
    for (const input of view.queued) rows.push({ key: `queued ${input.input}`, kind: 'queued', input });
  return rows;
}

const PAUSED: Row = { key: 'paused', kind: 'paused' };

export const isPaused = ({ state }: TurnView): boolean =>
  state.status === 'ended' && state.paused !== undefined;

const versionedRows = new WeakMap<Row, Row>();

/** Versions of a message or answer share a key: the focus stays on the buttons that switch between them. */
function versioned(row: Row, branches: ShownEntries['branches']): Row {
  const input = row.kind === 'input' ? row.input : row.kind === 'end' ? row.turn.input : null;
  const branch = input ? branches.get(input.input) : undefined;
  if (!branch) return row;
  const known = versionedRows.get(row) ?? { ...row, key: `versions ${row.kind} ${branch.latest}` };
  versionedRows.set(row, known);
  return known;
}

/** The index of the row with that event; -1 if it is not loaded yet, or is not shown. */
export function rowWith(rows: readonly Row[], seq: number): number {
  return rows.findIndex((row) => {
    switch (row.kind) {
      case 'input':
      case 'queued':
        return row.input.seqs.includes(seq);
      case 'item':
        return row.item.seqs.includes(seq);
      case 'between':
        return row.entry.seqs.includes(seq);
      default:
        return false;
    }
  });
}

export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' && !part.link ? [part.text] : [])).join('\n');

/** The texts of the messages, the last one first. */
export const messagesOf = (rows: readonly Row[]): string[] =>
  rows
    .flatMap((row) => {
      if ('input' in row) return [textOf(row.input.parts)];
      return row.kind === 'item' && row.item.kind === 'input' ? [textOf(row.item.parts)] : [];
    })
    .filter((text) => text !== '')
    .reverse();

function turnRows(turn: TurnView): readonly Row[] {
  const known = rowsOfTurn.get(turn);
  if (known) return known;
  const { input, items, state } = turn;
  const rows: Row[] = [];
  if (input) rows.push(rowFor(input, () => ({ key: `input ${input.input}`, kind: 'input', input })));
  items.forEach((item, index) => {
    rows.push(rowFor(item, () => ({ key: `${turn.turn} ${nameOf(item, index)}`, kind: 'item', item })));
  });
  if (state.status !== 'running') rows.push({ key: `${turn.turn} end`, kind: 'end', turn });
  else if (isThinking(turn)) rows.push({ key: `${turn.turn} working`, kind: 'working', turn });
  rowsOfTurn.set(turn, rows);
  return rows;
}

/** Stable while the item grows. */
function nameOf(item: Item, index: number): string {
  switch (item.kind) {
    case 'text':
    case 'reasoning':
      return item.block;
    case 'call':
      return item.call;
    default:
      return `${item.kind} ${item.seqs[0] ?? index}`;
  }
}

function isThinking({ open, items }: TurnView): boolean {
  if (open !== null) return false;
  return !items.some(
    (item) =>
      (item.kind === 'question' && item.state.status === 'pending') ||
      (item.kind === 'call' &&
        (item.state.phase === 'waiting' ||
          item.state.phase === 'running' ||
          item.state.phase === 'deferred')),
  );
}

/** The agent's text of a turn, as Markdown source. */
export const saidIn = ({ items }: TurnView): string =>
  items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('\n\n');

/** The reason is a sentence, the server's or the vendor's. */
export const restartText = ({ attempt, fault, fallback }: RestartView): string =>
  fallback
    ? `${fault.message} ${fallback.model} answers instead.`
    : `${fault.message} Trying again${attempt > 1 ? `, attempt ${attempt}` : ''}.`;

// Versions of a conversation. Editing a message or regenerating an answer replaces what follows; the earlier version can be
// read. Pure.

/** The chosen version of an input, from 0, by the id of its latest version. */
export type Chosen = Readonly<Record<string, number>>;

export type Branch = {
  /** the id of the latest version */
  readonly latest: InputId;
  /** which version is shown, from 0 */
  readonly index: number;
  readonly count: number;
  /** what is different in the latest version: the message, or only its answer */
  readonly at: 'message' | 'answer';
};

export type ShownEntries = {
  readonly entries: readonly Entry[];
  /** by the id of the input that is shown */
  readonly branches: ReadonlyMap<string, Branch>;
  /** false: an earlier version is shown */
  readonly isLatest: boolean;
};

const inputIn = (entry: Entry): InputId | null =>
  entry.kind === 'turn' ? (entry.input?.input ?? null) : entry.kind === 'history' ? entry.input : null;

/** Two messages with the same parts are equal. */
const partsOf = (entry: Entry | undefined): string =>
  JSON.stringify(entry?.kind === 'turn' ? entry.input?.parts : entry?.kind === 'history' && entry.items);

export function shownOf(view: Pick<SessionView, 'entries' | 'versions'>, chosen: Chosen): ShownEntries {
  const entries: Entry[] = [];
  const branches = new Map<string, Branch>();
  let isLatest = true;
  let rest: Version = view.entries;
  for (let at = 0; at < rest.length; ) {
    const entry = rest[at] as Entry;
    const latest = inputIn(entry);
    const versions = latest === null || branches.has(latest) ? undefined : view.versions[latest];
    if (latest === null || !versions) {
      entries.push(entry);
      at++;
      continue;
    }
    const index = Math.min(chosen[latest] ?? versions.length, versions.length);
    const place = partsOf(entry) === partsOf(versions.at(-1)?.[0]) ? 'answer' : 'message';
    const branch: Branch = { latest, index, count: versions.length + 1, at: place };
    const version = versions[index];
    if (!version) {
      branches.set(latest, branch);
      entries.push(entry);
      at++;
      continue;
    }
    isLatest = false;
    const [first] = version;
    const shown = first && inputIn(first);
    if (shown) branches.set(shown, branch);
    rest = version;
    at = 0;
  }
  return { entries, branches, isLatest };
}

/** A rewind in words, a line for each thing to know. */
export function rewoundText({ conversation, files, undoes, isUndone, isRestoring }: RewoundView): string[] {
  if (isRestoring) return ['Restoring files …'];
  const counted = (count: number) => (count === 1 ? '1 file' : `${count} files`);
  const all = files?.restored ?? [];
  const restored = all.filter(({ path }) => !path.endsWith('/')).length || all.length;
  const what = [
    ...(conversation ? ['the conversation'] : []),
    ...(restored > 0 ? [counted(restored)] : []),
  ].join(' and ');
  const verb = undoes === null ? 'Rewound' : 'Undid the rewind of';
  return [
    what === '' ? 'No file was restored.' : `${verb} ${what}${isUndone ? ', undone since' : ''}.`,
    ...(files?.kept ?? []).map(({ path, reason }) => `Kept ${path}: ${reason}.`),
    ...(files?.more === undefined ? [] : [`${files.more} more are not listed.`]),
    ...(files?.failed === undefined ? [] : [files.failed]),
  ];
}
