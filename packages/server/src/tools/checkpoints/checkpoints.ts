/**
 * Checkpoints of working folders, and rewinds to them. Reasons: docs/decisions/0026.
 *
 * Each call that may change files runs between two looks at the files it may change. What differs is its change: path, state
 * before, state after. A rewind takes back the changes of a session, newest first, wherever the file is still as the session
 * left it.
 */
import { existsSync, realpathSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ChangedFiles, RewoundFiles } from '@parlance/protocol';
import { Fault } from '@parlance/protocol';
import type {
  CheckpointedCall,
  CheckpointedSession,
  Checkpoints,
  FileVersion,
  PreviewedFile,
  RewindRequest,
  RewindTarget,
  VersionedFile,
} from '../../core/ports/checkpoints.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { isReservedName } from '../git-folder.ts';
import type { Guard } from '../guard.ts';
import { type Bounds, confine, contains } from '../paths.ts';
import { type Change, CheckpointDatabase, type Pending, type Restoring } from './database.ts';
import { isStored, look, type State, same } from './entry.ts';
import { patchText } from './patch-text.ts';
import { applyAll, changeOf, shownPath } from './restore.ts';
import { type Manifest, scan, TooLarge } from './scan.ts';

export type CheckpointOptions = {
  /** folder for the database; made on first use */
  readonly data: string;
  readonly guard: Guard;
  /** for the contents of all checkpoints, in bytes */
  readonly space: number;
  /** files and folders of one working folder */
  readonly maxEntries: number;
  /** whether the session still exists */
  readonly exists: (session: CheckpointedSession) => Promise<boolean>;
  readonly log: Log;
};

const FILE = 'checkpoints.sqlite';
const LISTED = 100;
const PREVIEWED = 500;
const PATCH_CHARACTERS = 20_000;
const PREVIEW_CHARACTERS = 500_000;
/** A folder above a limit is not looked at again for this long. */
const TOO_LARGE_MS = 60_000;
/** A command may make files; beyond this its changes are not listed. */
const GROWTH = 2;
/** Folders whose last look is in memory. */
const LOOKS = 8;

/** A call that runs. Calls of one session that may change the whole folder share one. */
type Running = {
  readonly session: string;
  readonly root: string;
  readonly pending: Pending[];
  users: number;
  /** paths that calls of other sessions have changed meanwhile: absolute path → state that they left */
  readonly claimed: Map<string, State>;
  /** why another session may have made its changes */
  doubt: string | null;
  readonly ended: PromiseWithResolvers<ChangedFiles>;
};

type Draft = Omit<Change, 'id' | 'folder'>;

const sessionKey = ({ owner, id, createdAt }: CheckpointedSession): string =>
  JSON.stringify([owner, id, createdAt]);

export class LocalCheckpoints implements Checkpoints {
  #database: CheckpointDatabase | null = null;
  readonly #running = new Set<Running>();
  #looking = 0;
  readonly #tooLarge = new Map<string, { readonly until: number; readonly why: string }>();
  /** the last looks; the newest last */
  readonly #looks = new Map<string, { readonly manifest: Manifest; readonly id: number | null }>();

  constructor(private readonly options: CheckpointOptions) {}

  close(): void {
    this.#database?.close();
    this.#database = null;
  }

  get #path(): string {
    return join(this.options.data, FILE);
  }

  async #open(): Promise<CheckpointDatabase> {
    if (this.#database) return this.#database;
    const isNew = !existsSync(this.#path);
    const database = new CheckpointDatabase(this.#path);
    this.#database = database;
    if (isNew) await chmod(this.#path, 0o600);
    // Sessions that were erased while this was closed, or on another node.
    else void this.#forgetErased(database);
    return database;
  }

  async #forgetErased(database: CheckpointDatabase): Promise<void> {
    try {
      for (const session of database.sessions())
        if (!(await this.options.exists(session)) && this.#database) database.forget(session);
      if (this.#database && this.#looking === 0) database.collect(this.options.space);
    } catch (err) {
      this.options.log.warn({ err }, 'failed to remove checkpoints of erased sessions');
    }
  }

  // Calls.

  async before(
    { session, ephemeral, turn, call, seq, root: folder, signal }: CheckpointedCall,
    what: 'folder' | readonly string[],
  ): Promise<() => Promise<ChangedFiles>> {
    if (ephemeral) return unprotected('the session is ephemeral');
    const database = await this.#open();
    const root = realpathSync(folder);
    const bounds = { root, ...this.options.guard };
    const key = sessionKey(session);
    const begun = { turn, call, seq, folder: root };
    const shared = [...this.#running].find(
      (running) => running.session === key && running.root === root && running.pending[0]?.manifest != null,
    );
    if (what === 'folder' && shared) {
      shared.users++;
      return () => this.#ended(shared, session);
    }
    // A call that a crash has interrupted runs again: what was before it, was before the first run.
    const earlier = database.pending(session).find((one) => one.call === call && one.before !== null);
    let pending: Pending;
    if (what === 'folder') {
      const large = this.#tooLarge.get(root);
      if (large && large.until > Date.now()) return unprotected(large.why);
      try {
        pending = await this.#look(database, bounds, { signal }, (manifest) => {
          const looked = { ...begun, manifest, before: null };
          return { ...looked, id: database.begin(session, looked) };
        });
      } catch (thrown) {
        if (!(thrown instanceof TooLarge)) throw thrown;
        this.#tooLarge.set(root, { until: Date.now() + TOO_LARGE_MS, why: thrown.message });
        return unprotected(thrown.message);
      }
    } else {
      const paths = await pathsBelow(bounds, what);
      if (paths === null) return unprotected("git's and Parlance's own folders are not kept");
      const before: (readonly [string, State])[] = [];
      for (const path of paths)
        before.push([path, await look(bounds, path, (hash, bytes) => database.keep(hash, bytes))]);
      const looked = { ...begun, manifest: null, before };
      pending = earlier ?? { ...looked, id: database.begin(session, looked) };
    }
    const running: Running = {
      session: key,
      root,
      pending: [pending],
      users: 1,
      claimed: new Map(),
      doubt: null,
      ended: Promise.withResolvers(),
    };
    if (what === 'folder') this.#meets(running);
    this.#running.add(running);
    return () => this.#ended(running, session);
  }

  /** Two commands of different sessions in one folder: neither look tells who has changed what. */
  #meets(running: Running): void {
    for (const other of this.#running) {
      const overlaps = contains(other.root, running.root) || contains(running.root, other.root);
      if (other.session === running.session || !overlaps || other.pending[0]?.manifest == null) continue;
      other.doubt = running.doubt = 'a command of another session ran in the folder at the same time';
    }
  }

  /** With `begin`, what was found is stored, and named in the record that it makes: nothing removes it in between. */
  async #look<Begun>(
    database: CheckpointDatabase,
    bounds: Bounds,
    { signal }: { readonly signal?: AbortSignal },
    begin?: (manifest: number) => Begun,
  ): Promise<Begun> {
    this.#looking++;
    try {
      return await this.#looked(database, bounds, { signal }, begin);
    } finally {
      this.#looking--;
    }
  }

  async #looked<Begun>(
    database: CheckpointDatabase,
    bounds: Bounds,
    { signal }: { readonly signal?: AbortSignal | undefined },
    begin?: (manifest: number) => Begun,
  ): Promise<Begun> {
    const { root } = bounds;
    const last = this.#looks.get(root);
    const stored = last ? null : database.lastManifest(root);
    const known = last?.manifest ?? stored?.manifest ?? new Map();
    const growth = begin ? 1 : GROWTH;
    const manifest = await scan(bounds, {
      known,
      isKept: (hash) => database.has(hash),
      keep: (hash, bytes) => database.keep(hash, bytes),
      maxEntries: this.options.maxEntries * growth,
      maxBytes: (this.options.space / 2) * growth,
      signal,
    });
    const isSame =
      manifest.size === known.size &&
      [...manifest].every(([path, { entry }]) => same(entry, known.get(path)?.entry ?? null));
    const before = last ? last.id : (stored?.id ?? null);
    let id = isSame ? before : null;
    if (begin) id ??= database.addManifest(root, manifest);
    this.#looks.delete(root);
    this.#looks.set(root, { manifest, id });
    for (const [oldest] of this.#looks) if (this.#looks.size > LOOKS) this.#looks.delete(oldest);
    return begin?.(id ?? 0) as Begun;
  }

  /** Not while a look is in progress: what it has found is not referred to yet. */
  #collect(database: CheckpointDatabase): void {
    const { space } = this.options;
    if (this.#looking > 0 || database.bytes <= space) return;
    database.collect(space * 0.8);
    this.#looks.clear();
  }

  async #ended(running: Running, session: CheckpointedSession): Promise<ChangedFiles> {
    running.users--;
    // The last one tells what all of them have changed.
    if (running.users > 0) return { changed: [] };
    try {
      const database = await this.#open();
      const { drafts, problem } = await this.#changesOf(database, running);
      database.end(session, running.pending, drafts);
      if (running.pending[0]?.before) this.#claim(running, drafts);
      this.#collect(database);
      const changes = drafts.flatMap(({ path, before, after }) => changeOf(path, before, after) ?? []);
      return {
        changed: changes.slice(0, LISTED),
        ...(changes.length > LISTED && { more: changes.length - LISTED }),
        ...(problem !== null && { unprotected: problem }),
      };
    } finally {
      this.#running.delete(running);
      running.ended.resolve({ changed: [] });
    }
  }

  async #changesOf(
    database: CheckpointDatabase,
    { root, pending: [pending], claimed, doubt }: Pick<Running, 'root' | 'pending' | 'claimed' | 'doubt'>,
  ): Promise<{ readonly drafts: Draft[]; readonly problem: string | null }> {
    const bounds = { root, ...this.options.guard };
    const drafts: Draft[] = [];
    const add = (path: string, before: State, after: State) => {
      const left = claimed.get(join(root, path));
      if (same(before, after) || (left !== undefined && same(left, after))) return;
      const why = left === undefined ? doubt : 'a call of another session changed it at the same time';
      drafts.push({ path, before, after, doubt: why });
    };
    if (!pending) return { drafts, problem: null };
    if (pending.before) {
      for (const [path, before] of pending.before)
        add(path, before, await look(bounds, path, (hash, bytes) => database.keep(hash, bytes)));
      return { drafts, problem: null };
    }
    const before = database.manifest(pending.manifest ?? 0);
    if (!before) return { drafts, problem: 'the checkpoint is no longer stored' };
    try {
      await this.#look(database, bounds, {});
    } catch (thrown) {
      if (!(thrown instanceof TooLarge)) throw thrown;
      return { drafts, problem: thrown.message };
    }
    const after: Manifest = this.#looks.get(root)?.manifest ?? new Map();
    for (const [path, { entry }] of before) add(path, entry, after.get(path)?.entry ?? null);
    for (const [path, { entry }] of after) if (!before.has(path)) add(path, null, entry);
    return { drafts, problem: null };
  }

  /** A file tool knows its files: commands of other sessions that run meanwhile have not changed them. */
  #claim(running: Running, drafts: readonly Draft[]): void {
    for (const other of this.#running)
      if (other.session !== running.session && other.pending[0]?.manifest != null)
        for (const { path, after } of drafts) other.claimed.set(join(running.root, path), after);
  }

  /** Waits for calls that end, and completes those that a crash has interrupted. */
  async #settled(database: CheckpointDatabase, session: CheckpointedSession): Promise<void> {
    const key = sessionKey(session);
    const running = [...this.#running].filter((one) => one.session === key);
    await Promise.all(running.map(({ ended }) => ended.promise));
    for (const pending of database.pending(session)) {
      const { drafts } = await this.#changesOf(database, {
        root: pending.folder,
        pending: [pending],
        claimed: new Map(),
        doubt: 'the server ended while the call ran',
      });
      database.end(session, [pending], drafts);
    }
  }

  // Rewinds.

  async versions(file: VersionedFile): Promise<readonly FileVersion[]> {
    if (!existsSync(this.#path)) return [];
    const root = realpathSync(file.root);
    const bounds = { root, ...this.options.guard };
    const path = relative(root, (await confine(bounds, file.path)).path);
    const now = await look(bounds, path);
    const current = now?.kind === 'file' ? now.content : null;
    const versions = (await this.#open()).versions(file.session, root, path);
    const last = versions.pop();
    return last ? [...versions, { ...last, ...(last.version === current && { isCurrent: true }) }] : [];
  }

  async content({
    version,
    ...file
  }: VersionedFile & { readonly version: string }): Promise<Uint8Array<ArrayBuffer> | null> {
    const isOne = (await this.versions(file)).some((one) => one.version === version);
    return isOne ? (await this.#open()).content(version) : null;
  }

  async knows(session: CheckpointedSession): Promise<boolean> {
    return existsSync(this.#path) && (await this.#open()).knows(session);
  }

  async forget(session: Pick<CheckpointedSession, 'owner' | 'id'>): Promise<void> {
    if (!existsSync(this.#path)) return;
    const database = await this.#open();
    database.forget(session);
    if (this.#looking > 0) return;
    database.collect(this.options.space);
    this.#looks.clear();
  }

  async preview(
    request: Pick<RewindRequest, 'session' | 'root'> & RewindTarget,
  ): Promise<{ readonly files: readonly PreviewedFile[]; readonly more: number }> {
    if (!existsSync(this.#path)) return { files: [], more: 0 };
    const database = await this.#open();
    const contents = new Map<string, Uint8Array>();
    const plan = await this.#plan(database, request, (hash, bytes) => {
      if (contents.size < PREVIEWED) contents.set(hash, bytes);
    });
    let left = PREVIEW_CHARACTERS;
    const bytesOf = (state: State): Uint8Array | null | undefined => {
      if (state === null) return null;
      if (state.kind === 'link') return new TextEncoder().encode(`→ ${state.target}\n`);
      if (state.kind !== 'file' || !isStored(state)) return undefined;
      return contents.get(state.content) ?? database.content(state.content) ?? undefined;
    };
    const files = plan.flatMap(({ path, before, after, kept, canOverwrite }): PreviewedFile[] => {
      const change = changeOf(path, before, after);
      if (!change) return [];
      const [one, other] = [bytesOf(before), bytesOf(after)];
      const patch =
        one === undefined || other === undefined || left <= 0
          ? null
          : patchText(path, one, other, Math.min(left, PATCH_CHARACTERS));
      left -= patch?.length ?? 0;
      return [
        {
          ...change,
          ...(kept !== null && { kept, ...(canOverwrite && { canOverwrite }) }),
          ...(patch !== null && { patch }),
        },
      ];
    });
    return { files: files.slice(0, PREVIEWED), more: Math.max(0, files.length - PREVIEWED) };
  }

  async restore(request: RewindRequest): Promise<RewoundFiles> {
    const { session, rewind, overwrite } = request;
    const database = await this.#open();
    const root = realpathSync(request.root);
    const begun = database.rewind(session, rewind);
    if (begun?.outcome) return begun.outcome;
    let files: Restoring[];
    if (begun) files = begun.files;
    else {
      const named = new Set(overwrite);
      const keep = (hash: string, bytes: Uint8Array) => database.keep(hash, bytes);
      const plan = await this.#plan(database, request, keep);
      files = plan.map(({ canOverwrite, ...file }) => ({
        ...file,
        kept: canOverwrite && named.has(shownPath(file)) ? null : file.kept,
      }));
      database.beginRewind(session, rewind, root, files);
    }
    const bounds = { root, ...this.options.guard };
    const ended = await applyAll(bounds, files, (hash) => database.content(hash));
    const restored = ended.flatMap((file) =>
      file.kept === null ? (changeOf(file.path, file.before, file.after) ?? []) : [],
    );
    const kept = ended.flatMap((file) =>
      file.kept === null ? [] : [{ path: shownPath(file), reason: file.kept }],
    );
    const more = Math.max(0, restored.length - LISTED) + Math.max(0, kept.length - LISTED);
    const result: RewoundFiles = {
      restored: restored.slice(0, LISTED),
      kept: kept.slice(0, LISTED),
      ...(more > 0 && { more }),
    };
    database.endRewind(rewind, ended, result);
    return result;
  }

  async #plan(
    database: CheckpointDatabase,
    { session, root: folder, from, undoes }: Pick<RewindRequest, 'session' | 'root'> & RewindTarget,
    keep: (hash: string, bytes: Uint8Array) => void,
  ): Promise<(Restoring & { readonly canOverwrite: boolean })[]> {
    await this.#settled(database, session);
    const root = realpathSync(folder);
    const bounds = { root, ...this.options.guard };
    const wanted =
      undoes === undefined
        ? takeBack(database.changes(session, from ?? 0))
        : undone(database, session, undoes);
    const plan: (Restoring & { readonly canOverwrite: boolean })[] = [];
    for (const { path, folder: of, expected, after, doubt, changes, active } of wanted) {
      const base = { path, after, changes, active };
      if (of !== root) {
        plan.push({ ...base, before: null, kept: `it is in another folder: ${of}`, canOverwrite: false });
        continue;
      }
      const before = await look(bounds, path, keep);
      const isKnown = after?.kind !== 'other' && isStored(after);
      const hasContent = isKnown && (after?.kind !== 'file' || database.has(after.content));
      const kept = same(before, after)
        ? null
        : !hasContent
          ? 'its earlier content is not stored'
          : !same(before, expected)
            ? 'it was changed since by somebody else'
            : doubt;
      // What cannot be written again cannot be overwritten either.
      const canOverwrite = kept !== null && hasContent && isStored(before) && before?.kind !== 'other';
      plan.push({ ...base, before, kept, canOverwrite });
    }
    return plan.sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

const unprotected = (why: string) => async (): Promise<ChangedFiles> => ({ changed: [], unprotected: why });

type Wanted = {
  readonly path: string;
  readonly folder: string;
  /** as the session left it */
  readonly expected: State;
  readonly after: State;
  readonly doubt: string | null;
  readonly changes: number[];
  readonly active: boolean;
};

/** The changes of a path become one, unless somebody else changed it between them. */
export function takeBack(changes: readonly Change[]): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { id, folder, path, before, after, doubt } of changes) {
    const key = JSON.stringify([folder, path]);
    const first = wanted.get(key);
    const gap = first && !same(first.expected, before) ? 'somebody else changed it in between' : null;
    wanted.set(key, {
      path,
      folder,
      expected: after,
      after: first ? first.after : before,
      doubt: first?.doubt ?? gap ?? doubt,
      changes: [...(first?.changes ?? []), id],
      active: false,
    });
  }
  return [...wanted.values()];
}

/** What a rewind has restored becomes as it was before. */
function undone(database: CheckpointDatabase, session: CheckpointedSession, rewind: string): Wanted[] {
  const found = database.rewind(session, rewind);
  if (!found) throw new Fault('not_found', 'There is no such rewind, or its files are no longer stored.');
  if (!found.outcome) throw new Fault('busy', 'That rewind has not ended yet.');
  return found.files.flatMap(({ path, before, after, changes, active, kept }) =>
    kept === null
      ? [
          {
            path,
            folder: found.folder,
            expected: after,
            after: before,
            doubt: null,
            changes: [...changes],
            active: !active,
          },
        ]
      : [],
  );
}

/**
 * The files that a tool names, as they are reached, and the folders before them, which it may make. Null if one is in a folder
 * whose files are run.
 */
async function pathsBelow(bounds: Bounds, named: readonly string[]): Promise<string[] | null> {
  const paths = new Set<string>();
  for (const name of named) {
    // The tool refuses it.
    const place = await confine(bounds, name).catch((thrown) => {
      if (thrown instanceof Fault) return null;
      throw thrown;
    });
    for (const path of place ? [place.path, place.entry] : []) {
      const inner = relative(bounds.root, path);
      const names = inner.split('/');
      if (names.some(isReservedName)) return null;
      if (inner !== '')
        for (let count = 1; count <= names.length; count++) paths.add(names.slice(0, count).join('/'));
    }
  }
  return [...paths];
}
