/** Expands file patterns before the command runs, so that it gets exactly the checked names. */
import { readdir } from 'node:fs/promises';
import { isOpen, type Scope, targetOf } from './links.ts';
import type { Word } from './script.ts';

/** Matches one character, or any number of them. */
type Token = { readonly star: boolean; readonly matches: (character: string) => boolean };
type Segment = { readonly literal: string; readonly tokens: readonly Token[] | null };

const MAX_NAMES = 2_000;

/**
 * The words that a shell would substitute for `word` in the real folder `cwd`; the word itself if nothing matches. Null if
 * that would list a folder out of scope, or exceed the limit.
 */
export async function expandGlob(word: Word, cwd: string, scope: Scope): Promise<readonly string[] | null> {
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
