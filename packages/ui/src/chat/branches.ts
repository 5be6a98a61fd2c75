/**
 * Versions of a conversation. Editing a message or regenerating an answer replaces what follows; the earlier version can be
 * read. Pure.
 */
import type { InputId } from '@parlance/protocol';
import type { Entry, SessionView, Version } from '@parlance/sdk';

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

export type Shown = {
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

export function shownOf(view: Pick<SessionView, 'entries' | 'versions'>, chosen: Chosen): Shown {
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
