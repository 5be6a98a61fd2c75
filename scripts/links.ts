/**
 * Checks the links of our Markdown. A relative link must point to an existing file and heading. The text of a
 * link to a test must occur in a test title of that file, so that documented tests exist.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Glob } from 'bun';

const ROOT = join(import.meta.dir, '..');
const FENCED = /^(```|~~~)[\s\S]*?^\1/gm;
const LINK = /\[([^\]]*)\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g;

export function documents(root = ROOT): string[] {
  const found = new Glob('**/*.md').scanSync({ cwd: root, dot: false });
  return [...found].filter((path) => !/(^|\/)(node_modules|dist|results|fixtures)\//.test(path)).sort();
}

export function linkProblems(path: string, root = ROOT): string[] {
  const text = readFileSync(join(root, path), 'utf8')
    .replace(FENCED, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));
  return [...text.matchAll(LINK)].flatMap(([, words = '', target = '']) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
    const problem = problemOf(words, target, { path, root });
    return problem === null ? [] : [`${path}: ${problem}`];
  });
}

type Document = { readonly path: string; readonly root: string };

function problemOf(words: string, target: string, { path, root }: Document): string | null {
  const [file = '', heading] = decodeURI(target).split('#');
  const full = file === '' ? join(root, path) : join(root, dirname(path), file);
  if (!existsSync(full)) return `${target} leads nowhere`;
  if (heading !== undefined && full.endsWith('.md') && !headingsOf(full).has(heading))
    return `${target} has no such heading`;
  if (
    isTest(relative(root, full)) &&
    statSync(full).isFile() &&
    !titlesOf(full).some((title) => title.includes(words))
  )
    return `there is no test “${words}” in ${file}`;
  return null;
}

const isTest = (path: string): boolean => /\.test\.tsx?$|\/stores\/contract\//.test(path);

/** The quoted text on a line that begins a test, a group of tests, or the title of a test table. */
const titlesOf = (path: string): string[] =>
  [
    ...readFileSync(path, 'utf8').matchAll(
      /(?:\b(?:test|describe|it|durableTest)\b[\s\S]{0,400}?\(|^(?:\]\)\()?)\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1,/gm,
    ),
  ].map(([, , title = '']) => title.replace(/\\(.)/g, '$1'));

const headingsOf = (path: string): Set<string> =>
  new Set(
    [
      ...readFileSync(path, 'utf8')
        .replace(FENCED, '')
        .matchAll(/^#+\s+(.+)$/gm),
    ].map(([, title = '']) =>
      title
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
