/**
 * Copies of working folders, one for each sub-agent that asked for one, and the merge of what it has changed. Reasons:
 * docs/decisions/0029.
 *
 * `record.json` names the current copy, and changes by renaming only. A copy has the files (`files`) and their state when they were
 * copied (`base.json`); a merge has a plan, which is stored before the first file is written.
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../../core/ports/session-ref.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import type {
  MergedChanges,
  WorktreeChange,
  WorktreeChanges,
  Worktrees,
} from '../../core/ports/worktrees.ts';
import { errorCode } from '../../lib/errors.ts';
import { isStored, look, type State, same } from '../checkpoints/entry.ts';
import { patchText } from '../checkpoints/patch-text.ts';
import { applyAll, CHANGED, changeOf, shownPath } from '../checkpoints/restore.ts';
import { type Manifest, scan, TooLarge } from '../checkpoints/scan.ts';
import { type Guard, realpathOr } from '../guard.ts';
import { contains } from '../paths.ts';
import { sha256 } from '../seen.ts';

export type WorktreeOptions = {
  /** folder that the copies are in; made on first use */
  readonly data: string;
  readonly guard: Guard;
  /** files and folders of one copy */
  readonly maxEntries: number;
  /** of the files of one copy */
  readonly maxBytes: number;
  /** whether the session still exists */
  readonly exists: (session: SessionRef) => Promise<boolean>;
  /** whether sub-agents may work on copies of that folder, and change it */
  readonly check: (folder: string) => Promise<void>;
  readonly log: Log;
};

/** Copies with changes that nobody has decided about. */
const MAX_COPIES = 64;
const LISTED = 100;
const PATCH_CHARACTERS = 8_000;
const PATCHES_CHARACTERS = 20_000;
/** A sub-agent may make files; beyond this its changes are not merged. */
const GROWTH = 2;
const GIT_MS = 60_000;
const RECORD = 'record.json';

const Entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), mode: z.number(), content: z.string() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.literal('folder'), mode: z.number() }),
  z.object({ kind: z.literal('other'), stamp: z.string() }),
]);
const Base = z.array(z.tuple([z.string(), Entry]));
const Record = z.object({
  owner: z.string(),
  id: z.string(),
  /** the folder that is copied, links resolved */
  origin: z.string(),
  /** number of the current copy; null after its changes were applied or discarded */
  copy: z.number().nullable(),
  /** how many have been made */
  made: z.number(),
});
type Record = z.infer<typeof Record>;

const Step = z.object({
  path: z.string(),
  before: Entry.nullable(),
  after: Entry.nullable(),
  kept: z.string().nullable(),
});
type Step = z.infer<typeof Step>;
const Plan = z.object({
  merge: z.string(),
  steps: z.array(Step),
  outcome: z.custom<MergedChanges>().nullable(),
});

export class LocalWorktrees implements Worktrees {
  #opened: Promise<void> | null = null;
  /** work on the copy of a session, one at a time */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #origins = new Map<string, string>();

  constructor(private readonly options: WorktreeOptions) {}

  /** The folder that `root` is a copy of, if it is one. */
  originOf(root: string): string | undefined {
    return this.#origins.get(root);
  }

  async make(session: SessionRef, origin: string, signal: AbortSignal): Promise<void> {
    this.#opened ??= this.#forgetErased();
    await this.#opened;
    await this.#alone(session, async (place) => {
      if (await this.#record(place)) return;
      if ((await this.#count()) >= MAX_COPIES)
        throw new Fault(
          'tool_failed',
          `${MAX_COPIES} worktrees have changes that nobody has decided about. Delete sessions of sub-agents, or answer their questions.`,
        );
      const { owner, id } = session;
      await this.#copy(place, { owner, id, origin: realpathSync(origin), copy: null, made: 0 }, signal);
    });
  }

  folder(session: SessionRef): Promise<string> {
    return this.#alone(session, async (place) => {
      const record = await this.#record(place);
      if (!record) throw new Fault('tool_failed', 'The worktree of this session is not on this server.');
      await this.#checked(record);
      const { copy } = record.copy === null ? await this.#copy(place, record) : record;
      const files = filesOf(place, copy ?? 0);
      this.#origins.set(files, await this.#outermost(record));
      return files;
    });
  }

  changes(session: SessionRef): Promise<WorktreeChanges> {
    return this.#alone(session, async (place) => {
      const record = await this.#record(place);
      if (!record || record.copy === null) return { files: [], more: 0, hash: '' };
      const steps = await this.#steps(place, record);
      return { ...(await this.#shown(place, record, steps)), hash: hashOf(steps) };
    });
  }

  apply(
    session: SessionRef,
    { merge, hash }: { readonly merge: string; readonly hash: string },
  ): Promise<MergedChanges | null> {
    return this.#alone(session, async (place) => {
      const record = await this.#record(place);
      if (!record) throw new Fault('tool_failed', 'The worktree of this session is not on this server.');
      await this.#checked(record);
      const path = join(place, 'merge.json');
      const stored = await jsonIn(path, Plan);
      const begun = stored?.merge === merge ? stored : null;
      if (begun?.outcome) return begun.outcome;
      if (record.copy === null) return null;
      let steps = begun?.steps;
      if (!steps) {
        steps = await this.#steps(place, record);
        if (hashOf(steps) !== hash) return null;
        await writeJson(path, { merge, steps, outcome: null });
      }
      const from = this.#bounds(filesOf(place, record.copy));
      const ended = await applyAll(this.#bounds(record.origin), steps, async (content, name) => {
        let found: Uint8Array | null = null;
        await look(from, name, (other, bytes) => {
          if (other === content) found = bytes;
        });
        return found;
      });
      await this.#settle(place, record, ended);
      const outcome = await this.#outcome(place, record, ended);
      await writeJson(path, { merge, steps: [], outcome });
      if (outcome.kept.length === 0) await this.#drop(place, record);
      return outcome;
    });
  }

  discard(session: SessionRef): Promise<void> {
    return this.#alone(session, async (place) => {
      const record = await this.#record(place);
      if (record) await this.#drop(place, record);
    });
  }

  async forget(session: SessionRef): Promise<void> {
    await this.#alone(session, (place) => rm(place, { recursive: true, force: true }));
  }

  /** Links resolved, so that it is found in paths. */
  get #top(): string {
    return join(realpathOr(this.options.data), 'worktrees');
  }

  #bounds(root: string): Guard & { readonly root: string } {
    return { ...this.options.guard, root };
  }

  async #alone<Result>(session: SessionRef, work: (place: string) => Promise<Result>): Promise<Result> {
    const key = sha256(JSON.stringify([session.owner, session.id])).slice(0, 32);
    const before = this.#queues.get(key) ?? Promise.resolve();
    const place = join(this.#top, key);
    const done = before.then(
      () => work(place),
      () => work(place),
    );
    this.#queues.set(key, done);
    try {
      return await done;
    } catch (thrown) {
      if (thrown instanceof TooLarge) throw new Fault('tool_failed', `${sentence(thrown.message)}.`);
      const code = errorCode(thrown);
      if (thrown instanceof Fault || code === undefined) throw thrown;
      throw new Fault('tool_failed', `The worktree cannot be used: the file system answered ${code}.`, {
        cause: thrown,
      });
    } finally {
      if (this.#queues.get(key) === done) this.#queues.delete(key);
    }
  }

  #record(place: string): Promise<Record | null> {
    return jsonIn(join(place, RECORD), Record);
  }

  /** A folder that sessions may no longer work in is not changed either. A worktree is the folder of the session below it. */
  async #checked({ origin }: Record): Promise<void> {
    if (!contains(this.#top, origin)) await this.options.check(origin);
  }

  /** The folder of the first session above. */
  async #outermost({ origin }: Record): Promise<string> {
    if (!contains(this.#top, origin)) return origin;
    const above = await this.#record(dirname(dirname(origin)));
    return above ? this.#outermost(above) : origin;
  }

  async #count(): Promise<number> {
    const records = await Promise.all((await this.#places()).map((place) => this.#record(place)));
    return records.filter((record) => record !== null && record.copy !== null).length;
  }

  async #places(): Promise<string[]> {
    const names = await readdir(this.#top).catch(() => []);
    return names.map((name) => join(this.#top, name));
  }

  /** Those of sessions that were erased while the server did not run, and of those that were never created. */
  async #forgetErased(): Promise<void> {
    mkdirSync(this.#top, { recursive: true, mode: 0o700 });
    for (const place of await this.#places()) {
      const record = await this.#record(place).catch(() => null);
      const ref = record && ({ owner: record.owner, id: record.id } as SessionRef);
      if (ref && (await this.options.exists(ref))) continue;
      await rm(place, { recursive: true, force: true });
    }
  }

  async #copy(place: string, record: Record, signal?: AbortSignal): Promise<Record> {
    const made = record.made + 1;
    const copy = join(place, String(made));
    const files = filesOf(place, made);
    await rm(copy, { recursive: true, force: true });
    await mkdir(files, { recursive: true, mode: 0o700 });
    const bounds = this.#bounds(record.origin);
    const { maxEntries, maxBytes } = this.options;
    const found = await scan(bounds, {
      ...{ known: new Map(), isKept: () => false, keep: () => undefined },
      ...{ maxEntries, maxBytes, signal },
    });
    const base: (readonly [string, NonNullable<State>])[] = [];
    for (const path of [...found.keys()].sort()) {
      signal?.throwIfAborted();
      let bytes: Uint8Array | undefined;
      const entry = await look(bounds, path, (_hash, content) => {
        bytes = content;
      });
      if (entry === null || entry.kind === 'other' || !isStored(entry)) continue;
      const at = join(files, path);
      if (entry.kind === 'folder') await mkdir(at, { mode: 0o700 });
      else if (entry.kind === 'link') await symlink(entry.target, at);
      else {
        await writeFile(at, bytes ?? '', { flag: 'wx' });
        await chmod(at, entry.mode);
      }
      base.push([path, entry]);
    }
    if (existsSync(join(record.origin, '.git'))) await initRepository(files, this.options.log);
    for (const [path, entry] of base.toReversed())
      if (entry.kind === 'folder') await chmod(join(files, path), entry.mode);
    await writeJson(join(copy, 'base.json'), base);
    const changed = { ...record, copy: made, made };
    await writeJson(join(place, RECORD), changed);
    return changed;
  }

  async #drop(place: string, record: Record): Promise<void> {
    if (record.copy === null) return;
    await writeJson(join(place, RECORD), { ...record, copy: null });
    this.#origins.delete(filesOf(place, record.copy));
    await rm(join(place, String(record.copy)), { recursive: true, force: true });
  }

  async #base(place: string, { copy }: Record): Promise<Map<string, NonNullable<State>>> {
    return new Map((await jsonIn(join(place, String(copy), 'base.json'), Base)) ?? []);
  }

  /** What is different from the base, and why it cannot be applied. */
  async #steps(place: string, record: Record): Promise<Step[]> {
    const base = await this.#base(place, record);
    const { maxEntries, maxBytes } = this.options;
    const known: Manifest = new Map(
      [...base].map(([path, entry]) => [path, { entry, mark: '', isSettled: false }]),
    );
    const now = await scan(this.#bounds(filesOf(place, record.copy ?? 0)), {
      ...{ known, isKept: () => false, keep: () => undefined },
      ...{ maxEntries: maxEntries * GROWTH, maxBytes: maxBytes * GROWTH },
    });
    const steps: Step[] = [];
    for (const path of [...new Set([...base.keys(), ...now.keys()])].sort()) {
      const before = base.get(path) ?? null;
      const after = now.get(path)?.entry ?? null;
      if (same(before, after)) continue;
      const there = await look(this.#bounds(record.origin), path);
      if (same(there, after)) continue;
      const kept =
        after?.kind === 'other'
          ? 'it is neither a file nor a folder'
          : !isStored(after)
            ? 'it is too large'
            : same(there, before)
              ? null
              : 'it was changed in the working folder since';
      steps.push({ path, before, after, kept });
    }
    return steps;
  }

  async #shown(
    place: string,
    record: Record,
    steps: readonly Step[],
  ): Promise<Pick<WorktreeChanges, 'files' | 'more'>> {
    let left = PATCHES_CHARACTERS;
    const bytesOf = async (root: string, path: string, state: State) => {
      if (state?.kind === 'link') return new TextEncoder().encode(`→ ${state.target}\n`);
      let found: Uint8Array | null | undefined = state === null ? null : undefined;
      await look(this.#bounds(root), path, (_hash, bytes) => {
        if (state !== null) found = bytes;
      });
      return found;
    };
    const files: WorktreeChange[] = [];
    for (const { path, before, after, kept } of steps.slice(0, LISTED)) {
      const change = changeOf(path, before, after);
      if (!change) continue;
      const there = await look(this.#bounds(record.origin), path);
      const one = await bytesOf(record.origin, path, there);
      const other = await bytesOf(filesOf(place, record.copy ?? 0), path, after);
      const patch =
        one === undefined || other === undefined || left <= 0
          ? null
          : patchText(path, one, other, Math.min(left, PATCH_CHARACTERS));
      left -= patch?.length ?? 0;
      files.push({
        ...change,
        ...(kept !== null && { conflict: kept }),
        ...(patch !== null && { patch }),
      });
    }
    return { files, more: Math.max(0, steps.length - LISTED) };
  }

  /** What was applied is not a change any more. */
  async #settle(place: string, record: Record, ended: readonly Step[]): Promise<void> {
    const base = await this.#base(place, record);
    for (const { path, after, kept } of ended) {
      if (kept !== null) continue;
      if (after === null) base.delete(path);
      else base.set(path, after);
    }
    await writeJson(join(place, String(record.copy), 'base.json'), [...base]);
  }

  async #outcome(place: string, record: Record, ended: readonly Step[]): Promise<MergedChanges> {
    const done = ended.filter(({ kept }) => kept === null);
    const left = ended.filter(({ kept }) => kept !== null);
    const { files } = await this.#shown(place, record, left);
    const applied = done.flatMap(({ path, before, after }) => changeOf(path, before, after) ?? []);
    return {
      applied: applied.slice(0, LISTED),
      kept: left.slice(0, LISTED).map((step) => {
        const patch = files.find(({ path }) => path === shownPath(step))?.patch;
        const reason = step.kept === CHANGED ? 'it was changed in the working folder since' : step.kept;
        return { path: shownPath(step), reason: reason ?? '', ...(patch !== undefined && { patch }) };
      }),
      more: Math.max(0, applied.length - LISTED) + Math.max(0, left.length - LISTED),
    };
  }
}

const filesOf = (place: string, copy: number): string => join(place, String(copy), 'files');

const hashOf = (steps: readonly Step[]): string =>
  sha256(JSON.stringify(steps.map(({ path, after }) => [path, after])));

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Null if there is none. */
async function jsonIn<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.output<Schema> | null> {
  const text = await readFile(path, 'utf8').catch((thrown) => {
    if (errorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  });
  return text === null ? null : schema.parse(JSON.parse(text));
}

/** Whole or not at all, and synced. */
async function writeJson(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.draft`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(value));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Settings that no file of the folder can change: attributes name filters, but only settings name their programs. */
const GIT_SETTINGS = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.attributesFile=/dev/null', 'gc.auto=0'],
  ...['core.autocrlf=false', 'commit.gpgSign=false', 'init.defaultBranch=main', 'protocol.allow=never'],
].flatMap((setting) => ['-c', setting]);

/** A repository of its own with one commit, so that the sub-agent can compare. Without git, there is none. */
async function initRepository(files: string, log: Log): Promise<void> {
  const git = Bun.which('git');
  if (!git) return;
  const someone = { NAME: 'Parlance', EMAIL: 'parlance@localhost' };
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_DIR: join(files, '.git'),
    GIT_WORK_TREE: files,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) =>
        Object.entries(someone).map(([key, value]) => [`GIT_${who}_${key}`, value]),
      ),
    ),
  };
  for (const argv of [
    ['init', '--quiet', '--template='],
    ['add', '--all', '--force'],
    ['commit', '--quiet', '--no-verify', '--allow-empty', '--message', 'The working folder as it was copied'],
  ]) {
    const run = Bun.spawn([git, ...GIT_SETTINGS, ...argv], {
      ...{ cwd: files, env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', timeout: GIT_MS },
    });
    if ((await run.exited) === 0) continue;
    log.warn({ step: argv[0] }, 'repository of a worktree not made');
    await rm(env.GIT_DIR, { recursive: true, force: true });
    return;
  }
}
