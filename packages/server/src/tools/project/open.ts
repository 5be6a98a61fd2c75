/** Finds `AGENTS.md`, `CLAUDE.md` and skills of a working folder, and what people have decided about them. */
import type { BigIntStats } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { PrincipalId, ProjectFile } from '@parlance/protocol';
import type { DecisionStore, FileDecision } from '../../accounts/store.ts';
import type { Project, ProjectPlace, Skill } from '../../core/ports/project.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { hunksOf, lineDiff } from '../../lib/line-diff.ts';
import { LruMap } from '../../lib/lru-map.ts';
import { openForReading, resolvePath } from '../confined-path.ts';
import { type Guard, realpathOr } from '../guard.ts';
import { contains, hiddenFrom } from '../paths.ts';
import { skillTool } from './skill.ts';
import { parseSkill, type SkillFile } from './skill-file.ts';

/** A longer file would be most of a small model's context, and nobody would read it before accepting it. */
const MAX_FILE_BYTES = 32 * 1024;
/** Of all instructions together; the outermost files are left out first. */
const MAX_TOTAL_BYTES = 64 * 1024;
const MAX_FOLDERS = 32;
/** Of one folder of skills. */
const MAX_SKILLS = 100;
const MAX_DECISIONS = 500;
const KEPT_FOLDERS = 200;
/** A file that changed this recently may change again without a different time of change. */
const RACY_MS = 2_000;

const NAMES = ['AGENTS.md', 'CLAUDE.md'] as const;
const SKILL_FOLDER = '.agents/skills';

export type ProjectOptions = {
  readonly decisions: DecisionStore;
  readonly guard: Guard;
  /** the server's working directory: files above it are read only if sessions may work anywhere */
  readonly root: string;
  readonly anywhere: boolean;
  /** folders with skills of the operator; the first one with a name counts */
  readonly skillFolders: readonly string[];
  /** the names of the skills that the agent is offered; undefined for all */
  readonly skillsOf: (agent: string) => readonly string[] | undefined;
  readonly now: () => number;
  readonly log: Log;
};

type FoundFile = {
  /** absolute, without links */
  readonly path: string;
  readonly hash: string;
  /** null if it is too large or not text */
  readonly text: string | null;
  readonly changedAt: number;
  /** set for a `SKILL.md` */
  readonly skill?: SkillFile;
};

/** What was found in a folder, and the state of all that was looked at. */
type Look = {
  readonly files: readonly FoundFile[];
  readonly stamps: ReadonlyMap<string, string>;
  readonly at: number;
};

export async function openProject(options: ProjectOptions): Promise<Project> {
  const { decisions, guard, log, now } = options;
  const looks = new LruMap<Look>(KEPT_FOLDERS);
  const trusted = guard.trust?.folders.map(realpathOr) ?? [];
  // Files that change later were not there when the operator trusted the folder: agents may have written them.
  for (const path of trusted)
    await decisions.put(
      // `asked`: the time of the first start remains.
      { owner: null, path, hash: '', state: 'asked', content: '', by: '--trust', at: now() },
      MAX_DECISIONS,
    );

  async function lookAt(key: string, find: (reader: Reader) => Promise<readonly FoundFile[]>): Promise<Look> {
    const known = looks.get(key);
    if (known && (await isCurrent(known))) return known;
    const reader = new Reader(guard);
    const at = now();
    const files = await find(reader);
    const look = { files, stamps: reader.stamps, at };
    looks.set(key, look);
    return look;
  }

  const inProject = (root: string) =>
    lookAt(`project:${root}`, async (reader) => reader.project(await realpath(root), options));
  const ofServer = async (): Promise<readonly FoundFile[]> => {
    const looked = await Promise.all(
      options.skillFolders.map((folder) =>
        lookAt(`skills:${folder}`, async (reader) => reader.skills(folder, '.', log)),
      ),
    );
    return looked.flatMap(({ files }) => files);
  };

  /** The folder's files with their decisions. */
  async function decided({ owner, root }: ProjectPlace) {
    const { files } = await inProject(root).catch(() => NOTHING);
    if (files.length === 0) return [];
    const rows = await decisions.find(owner, [...files.map(({ path }) => path), ...trusted]);
    return Promise.all(files.map(async (file) => ({ file, use: await useOf(file, rows, owner) })));
  }

  async function useOf(
    { path, hash, text, changedAt }: FoundFile,
    rows: readonly FileDecision[],
    owner: PrincipalId,
  ): Promise<ProjectFile['use']> {
    if (text === null) return 'refused';
    const about = rows.filter((row) => row.path === path && row.state !== 'asked');
    const exact = about.filter((row) => row.hash === hash);
    const decision = exact.find((row) => row.owner === owner) ?? exact.find((row) => row.owner === null);
    if (decision) return decision.state === 'used' ? 'used' : 'declined';
    const folder = trusted.find((top) => contains(top, path));
    const since = rows.find((row) => row.path === folder && row.hash === '' && row.owner === null)?.at;
    if (about.length === 0 && since !== undefined && changedAt < since) {
      // So that the same content stays accepted if it is written again.
      const by = '--trust';
      await decisions.put(
        { owner: null, path, hash, state: 'used', content: text, by, at: now() },
        MAX_DECISIONS,
      );
      return 'used';
    }
    return about.some(({ state }) => state === 'used') ? 'changed' : 'new';
  }

  /** Names are relative to the working folder. */
  const namesIn = (root: string) => {
    const real = realpathOr(root);
    return {
      nameOf: (path: string) => relative(real, path),
      pathOf: (name: string) => join(real, name),
    };
  };

  const project: Project = {
    tool: skillTool({
      isOffered: (agent, name) => options.skillsOf(agent)?.includes(name) ?? true,
      async body({ owner, root }, name) {
        // Decisions are about the folder that a worktree is a copy of.
        const origin = guard.originOf?.(realpathOr(root)) ?? root;
        for (const { file, use } of await decided({ owner, root: origin }))
          if (file.skill?.name === name)
            return use === 'used' ? { ...file.skill, folder: dirname(file.path), source: 'project' } : null;
        const found = (await ofServer()).find(({ skill }) => skill?.name === name);
        if (!found?.skill) return null;
        return { ...found.skill, folder: dirname(found.path), source: 'server' };
      },
    }),

    async look(place) {
      const found = await decided(place);
      if (found.length === 0) return [];
      const { nameOf } = namesIn(place.root);
      return found.map(({ file: { path, hash }, use }) => ({ path: nameOf(path), hash, use }));
    },

    async ask({ owner, root }, files) {
      const { pathOf } = namesIn(root);
      const look = await inProject(root);
      const rows = await decisions.find(
        owner,
        files.map(({ path }) => pathOf(path)),
      );
      const questions = [];
      let characters = 0;
      for (const { path: name, hash } of files) {
        const path = pathOf(name);
        const text = look.files.find((found) => found.path === path && found.hash === hash)?.text;
        if (typeof text !== 'string') continue;
        // The others are asked about later.
        if (questions.length > 0 && characters + text.length > MAX_TOTAL_BYTES) break;
        characters += text.length;
        await decisions.put(
          { owner, path, hash, state: 'asked', content: text, by: '', at: now() },
          MAX_DECISIONS,
        );
        const before = rows.findLast((row) => row.path === path && row.state === 'used')?.content;
        questions.push({
          path: name,
          hash,
          text: before === undefined ? text : differenceOf(before, text),
          isDiff: before !== undefined,
        });
      }
      return questions;
    },

    async decide({ owner, root }, files, { use, by, at }) {
      const { pathOf } = namesIn(root);
      const rows = await decisions.find(
        owner,
        files.map(({ path }) => pathOf(path)),
      );
      for (const { path: name, hash } of files) {
        const path = pathOf(name);
        const row = rows.find((one) => one.owner === owner && one.path === path && one.hash === hash);
        // Without the content that was shown there is nothing to accept.
        if (!row || row.state === use) continue;
        await decisions.put({ ...row, state: use, by, at }, MAX_DECISIONS);
      }
    },

    async load({ owner, root }, files) {
      const used = files.filter(({ use }) => use === 'used');
      const skills = new Map<string, Skill>();
      const instructions: { path: string; text: string }[] = [];
      if (used.length > 0) {
        const { pathOf } = namesIn(root);
        const rows = await decisions.find(
          owner,
          used.map(({ path }) => pathOf(path)),
        );
        for (const { path: name, hash } of used) {
          const path = pathOf(name);
          const row = rows.find((one) => one.path === path && one.hash === hash && one.state === 'used');
          if (!row) continue;
          if (basename(path) !== 'SKILL.md') instructions.push({ path: name, text: row.content });
          else {
            const { name: skill, description } = parseSkill(row.content, basename(dirname(path)));
            skills.set(skill, { name: skill, description, source: 'project' });
          }
        }
      }
      for (const { skill } of await ofServer())
        if (skill && !skills.has(skill.name))
          skills.set(skill.name, { name: skill.name, description: skill.description, source: 'server' });
      return {
        instructions,
        skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      };
    },
  };
  return project;
}

const NOTHING: Look = { files: [], stamps: new Map(), at: 0 };

async function isCurrent({ stamps, at }: Look): Promise<boolean> {
  for (const [path, before] of stamps) {
    const found = await statOrNull(path);
    if (stampOf(found) !== before || (found && Number(found.ctimeMs) > at - RACY_MS)) return false;
  }
  return true;
}

const statOrNull = (path: string): Promise<BigIntStats | null> =>
  stat(path, { bigint: true }).catch(() => null);

const stampOf = (found: BigIntStats | null): string =>
  found ? `${found.dev}:${found.ino}:${found.size}:${found.ctimeNs}` : '';

/** Reads files, and remembers the state of all that decides what it finds. */
class Reader {
  readonly stamps = new Map<string, string>();

  constructor(private readonly guard: Guard) {}

  /** From the repository's root, or the working folder if there is none, down to the working folder. */
  async project(root: string, { root: server, anywhere, log }: ProjectOptions): Promise<FoundFile[]> {
    const top = await this.#top(root, anywhere ? null : realpathOr(server));
    const folders = [top];
    for (const name of relative(top, root).split('/').filter(Boolean))
      folders.push(join(folders.at(-1) ?? top, name));
    const instructions: FoundFile[] = [];
    const skills = new Map<string, FoundFile>();
    for (const folder of folders.slice(-MAX_FOLDERS)) {
      for (const name of NAMES) {
        if (!(await this.#has(folder, name))) continue;
        const file = await this.#read(top, join(folder, name));
        if (file && file.text?.trim() !== '') instructions.push(file);
        break;
      }
      if ((await this.#has(folder, '.agents')) && (await this.#has(join(folder, '.agents'), 'skills')))
        for (const skill of await this.skills(top, relative(top, join(folder, SKILL_FOLDER)), log)) {
          // The nearest one counts.
          skills.set(skill.skill?.name ?? skill.path, skill);
        }
    }
    return [...withinTotal(instructions), ...skills.values()];
  }

  /** The skills in `folder`, which is inside of `top`. Those that are invalid are logged and left out. */
  async skills(top: string, folder: string, log: Log): Promise<FoundFile[]> {
    const found: FoundFile[] = [];
    const base = join(top, folder);
    for (const name of await this.#list(base)) {
      if (!(await this.#has(join(base, name), 'SKILL.md'))) continue;
      const file = await this.#read(top, join(base, name, 'SKILL.md'));
      if (!file) continue;
      try {
        found.push(file.text === null ? file : { ...file, skill: parseSkill(file.text, name) });
      } catch (thrown) {
        log.warn({ file: file.path, reason: thrown instanceof Error ? thrown.message : '' }, 'skill ignored');
      }
    }
    return found;
  }

  /** The folder with `.git`, at most up to `bound`; `folder` itself if there is none. */
  async #top(folder: string, bound: string | null): Promise<string> {
    const inside = bound !== null && contains(bound, folder);
    let at = folder;
    for (let depth = 0; depth < MAX_FOLDERS; depth++) {
      if (await this.#has(at, '.git')) return at;
      const parent = dirname(at);
      if (parent === at || (bound !== null && (!inside || at === bound))) return folder;
      at = parent;
    }
    return folder;
  }

  async #has(folder: string, name: string): Promise<boolean> {
    await this.#stamp(folder);
    return (await statOrNull(join(folder, name))) !== null;
  }

  /** The names in a folder of skills, sorted; none if it cannot be read. Reads no more than it returns. */
  async #list(folder: string): Promise<string[]> {
    await this.#stamp(folder);
    const names: string[] = [];
    try {
      for await (const { name } of await opendir(folder)) {
        if (!name.startsWith('.')) names.push(name);
        if (names.length >= MAX_SKILLS) break;
      }
    } catch {
      return [];
    }
    return names.sort();
  }

  async #stamp(path: string): Promise<void> {
    if (!this.stamps.has(path)) this.stamps.set(path, stampOf(await statOrNull(path)));
  }

  /** Null if it is missing, is not a file, or a link leads out of `top`. */
  async #read(top: string, path: string): Promise<FoundFile | null> {
    await this.#stamp(path);
    const bounds = {
      ...this.guard,
      hide: hiddenFrom(top, this.guard.hide),
      root: top,
    };
    try {
      await using entry = await resolvePath(bounds, relative(top, path));
      await using file = await openForReading(bounds, entry);
      const found = await file.stat();
      if (!found.isFile()) return null;
      const changedAt = found.ctimeMs;
      const refused = { path, hash: '', text: null, changedAt };
      if (found.size > MAX_FILE_BYTES) return refused;
      const buffer = new Uint8Array(MAX_FILE_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
        if (length > MAX_FILE_BYTES) return refused;
      }
      const bytes = buffer.subarray(0, length);
      const text = textOf(bytes);
      const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
      return text === null ? refused : { path, hash, text, changedAt };
    } catch {
      return null;
    }
  }
}

/** Null if it is not UTF-8, or has a zero character. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** The nearest files that fit; the others are refused. */
function withinTotal(files: readonly FoundFile[]): FoundFile[] {
  let left = MAX_TOTAL_BYTES;
  return files
    .toReversed()
    .map((file) => {
      left -= Buffer.byteLength(file.text ?? '');
      return left < 0 ? { ...file, text: null } : file;
    })
    .toReversed();
}

/** Above this many comparisons, the changed region is shown as replaced. */
const MAX_COMPARISONS = 4_000_000;

/** Lines that begin with a space, `-` or `+`. Long unchanged parts are left out, and counted. */
function differenceOf(before: string, after: string): string {
  const lines = lineDiff(before.split('\n'), after.split('\n'), MAX_COMPARISONS);
  const shown: string[] = [];
  let end = 0;
  const leaveOut = (to: number) => {
    if (to > end) shown.push(`@@ ${to - end} unchanged lines @@`);
  };
  for (const { from, to } of hunksOf(lines)) {
    leaveOut(from);
    shown.push(...lines.slice(from, to).map(({ sign, text }) => sign + text));
    end = to;
  }
  leaveOut(lines.length);
  return shown.join('\n');
}
