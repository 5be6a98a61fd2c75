/**
 * Runs of tool calls, folded into one row each, and the files that a turn changed. Pure: the console and the terminal
 * show the same.
 */
import type { CallView, TurnView } from '@parlance/sdk';
import { filesOf, type KnownFile, reportedFiles, withContent } from '../components/approval/patch.ts';
import { counted } from './cost.ts';
import type { Row } from './rows.ts';

export type RunRow = {
  readonly key: string;
  readonly kind: 'run';
  /** the calls, and the thoughts between them */
  readonly members: readonly Row[];
  readonly calls: readonly CallView[];
  readonly isOpen: boolean;
  /** more calls may follow */
  readonly isLive: boolean;
};

/** Fewer calls are not folded. */
export const MIN_CALLS = 3;

type Folding = {
  readonly isOpen: (key: string) => boolean;
  /** the reader looks at this call: it stays visible */
  readonly isRead: (call: CallView) => boolean;
};

type Folded = {
  readonly rows: readonly (Row | RunRow)[];
  /** the rows of open runs */
  readonly inside: ReadonlySet<Row>;
};

/**
 * A folded run is followed by those of its rows that stay visible: calls that failed or need an answer, and the last one
 * while the run is live. Unchanged runs stay the same object.
 */
export function foldedRows(rows: readonly Row[], { isOpen, isRead }: Folding): Folded {
  const inside = new Set<Row>();
  const folded = sequences(rows, () => true).flatMap((part): readonly (Row | RunRow)[] => {
    if (!isSequence(part)) return [part];
    const { members, isLive, rest } = part;
    if (callsOf(members).length < MIN_CALLS) return [...members, ...rest];
    const run = runRow(part, isOpen(keyOf(members)));
    if (run.isOpen) for (const member of members) inside.add(member);
    const shown = run.isOpen
      ? members
      : members.filter((row, index) => {
          const call = callIn(row);
          const isLast = isLive && index === members.length - 1;
          return call !== null && (isLast || standsOut(call) || isRead(call));
        });
    return [run, ...shown, ...rest];
  });
  return { rows: folded, inside };
}

/**
 * For lines that are printed once: calls that stand out or had an approval end a run, and a live run has all its calls,
 * however few they are.
 */
export function printedRows(rows: readonly Row[]): readonly (Row | RunRow)[] {
  const isQuiet = (call: CallView) => !standsOut(call) && call.approval === null;
  return sequences(rows, isQuiet).flatMap((part): readonly (Row | RunRow)[] => {
    if (!isSequence(part)) return [part];
    const { members, isLive, rest } = part;
    if (!isLive && callsOf(members).length < MIN_CALLS) return [...members, ...rest];
    return [runRow(part, false), ...rest];
  });
}

type Sequence = {
  /** from the first call to the last one */
  readonly members: readonly Row[];
  /** thoughts after the last call */
  readonly rest: readonly Row[];
  readonly isLive: boolean;
};

const isSequence = (part: Row | Sequence): part is Sequence => 'members' in part;

function sequences(rows: readonly Row[], joins: (call: CallView) => boolean): (Row | Sequence)[] {
  const isMember = (row: Row | undefined): boolean => {
    const call = row ? callIn(row) : null;
    return call !== null && isFoldable(call) && joins(call);
  };
  const parts: (Row | Sequence)[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Row;
    let [last, end] = [at, at + 1];
    if (!isMember(row)) parts.push(row);
    else {
      for (; end < rows.length; end++) {
        if (isMember(rows[end])) last = end;
        else if (!isThought(rows[end])) break;
      }
      const isLive = mayGrow(rows[end]);
      parts.push({ members: rows.slice(at, last + 1), rest: rows.slice(last + 1, end), isLive });
    }
    at = end;
  }
  return parts;
}

/** Sub-agents, steps in the browser and apps are more than a line. */
const isFoldable = ({ tool, child, state }: CallView): boolean =>
  child === undefined &&
  tool !== 'agent' &&
  !tool.startsWith('browser_') &&
  !(state.phase === 'ended' && state.app);

const callIn = (row: Row): CallView | null =>
  row.kind === 'item' && row.item.kind === 'call' ? row.item : null;

const callsOf = (rows: readonly Row[]): CallView[] =>
  rows.flatMap((row) => {
    const call = callIn(row);
    return call ? [call] : [];
  });

const isThought = (row: Row | undefined): boolean =>
  row?.kind === 'item' && row.item.kind === 'reasoning' && row.item.state !== 'open';

/** What follows a run to which calls may be added. */
const mayGrow = (next: Row | undefined): boolean =>
  next === undefined ||
  ['working', 'queued', 'sending'].includes(next.kind) ||
  (next.kind === 'item' && next.item.kind === 'reasoning');

/** Failed, or needs somebody. */
function standsOut({ approval, state }: CallView): boolean {
  if (state.phase === 'ended') return state.outcome !== 'ok';
  return approval?.state.status === 'pending' || state.phase === 'waiting' || state.phase === 'deferred';
}

const keyOf = ([first]: readonly Row[]): string => `run ${first?.key}`;

const made = new WeakMap<Row, RunRow>();

function runRow({ members, isLive }: Sequence, isOpen: boolean): RunRow {
  const last = members.at(-1) as Row;
  const known = made.get(last);
  const isSame =
    known?.isOpen === isOpen &&
    known.isLive === isLive &&
    known.members.length === members.length &&
    known.members.every((member, index) => member === members[index]);
  if (known && isSame) return known;
  const run: RunRow = { key: keyOf(members), kind: 'run', members, calls: callsOf(members), isOpen, isLive };
  made.set(last, run);
  return run;
}

// What a run did, in words.

const NOUNS: Readonly<Record<string, string>> = {
  shell: 'command',
  local_shell: 'command',
  list_files: 'search',
  search_files: 'search',
  web_search: 'search',
  fetch_page: 'page',
};

/** `40 commands, 3 files changed`. A file that was changed or read several times counts once. */
export function runText(calls: readonly CallView[]): string {
  const changed = new Set<string>();
  const read = new Set<unknown>();
  const counts = new Map<string, number>();
  for (const call of calls) {
    const files = editsIn(call);
    if (files.length > 0) for (const { file } of files) changed.add(file.path);
    else if (call.tool === 'read_file') read.add(call.input.path);
    else {
      const noun = NOUNS[call.tool] ?? 'call';
      counts.set(noun, (counts.get(noun) ?? 0) + 1);
    }
  }
  return [
    ...(['command', 'search', 'page'] as const).flatMap((noun) => partText(counts, noun)),
    ...(changed.size > 0 ? [`${counted(changed.size, 'file')} changed`] : []),
    ...(read.size > 0 ? [`${counted(read.size, 'file')} read`] : []),
    ...partText(counts, 'call'),
  ].join(', ');
}

function partText(counts: ReadonlyMap<string, number>, noun: string): string[] {
  const count = counts.get(noun) ?? 0;
  if (count === 0) return [];
  return [noun === 'search' && count > 1 ? `${count} searches` : counted(count, noun)];
}

export type RunCounts = { readonly failed: number; readonly waiting: number; readonly running: number };

export function runCounts(calls: readonly CallView[]): RunCounts {
  const count = (test: (call: CallView) => boolean) => calls.filter(test).length;
  const isEnded = ({ state }: CallView) => state.phase === 'ended';
  return {
    failed: count((call) => isEnded(call) && standsOut(call)),
    waiting: count((call) => !isEnded(call) && standsOut(call)),
    running: count((call) => !isEnded(call) && !standsOut(call)),
  };
}

// The files that a turn changed, with every edit of each.

export type ChangedFile = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly edits: readonly KnownFile[];
};

const changes = new WeakMap<TurnView, readonly ChangedFile[]>();

/** By the edits of calls that succeeded; not what commands wrote. */
export function changedFiles(turn: TurnView): readonly ChangedFile[] {
  const known = changes.get(turn);
  if (known) return known;
  const byPath = new Map<string, KnownFile[]>();
  for (const item of turn.items) {
    if (item.kind !== 'call' || item.state.phase !== 'ended' || item.state.outcome !== 'ok') continue;
    for (const edit of editsIn(item)) {
      const { path, moveTo } = edit.file;
      const edits = byPath.get(path) ?? [];
      if (moveTo !== null) byPath.delete(path);
      byPath.set(moveTo ?? path, [...edits, edit]);
    }
  }
  const files = [...byPath].map(([path, edits]): ChangedFile => {
    const sum = (side: 'added' | 'removed') => edits.reduce((total, { file }) => total + file[side], 0);
    return { path, added: sum('added'), removed: sum('removed'), edits };
  });
  changes.set(turn, files);
  return files;
}

const edits = new WeakMap<CallView, readonly KnownFile[]>();

/** The input of a call is whatever the model wrote. */
function editsIn(call: CallView): readonly KnownFile[] {
  const known = edits.get(call);
  if (known) return known;
  const { tool, input, approval, state } = call;
  const patch = tool === 'save_file' ? savedPatch(input) : (input.patch ?? approval?.ask.patch);
  const reported = approval?.ask.files ?? (state.phase === 'ended' ? reportedFiles(state.data) : undefined);
  const found = typeof patch === 'string' ? withContent(filesOf(patch), reported) : [];
  edits.set(call, found);
  return found;
}

/** The content of a file that is written as a whole. */
function savedPatch({ path, content }: CallView['input']): string | undefined {
  if (typeof path !== 'string' || typeof content !== 'string') return undefined;
  const lines = content.replace(/\r?\n$/, '').split(/\r?\n/);
  return [
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n');
}
