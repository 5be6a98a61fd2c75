/** Configuration of a repository that makes git run nothing. */
import { wordSet } from './options.ts';

/** [key, value]; keys as git lists them, null for a key without a value. */
export type Pair = readonly [key: string, value: string | null];

/** Keys by section and name, in any subsection. None of them names a program, a file or another folder. */
const HARMLESS =
  wordSet(`core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase
  core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath user.name user.email
  init.defaultbranch pull.rebase pull.ff push.default merge.ff branch.remote branch.merge branch.rebase
  branch.description remote.url remote.fetch remote.pushurl remote.prune remote.tagopt submodule.url submodule.active
  submodule.branch extensions.objectformat extensions.refstorage extensions.worktreeconfig gc.auto color.ui`);

/** Keys with addresses; `ext::` and options would run a program. */
const ADDRESSES = new Set(['remote.url', 'remote.pushurl', 'submodule.url']);

const isHarmless = ([key, value]: Pair): boolean => {
  const name = `${key.slice(0, key.indexOf('.'))}.${key.slice(key.lastIndexOf('.') + 1)}`.toLowerCase();
  if (!HARMLESS.has(name)) return false;
  return !ADDRESSES.has(name) || (value !== null && !value.includes('::') && !value.startsWith('-'));
};

/** The pairs that are not harmless, except those that existed before. */
export function harmful(pairs: readonly Pair[], before: readonly Pair[]): Pair[] {
  const trusted = new Set(before.map((pair) => JSON.stringify(pair)));
  return pairs.filter((pair) => !isHarmless(pair) && !trusted.has(JSON.stringify(pair)));
}

/**
 * Null if the text is not a git configuration, or git is not available. Includes are listed but not followed;
 * nothing is run.
 * @param path search path for git, as in the variable PATH
 */
export async function parseConfig(text: Uint8Array, path = process.env.PATH ?? ''): Promise<Pair[] | null> {
  if (!Bun.which('git', { PATH: path })) return null;
  const git = Bun.spawn(['git', 'config', '--file', '-', '--no-includes', '-z', '--list'], {
    cwd: '/',
    env: { PATH: path, GIT_DIR: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    stdin: text,
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const listed = await new Response(git.stdout).text();
  if ((await git.exited) !== 0) return null;
  return listed
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry): Pair => {
      const end = entry.indexOf('\n');
      return end < 0 ? [entry, null] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

export const writeConfig = (pairs: readonly Pair[]): string =>
  pairs
    .map(([key, value]) => {
      const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
      const subsection = first === last ? '' : ` "${escaped(key.slice(first + 1, last))}"`;
      const name = key.slice(last + 1);
      return `[${key.slice(0, first)}${subsection}]\n\t${name}${value === null ? '' : ` = "${escaped(value)}"`}\n`;
    })
    .join('');

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
