/**
 * Decides which commands run without approval, and exactly what is run. A command is allowed if every program
 * in it only reads, and only inside the working directory. The result is rewritten from what was checked:
 * file names instead of patterns, absolute folders for `cd`, options that prevent git from running programs.
 */

import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { quote } from './grant.ts';
import { KNOWN_SAFE } from './programs.ts';
import { isOpen, type Scope, targetOf } from './scope.ts';
import { plainWord, readScript, type Step, scriptOf, type Word } from './script.ts';

export type AutoApproved = {
  readonly argv: readonly string[];
  /** the real folder to run in */
  readonly workdir: string;
  /** it must run with a view of the repository; see `git-view.ts` */
  readonly usesGit: boolean;
};

export type CommandRequest = {
  readonly command: readonly string[];
  readonly workdir: string;
  readonly scope: Scope;
  /** target of a bare `cd` */
  readonly home: string | undefined;
};

/** Limits, since each of these makes the check slower, and a read-only command has few. */
const MAX_STEPS = 30;
const MAX_WORDS = 500;
const MAX_GLOBS = 20;

/** Null if approval is needed. Valid only at the time of the call. */
export async function planAutoApproved({
  command,
  workdir,
  scope,
  home,
}: CommandRequest): Promise<AutoApproved | null> {
  const folder = targetOf(scope.root, workdir);
  if (folder.kind !== 'folder' || !isOpen(folder.path, scope)) return null;
  const check = new ScriptCheck(scope, home);
  const script = scriptOf(command);
  if (script === null) {
    if (command.length > MAX_WORDS) return null;
    const words = command.map(plainWord);
    if (isCd(words))
      return (
        check.changed(words, new Set([folder.path])) && {
          argv: command,
          workdir: folder.path,
          usesGit: false,
        }
      );
    const argv = await check.simple(words, [folder.path]);
    return argv && { argv, workdir: folder.path, usesGit: argv[0] === 'git' };
  }
  const { steps } = readScript(script);
  if (!steps || isLong(steps)) return null;
  const text = await check.script(steps, folder.path);
  if (!text) return null;
  return { argv: [...shellOf(command), text], workdir: folder.path, usesGit: check.usesGit };
}

function isLong(steps: readonly Step[]): boolean {
  const words = steps.flatMap((step) => step.words);
  const globs = words.filter(({ glob }) => glob);
  return steps.length > MAX_STEPS || words.length > MAX_WORDS || globs.length > MAX_GLOBS;
}

/** Without the shell's startup files, which could give the programs another meaning. */
const shellOf = ([shell]: readonly string[]): string[] =>
  shell === 'bash' ? ['bash', '--noprofile', '--norc', '-c'] : ['sh', '-c'];

/** The folders in which the next step may begin, by the exit status of the one before. Logical paths, as in the shell. */
type Folders = { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };

class ScriptCheck {
  usesGit = false;

  constructor(
    readonly scope: Scope,
    readonly home: string | undefined,
  ) {}

  /** The script to run, or null. Follows `cd` through every path of the script. */
  async script(steps: readonly Step[], workdir: string): Promise<string | null> {
    let at: Folders = { succeeded: new Set([workdir]), failed: new Set() };
    let text = '';
    for (const { operator, pipeline } of pipelinesOf(steps)) {
      const reached = entered(at, operator);
      // Unreachable steps are checked as well: what is shown as safe should be safe.
      const folders = reached.size > 0 ? reached : entered(at, ';');
      const only = pipeline.length === 1 ? pipeline[0] : undefined;
      const moved = only && isCd(only.words) ? this.changed(only.words, folders) : null;
      if (only && isCd(only.words) && !moved) return null;
      const rendered = only && moved ? redirected(moved.text, only) : await this.pipeline(pipeline, folders);
      if (rendered === null) return null;
      text += text === '' ? rendered : ` ${operator} ${rendered}`;
      const after = moved ?? { succeeded: reached, failed: reached };
      at = joined(at, operator, reached.size > 0 ? after : { succeeded: new Set(), failed: new Set() });
    }
    return text;
  }

  /** Each part of a pipeline runs in its own shell, so that `cd` there does not affect the others. */
  async pipeline(commands: readonly Step[], folders: ReadonlySet<string>): Promise<string | null> {
    const parts: string[] = [];
    for (const step of commands) {
      const { words } = step;
      const part = isCd(words) ? this.changed(words, folders)?.text : await this.part(words, folders);
      if (part === undefined || part === null) return null;
      parts.push(redirected(part, step));
    }
    return parts.join(' | ');
  }

  async part(words: readonly Word[], folders: ReadonlySet<string>): Promise<string | null> {
    const real: string[] = [];
    for (const folder of folders) {
      const target = targetOf('/', folder);
      if (target.kind !== 'folder') return null;
      real.push(target.path);
    }
    const argv = await this.simple(words, real);
    if (argv?.[0] === 'git') this.usesGit = true;
    return argv?.map(quote).join(' ') ?? null;
  }

  /** The words of a simple command, or null. It must be safe in each of the real folders, and the same in all. */
  async simple(
    [program, ...words]: readonly Word[],
    folders: readonly string[],
  ): Promise<readonly string[] | null> {
    const rule = program && !program.glob ? KNOWN_SAFE.get(program.text) : undefined;
    if (!program || !rule || words.some((word) => word.tilde)) return null;
    let agreed: readonly string[] | null = null;
    for (const cwd of folders) {
      const expanded: string[] = [];
      for (const word of words) {
        const names = await expandGlob(word, cwd, this.scope);
        if (!names) return null;
        expanded.push(...names);
      }
      const checked = await rule(expanded, { cwd, scope: this.scope });
      if (!checked || (agreed && !sameWords(agreed, checked))) return null;
      agreed = checked;
    }
    return agreed && [program.text, ...agreed];
  }

  /**
   * `cd` with its checked result: a folder in scope, or a failure since there is no such folder. If it differs at run time, the
   * script ends there, before a step that was judged for another folder.
   */
  changed([, ...words]: readonly Word[], folders: ReadonlySet<string>): (Folders & { text: string }) | null {
    const named = words[0]?.text === '--' ? words.slice(1) : words;
    if (named.length > 1 || named.some(({ glob, tilde }) => glob || tilde)) return null;
    const name = named.length === 0 ? this.home : named[0]?.text;
    if (!name || name.startsWith('-')) return null;
    const targets = new Set([...folders].map((folder) => resolve(folder, name)));
    const [target] = targets;
    if (target === undefined || targets.size > 1) return null;
    const found = targetOf('/', target);
    if (found.kind === 'unclear' || !isOpen(found.path, this.scope)) return null;
    return found.kind === 'folder'
      ? { text: `{ cd -- ${quote(target)} || exit 1; }`, succeeded: targets, failed: new Set() }
      : { text: `{ cd -- ${quote(target)} && exit 1; }`, succeeded: new Set(), failed: folders };
  }
}

const isCd = ([program]: readonly Word[]): boolean => program?.text === 'cd' && !program.glob;

const sameWords = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, index) => word === other[index]);

const redirected = (text: string, { redirections }: Step): string => [text, ...redirections].join(' ');

type Pipeline = { readonly operator: Step['operator']; readonly pipeline: Step[] };

function pipelinesOf(steps: readonly Step[]): Pipeline[] {
  const pipelines: Pipeline[] = [];
  for (const step of steps) {
    const last = pipelines.at(-1);
    if (step.operator === '|' && last) last.pipeline.push(step);
    else pipelines.push({ operator: step.operator, pipeline: [step] });
  }
  return pipelines;
}

function entered({ succeeded, failed }: Folders, operator: Step['operator']): ReadonlySet<string> {
  if (operator === '&&') return succeeded;
  return operator === '||' ? failed : succeeded.union(failed);
}

/** A skipped step leaves the folder and the previous exit status unchanged. */
function joined(before: Folders, operator: Step['operator'], after: Folders): Folders {
  const { succeeded, failed } = after;
  if (operator === '&&') return { succeeded, failed: before.failed.union(failed) };
  if (operator === '||') return { succeeded: before.succeeded.union(succeeded), failed };
  return { succeeded, failed };
}

// Expands file patterns before the command runs, so that it gets exactly the checked names.

/** Matches one character, or any number of them. */
type Token = { readonly star: boolean; readonly matches: (character: string) => boolean };
type Segment = { readonly literal: string; readonly tokens: readonly Token[] | null };

const MAX_NAMES = 2_000;

/**
 * The words that a shell would substitute for `word` in the real folder `cwd`; the word itself if nothing matches. Null if
 * that would list a folder out of scope, or exceed the limit.
 */
async function expandGlob(word: Word, cwd: string, scope: Scope): Promise<readonly string[] | null> {
  if (!word.glob) return [word.text];
  const segments = segmentsOf(word.pattern);
  if (!segments) return null;
  let found = [''];
  for (const [index, { literal, tokens }] of segments.entries()) {
    const slash = index < segments.length - 1 ? '/' : '';
    if (!tokens) {
      found = found.map((path) => path + literal + slash);
      continue;
    }
    const next: string[] = [];
    for (const path of found) {
      const names = await namesIn(path, cwd, scope);
      if (!names) return null;
      const fitting = names.filter(
        (name) => fits(name, tokens) && name.startsWith('.') === literal.startsWith('.'),
      );
      next.push(...fitting.map((name) => path + name + slash));
    }
    if (next.length > MAX_NAMES) return null;
    found = next;
  }
  const there = found.filter((path) => targetOf(cwd, path).kind !== 'missing');
  return there.length > 0 ? there.sort() : [word.text];
}

async function namesIn(path: string, cwd: string, scope: Scope): Promise<readonly string[] | null> {
  const target = targetOf(cwd, path);
  if (target.kind === 'unclear') return [];
  if (!isOpen(target.path, scope)) return null;
  return target.kind === 'folder' ? await readdir(target.path).catch(() => null) : [];
}

function segmentsOf(pattern: string): Segment[] | null {
  const segments: Segment[] = [];
  let literal = '';
  let tokens: Token[] = [];
  let special = false;
  const end = () => {
    segments.push({ literal, tokens: special ? tokens : null });
    [literal, tokens, special] = ['', [], false];
  };
  for (let at = 0; at < pattern.length; at++) {
    const quoted = pattern.charAt(at) === '\\';
    const character = quoted ? pattern.charAt(++at) : pattern.charAt(at);
    if (character === '/') {
      end();
      continue;
    }
    if (!quoted && character === '[') {
      const set = /^\[([!^]?)([\w.-]+)\]/.exec(pattern.slice(at));
      if (!set) return null;
      const [whole, negated, characters = ''] = set;
      tokens.push({ star: false, matches: (one) => inSet(one, characters) === (negated === '') });
      at += whole.length - 1;
    } else if (!quoted && (character === '*' || character === '?')) {
      tokens.push({ star: character === '*', matches: () => true });
    } else {
      tokens.push({ star: false, matches: (one) => one === character });
      literal += character;
      continue;
    }
    special = true;
    // A placeholder, so that only a literal dot counts as a leading one.
    literal += '*';
  }
  end();
  return segments;
}

function inSet(character: string, characters: string): boolean {
  for (let at = 0; at < characters.length; at++) {
    const first = characters.charAt(at);
    const isRange = characters.charAt(at + 1) === '-' && at + 2 < characters.length;
    const last = isRange ? characters.charAt(at + 2) : first;
    if (first <= character && character <= last) return true;
    if (isRange) at += 2;
  }
  return false;
}

/** Backtracks to the last star only, so that it takes at most name × pattern steps. */
function fits(name: string, tokens: readonly Token[]): boolean {
  let [at, token] = [0, 0];
  let star: { token: number; at: number } | null = null;
  while (at < name.length) {
    const next = tokens[token];
    if (next?.star) {
      star = { token: token++, at };
    } else if (next?.matches(name.charAt(at))) {
      token++;
      at++;
    } else if (star) {
      star.at++;
      at = star.at;
      token = star.token + 1;
    } else return false;
  }
  return tokens.slice(token).every(({ star }) => star);
}
