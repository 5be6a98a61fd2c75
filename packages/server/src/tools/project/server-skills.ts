/** Lists, adds and removes the skills of the operator. The data folder has those that were added here. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Fault } from '@parlance/protocol';
import type { AddSkill, ServerSkill, ServerSkillText } from '@parlance/protocol/api';
import { errorCode } from '../../lib/errors.ts';
import { openForReading, resolvePath } from '../confined-path.ts';
import type { Guard } from '../guard.ts';
import { filesIn } from './skill.ts';
import { parseSkill, SkillName } from './skill-file.ts';

export type ServerSkillOptions = {
  readonly data: string;
  /** named at startup: they are read only */
  readonly folders: readonly string[];
  /** the server's working directory, whose folders can be copied */
  readonly root: string;
  readonly guard: Guard;
};

const FILE = 'SKILL.md';
/** As many as are offered. */
const MAX_SKILLS = 100;
const MAX_TEXT_BYTES = 32 * 1024;
/** Of all files of a skill. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_FILES = 100;
const MAX_DEPTH = 4;

type File = { readonly path: string; readonly content: Uint8Array };

export function serverSkills({ data, folders, root, guard }: ServerSkillOptions) {
  const own = join(data, 'skills');

  async function skillIn(folder: string, source: ServerSkill['source']): Promise<ServerSkillText | null> {
    const name = basename(folder);
    const found = await stat(join(folder, FILE)).catch(() => null);
    if (!found?.isFile()) return null;
    const isTooLarge = found.size > MAX_TEXT_BYTES;
    const text = isTooLarge ? '' : await readFile(join(folder, FILE), 'utf8');
    let [description, problem]: [string, string | null] = ['', null];
    try {
      if (isTooLarge) throw new Error(`it has more than ${MAX_TEXT_BYTES} bytes`);
      description = parseSkill(text, name).description;
    } catch (thrown) {
      problem = thrown instanceof Error ? thrown.message : String(thrown);
    }
    const files = (await filesIn(folder)).filter((path) => path !== FILE);
    return { name, description, folder, source, files, problem, text };
  }

  async function* all(): AsyncGenerator<ServerSkillText> {
    const seen = new Set<string>();
    for (const top of [own, ...folders]) {
      const names = (await readdir(top).catch(() => [])).filter((name) => !name.startsWith('.')).sort();
      for (const name of names.slice(0, MAX_SKILLS)) {
        const skill = await skillIn(join(top, name), top === own ? 'data' : 'configured');
        if (!skill) continue;
        const isHidden = skill.problem === null && seen.has(name);
        seen.add(name);
        yield isHidden ? { ...skill, problem: 'another skill has this name' } : skill;
      }
    }
  }

  async function read(name: string): Promise<ServerSkillText> {
    for await (const skill of all()) if (skill.name === name) return skill;
    throw new Fault('not_found', 'There is no such skill.');
  }

  /** The files of a folder in the working directory. */
  async function filesAt(path: string): Promise<File[]> {
    const bounds = { ...guard, root };
    const folder = await (async () => {
      await using entry = await resolvePath(bounds, path);
      return entry.path;
    })();
    const names = await filesIn(folder);
    if (names.length > MAX_FILES) throw invalid(`It has more than ${MAX_FILES} files.`);
    const files: File[] = [];
    let bytes = 0;
    for (const name of names) {
      await using entry = await resolvePath(bounds, join(folder, name));
      await using file = await openForReading(bounds, entry);
      bytes += (await file.stat()).size;
      if (bytes > MAX_BYTES) throw tooLarge();
      files.push({ path: name, content: new Uint8Array(await file.readFile()) });
    }
    return files;
  }

  async function store(files: readonly File[]): Promise<ServerSkill> {
    const main = files.find(({ path }) => path === FILE);
    if (!main) throw invalid(`There is no ${FILE}.`);
    if (main.content.length > MAX_TEXT_BYTES) throw invalid(`${FILE} has more than ${MAX_TEXT_BYTES} bytes.`);
    if (files.reduce((sum, { content }) => sum + content.length, 0) > MAX_BYTES) throw tooLarge();
    const name = nameIn(new TextDecoder().decode(main.content));
    const place = join(own, name);
    const draft = join(own, `.${name}.${crypto.randomUUID()}.draft`);
    try {
      for (const { path, content } of files) {
        checkPath(path);
        await mkdir(dirname(join(draft, path)), { recursive: true });
        await writeFile(join(draft, path), content, { flag: 'wx' });
      }
      await rm(place, { recursive: true, force: true });
      await rename(draft, place);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    const { text: _text, ...skill } = await read(name);
    return skill;
  }

  return {
    read,
    async list(): Promise<ServerSkill[]> {
      const skills: ServerSkill[] = [];
      for await (const { text: _text, ...skill } of all()) skills.push(skill);
      return skills.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async add(given: AddSkill): Promise<ServerSkill> {
      if ('files' in given)
        return store(
          given.files.map(({ path, content }) => ({ path, content: Buffer.from(content, 'base64') })),
        );
      try {
        return await store(await filesAt(given.path));
      } catch (thrown) {
        // A path outside, hidden or missing.
        if (thrown instanceof Fault && thrown.code.startsWith('tool_')) throw invalid(thrown.message);
        if (errorCode(thrown) !== undefined)
          throw invalid(`The folder cannot be read: ${errorCode(thrown)}.`);
        throw thrown;
      }
    },
    async remove(name: string): Promise<void> {
      const place = join(own, name);
      if (!SkillName.safeParse(name).success || !(await stat(place).catch(() => null)))
        throw new Fault('not_found', 'There is no such skill in the data folder.');
      await rm(place, { recursive: true });
    },
  };
}

const invalid = (reason: string): Fault => new Fault('invalid', reason);
const tooLarge = (): Fault =>
  new Fault('too_large', `The files of the skill have more than ${MAX_BYTES / 1024 / 1024} MB.`);

function nameIn(text: string): string {
  try {
    return parseSkill(text).name;
  } catch (thrown) {
    throw invalid(`${FILE} cannot be used: ${thrown instanceof Error ? thrown.message : ''}.`);
  }
}

function checkPath(path: string): void {
  const names = path.split('/');
  const isPlain = names.every((name) => name !== '' && !name.startsWith('.') && !/[\\\0]/.test(name));
  if (!isPlain || names.length > MAX_DEPTH)
    throw invalid(`${JSON.stringify(path)} is not a path in a skill.`);
}
