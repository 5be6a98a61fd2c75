/** What "always" would allow from now on: as little as makes sense, and nothing that takes code as an argument. */

/** Each word after the program is a command of its own. */
const SUBCOMMANDS: Record<string, readonly string[]> = {
  git: [
    'add',
    'branch',
    'checkout',
    'cherry-pick',
    'commit',
    'fetch',
    'init',
    'merge',
    'mv',
    'pull',
    'push',
    'restore',
    'revert',
    'stash',
    'switch',
    'tag',
  ],
  npm: ['test', 'ci', 'install', 'ls', 'outdated', 'audit', 'run'],
  pnpm: ['test', 'install', 'ls', 'outdated', 'audit', 'run'],
  yarn: ['test', 'install', 'outdated', 'audit', 'run'],
  cargo: ['build', 'check', 'test', 'fmt', 'clippy', 'doc'],
  go: ['build', 'test', 'vet', 'fmt', 'mod'],
  pip: ['list', 'show', 'freeze', 'check'],
};
/** The word after these names a script, so the grant names it too. */
const NAMES_SCRIPT = new Set(['npm run', 'pnpm run', 'yarn run']);
/** Ways to make the commands above run another program or another configuration. */
const CARRIES_CODE =
  /^(-c|-C|-x|-u|--exec.*|--config.*|--upload-pack.*|--receive-pack.*|--script-shell.*|--toolexec.*|-toolexec.*|-exec.*|--prefix.*|--git-dir.*|--work-tree.*|--template.*)$/;

/** No option of these runs a program or destroys what it did not make. */
const PLAIN = new Set([
  ...[
    'basename',
    'cmp',
    'cp',
    'cut',
    'date',
    'df',
    'diff',
    'dirname',
    'du',
    'file',
    'hostname',
    'id',
    'mkdir',
  ],
  ...['mv', 'printf', 'ps', 'readlink', 'realpath', 'rmdir', 'seq', 'sleep', 'stat', 'touch', 'tr', 'tree'],
  ...['uname', 'uniq', 'uptime', 'whoami'],
]);

/** Shells, interpreters, wrappers, remote shells, and programs that destroy: a grant would cover anything. */
const NEVER = new Set([
  ...['bash', 'sh', 'zsh', 'dash', 'ksh', 'fish', 'csh', 'tcsh', 'pwsh', 'busybox', 'eval', 'exec', 'source'],
  ...[
    'python',
    'node',
    'bun',
    'deno',
    'perl',
    'ruby',
    'php',
    'lua',
    'awk',
    'gawk',
    'mawk',
    'sed',
    'ed',
    'vi',
  ],
  ...[
    'vim',
    'emacs',
    'gdb',
    'tclsh',
    'expect',
    'osascript',
    'java',
    'jshell',
    'ghci',
    'julia',
    'R',
    'Rscript',
  ],
  ...['env', 'xargs', 'sudo', 'doas', 'su', 'ssh', 'scp', 'rsync', 'nc', 'socat', 'nohup', 'nice', 'timeout'],
  ...[
    'time',
    'watch',
    'parallel',
    'setsid',
    'strace',
    'script',
    'chroot',
    'unshare',
    'nsenter',
    'bwrap',
    'find',
  ],
  ...['npx', 'pnpx', 'bunx', 'uvx', 'pipx', 'docker', 'podman', 'kubectl', 'crontab', 'at', 'tmux', 'screen'],
  ...['rm', 'dd', 'shred', 'mkfs', 'kill', 'pkill', 'killall', 'chmod', 'chown', 'curl', 'wget', 'tar'],
]);

/** The key of the standing grant for a command; undefined where only this one use can be allowed. */
export function grantFor(argv: readonly string[]): string | undefined {
  const [program, ...words] = argv;
  // A path names whatever lies there next time.
  if (!program || /[/\\]/.test(program) || NEVER.has(program.replace(/[\d.]+$/, ''))) return undefined;
  if (PLAIN.has(program)) return `shell:${program}`;
  const subcommands = SUBCOMMANDS[program];
  if (subcommands) return subcommandGrant(program, subcommands, words);
  if (program === 'make') return makeGrant(words);
  return `shell:${[program, ...words].map(quote).join(' ')}`;
}

function subcommandGrant(
  program: string,
  known: readonly string[],
  words: readonly string[],
): string | undefined {
  const [subcommand, script] = words;
  if (!subcommand || !known.includes(subcommand) || words.some((word) => CARRIES_CODE.test(word))) {
    return undefined;
  }
  const key = `${program} ${subcommand}`;
  if (!NAMES_SCRIPT.has(key)) return `shell:${key}`;
  return script && !script.startsWith('-') ? `shell:${key} ${script}` : undefined;
}

/** Targets only: an option or an assignment could bring in other rules. */
function makeGrant(words: readonly string[]): string | undefined {
  return words.every((word) => /^[\w.-]+$/.test(word) && !word.startsWith('-'))
    ? `shell:${['make', ...words].join(' ')}`
    : undefined;
}

/** A word as a shell would need it written, for people to read. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
