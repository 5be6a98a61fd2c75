/** Rules of `.gitignore` files, read as data: nothing of a repository is run or configured by them. */

type Rule = {
  /** the folder of the file, with a slash at its end; empty for the top */
  readonly base: string;
  readonly glob: Bun.Glob;
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
};

const MAX_RULES = 1_000;
const MAX_PATTERN = 1_000;
/** Of all rules together: patterns come from the repository, and each is compared with every new file. */
export const MAX_IGNORE_BYTES = 64 * 1024;

export class IgnoreRules {
  constructor(private readonly rules: readonly Rule[] = []) {}

  /** With the rules of a file in that folder, which come after the others. */
  with(base: string, text: string): IgnoreRules {
    const added = text.split(/\r?\n/).flatMap((line) => ruleOf(base, line) ?? []);
    return new IgnoreRules([...this.rules, ...added].slice(0, MAX_RULES));
  }

  /** Whether the last rule that matches ignores the path. */
  ignores(path: string, isFolder: boolean): boolean {
    const last = this.rules.findLast(
      ({ base, glob, onlyFolders }) =>
        (isFolder || !onlyFolders) && path.startsWith(base) && glob.match(path.slice(base.length)),
    );
    return last !== undefined && !last.isNegated;
  }
}

function ruleOf(base: string, line: string): Rule | null {
  let pattern = line.replace(/(?<!\\)[ \t]+$/, '');
  if (pattern === '' || pattern.startsWith('#') || pattern.length > MAX_PATTERN) return null;
  const isNegated = pattern.startsWith('!');
  if (isNegated) pattern = pattern.slice(1);
  const onlyFolders = pattern.endsWith('/');
  if (onlyFolders) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes('/');
  pattern = pattern.replace(/^\/+/, '');
  if (pattern === '') return null;
  // Braces are no alternatives in these files; a leading `!` would negate the glob.
  const literal = pattern.replace(/(?<!\\)[{}]/g, '\\$&').replace(/^!/, '\\!');
  return { base, glob: new Bun.Glob(isAnchored ? literal : `**/${literal}`), isNegated, onlyFolders };
}
