/** Command lines that mix harmless words with ways out: links, globs, options, substitutions, `cd` and nested repositories. */
import type { Chance } from '../fuzz/random.ts';

export type Line = { readonly command: string[]; readonly workdir?: string; readonly timeout: number };

type Words = readonly [string, ...string[]];

const INSIDE: Words = [
  ...([
    '.',
    'a.txt',
    './a.txt',
    'plain',
    'plain/',
    'plain/a.txt',
    'plain/deep/b.txt',
    'plain/inside',
  ] as const),
  ...[
    'plain/inside/../a.txt',
    'src/..',
    'linked/c.txt',
    'missing',
    'missing/x',
    "'src/d e.txt'",
    'src',
    '.hidden/f.txt',
  ],
  ...['plain/../a.txt', '"a.txt"', 'a\\.txt', 'v\\[1\\].txt', '.hidden', 'list', 'more'],
];
const OUTSIDE: Words = [
  ...([
    '..',
    '../secret',
    '../home/.ssh',
    'linked/key',
    'linked/keys',
    'linked/keys/id_rsa',
    'linked/relative',
  ] as const),
  ...[
    'linked/up',
    'linked/up/secret',
    'linked',
    'linked/keys/../../secret',
    'plain/inside/../../../secret',
    'chain',
  ],
  ...[
    'chain/id_rsa',
    'around/key',
    'around',
    'dashes/out',
    'plain/broken',
    'plain/loop',
    '~',
    '~/.ssh/id_rsa',
    '~root',
  ],
  ...[
    '/etc/hostname',
    '/proc/self/cwd/../secret',
    '/proc/self/environ',
    '/proc/self/root',
    '/dev/stdin',
    '$HOME',
    '-',
  ],
  ...[
    '.data',
    '.data/key',
    '.data/../a.txt',
    'vendor/lib',
    'vendor/bare',
    'vendor/lib/a.txt',
    'dashes',
    '--',
    "''",
  ],
  ...['.git', '.git/config', '/tmp', '/', '"$HOME"/.ssh/id_rsa', 'a=~/.ssh', 'linked//key', './linked/./key'],
];
const GLOBS: Words = [
  ...([
    '*.txt',
    'plain/*',
    'p*/a*',
    'pla[i]n/a.txt',
    'plain/?.txt',
    'plain/d*/*.txt',
    'v*',
    '[a-c]*',
    'src/*',
  ] as const),
  ...[
    '*',
    '*/*',
    'l*/k*',
    'l*/k*/*',
    '.*',
    '.d*/*',
    '*/../*',
    'linked/*',
    'linked/u?',
    'linked/*/secret',
    '../*',
  ],
  ...[
    'c*/id_rsa',
    'dashes/*',
    '*/',
    'linked/[k]ey',
    'a*[!t]',
    '**/key',
    "'*'",
    '\\*',
    'plain/[[:alpha:]].txt',
    '/e*',
  ],
];
const CODE: Words = [
  ...([
    '$(cat ../secret)',
    '`cat ../secret`',
    '<../secret',
    '>made',
    '{a,b}',
    '&',
    '<(cat ../secret)',
    '$0',
  ] as const),
  ...['#', '!', '\n', '$((1))', '2>&1', '(ls)', '>>a.txt', '\\', '"', "'"],
];

/** For each program, options that are fine, options that may not be, and whether a pattern comes first. */
type Program = {
  readonly fine: Words;
  readonly doubtful: Words;
  readonly pattern?: Words;
  /** among the doubtful options are some that follow links, which a line needs to have without anything else in doubt */
  readonly follows?: true;
};

const PATTERNS: Words = ['found', 'one', "'a|b'", 'canary7f3a', '.', '/etc', '-e', '/secret'];
const PROGRAMS: Record<string, Program> = {
  ls: {
    follows: true,
    fine: ['-la', '-1', '-R', '-d', '--color=never', '-lh', '-t', '-S'],
    doubtful: [
      '-L',
      '-LR',
      '-H',
      '--dereference',
      '--deref',
      '-lLR',
      '--dereference-command-line',
      '-Z',
      '--hyperlink',
    ],
  },
  cat: { fine: ['-n', '-A', '--number', '-'], doubtful: ['--', '-z', '--num', '--help'] },
  head: {
    fine: ['-n', '-5', '-c3', '-n2', '--lines=1', '-q'],
    doubtful: ['--lin=1', '-n-1', '-c', '--bytes'],
  },
  tail: {
    fine: ['-n1', '-1', '-c5', '--lines=2'],
    doubtful: ['-F', '--retry', '--pid=1', '--follow=name', '+1'],
  },
  wc: {
    fine: ['-l', '-c', '-w', '--lines'],
    doubtful: ['--files0-from=list', '--files0-from=-', '--files0=list', '--fi=list'],
  },
  nl: { fine: ['-ba', '-w', '-b', '-s:'], doubtful: ['--body', '-z'] },
  sed: {
    fine: ['-n', '1p', '1,2p', '-n 1p', '-n 1,3p'],
    doubtful: ['-i', 's/a/b/e', '1e', '-f', 'r../secret', '-ni', '--in-place', 'w made'],
  },
  grep: {
    follows: true,
    fine: ['-n', '-i', '-r', '-rn', '-c', '-l', '-v', '--include=*.txt', '-A1', '-e found', '-m1'],
    doubtful: [
      '-R',
      '-nR',
      '--dereference-recursive',
      '--deref',
      '-f',
      '-flinked/key',
      '-f../secret',
      '--file=linked/key',
      '-fa.txt',
      '-drecurse',
      '--exclude-from=../secret',
      '-S',
      '-O',
      '-D',
      '-d',
    ],
    pattern: PATTERNS,
  },
  rg: {
    follows: true,
    fine: [
      '-n',
      '-i',
      '-l',
      '--files',
      '-c',
      '-u',
      '-uu',
      '--hidden',
      '-g*.txt',
      '-tpy',
      '--no-ignore',
      '-e found',
    ],
    doubtful: [
      '-L',
      '--follow',
      '-uuL',
      '-flinked/key',
      '-f',
      '--ignore-file=../secret',
      '--pre=../canary.sh',
      '--pre',
      '-z',
      '--hostname-bin=../canary.sh',
      '-iz',
      '-ee',
      '--search-zip',
      '-r',
    ],
    pattern: PATTERNS,
  },
  find: {
    follows: true,
    fine: [
      '-type f',
      "-name '*.txt'",
      '-maxdepth 1',
      '-print',
      '-size +0',
      '-not -empty',
      '-newer a.txt',
      "-printf '%p %l\\n'",
    ],
    doubtful: [
      '-L',
      '-H',
      '-follow',
      '-delete',
      '-exec cat {} +',
      '-execdir',
      '-ok',
      '-files0-from list',
      '-fprint made',
      '-newer ../secret',
      '-samefile linked/key',
      '-fls',
      '-xtype f',
      '-D',
    ],
  },
  git: {
    fine: [
      'status',
      'diff',
      'log',
      'show',
      'branch',
      'log -p',
      'diff --cached',
      'log --oneline',
      'show HEAD',
      'status -s',
      'diff HEAD',
      'show HEAD:a.txt',
      'branch -vv',
      'log -L1,1:a.txt',
      'log --all --stat',
      '--no-pager diff',
    ],
    doubtful: [
      'diff --no-index',
      'diff --no-i',
      '-C vendor/lib status',
      'status -v',
      'log --show-signature',
      'diff --ext-diff',
      'show --textconv',
      'diff --submodule=diff',
      'log --format=%G?',
      'log --output=made',
      'log --remerge-diff',
      '-c diff.external=../canary.sh diff',
      '--git-dir=vendor/bare status',
      'branch made',
      'log --decorate-refs -- --output=made',
      'show -L -- --output=made',
      'diff --diff-algorithm -- --output=made',
      'branch --format --list made',
      'branch --list --format -- --no-list -D main',
      'log --outp=made',
      'grep one',
      'diff -O../secret',
      'status --ignore-submodules=none',
      '--exec-path=. status',
      'branch -D main',
      '-p log',
      'fetch',
      'ls-remote',
      'show :/first',
      'diff a.txt list',
      'log --stdin',
      'cat-file -p HEAD',
    ],
  },
  which: { fine: ['cat', 'git', '-a'], doubtful: ['--all', '-s'] },
  echo: { fine: ['hello', '-n', '-e'], doubtful: ["'-e\\x2f'"] },
  pwd: { fine: ['-P', '-L'], doubtful: ['-x'] },
  true: { fine: ['x'], doubtful: ['--help'] },
};
/** Not known to be safe, so that a line with one of them must never run. */
const OTHERS: Words = [
  'rm',
  'touch made',
  'sh -c ls',
  'env cat',
  'xargs cat',
  '../canary.sh',
  './canary.sh',
  'eval ls',
  'source list',
  '. list',
  'exec cat',
  'command cat',
  'printf',
  'cp a.txt made',
  'tee made',
  'A=b',
  '[ -e a.txt ]',
  'test',
  'time ls',
  'awk',
  'l?',
  'c""at',
  '\\cat',
  'builtin cd',
  'pushd ..',
  'alias ls=cat',
];
const FOLDERS: Words = [
  'plain',
  'plain/deep',
  '.',
  'src',
  'plain/inside',
  'linked',
  './plain',
  '-- plain',
  'missing',
  'plain/..',
  '..',
  '',
  '--',
  '-',
  '~',
  'linked/keys',
  'linked/up',
  'vendor/lib',
  'vendor/bare',
  '.data',
  'chain',
  '/',
  '-P plain',
  '*',
  'dashes',
  '../plain',
  'around',
  '$HOME',
  '.git',
];
const OPERATORS: Words = [' && ', ' ; ', ' | ', ' || ', ';', '|', '&&', ' & ', '\n'];

export function lineFrom(chance: Chance): Line {
  const script = scriptFrom(chance);
  const workdir = chance.below(8) === 0 ? { workdir: chance.pick(FOLDERS).replace('-- ', '') } : {};
  if (chance.below(6) === 0) {
    const words = script.split(/[\s|;&]+/).filter((word) => word !== '');
    if (words.length > 0) return { command: words.slice(0, 8), timeout: 1_000, ...workdir };
  }
  const shell = chance.pick(['bash', 'bash', 'sh']);
  return {
    command: [shell, chance.pick(['-lc', '-c', '-lc', '-c', '-ec']), script],
    timeout: 1_000,
    ...workdir,
  };
}

function scriptFrom(chance: Chance): string {
  let script = stepFrom(chance);
  for (let more = chance.below(3); more > 0; more--)
    script +=
      OPERATORS[Math.min(chance.below(OPERATORS.length), chance.below(OPERATORS.length))] + stepFrom(chance);
  return chance.below(15) === 0 ? damaged(script, chance) : script;
}

function stepFrom(chance: Chance): string {
  const roll = chance.below(100);
  if (roll < 22)
    return `cd ${FOLDERS[Math.min(chance.below(FOLDERS.length), chance.below(FOLDERS.length))]}`.trimEnd();
  if (roll < 24) return `${chance.pick(OTHERS)} ${wordFrom(chance)}`;
  const names = Object.keys(PROGRAMS) as [string, ...string[]];
  const name = chance.below(4) === 0 ? 'git' : chance.pick(names);
  const program = PROGRAMS[name];
  if (!program) return name;
  const words = [name];
  for (let more = name === 'git' || name === 'sed' ? 1 : chance.below(3); more > 0; more--)
    words.push(
      chance.below(program.follows ? 3 : 6) === 0 ? chance.pick(program.doubtful) : chance.pick(program.fine),
    );
  if (program.pattern && chance.below(8) > 0) words.push(chance.pick(program.pattern));
  for (let more = chance.below(3); more > 0; more--) words.push(wordFrom(chance));
  // find has its places first.
  if (name === 'find' && words.length > 2 && chance.below(4) > 0) words.splice(1, 0, words.pop() ?? '.');
  return words.join(' ');
}

function wordFrom(chance: Chance): string {
  const roll = chance.below(100);
  if (roll < 60) return chance.pick(INSIDE);
  if (roll < 78) return chance.pick(GLOBS);
  return roll < 97 ? chance.pick(OUTSIDE) : chance.pick(CODE);
}

/** One character is left out, doubled, or put in: quotes and escapes where nobody would write them. */
function damaged(script: string, chance: Chance): string {
  const at = chance.below(script.length);
  const put = chance.pick([
    "'",
    '"',
    '\\',
    ' ',
    '*',
    '\t',
    '/',
    '-',
    '~',
    '=',
    '$',
    '\u00a0',
    '\u0007',
    '..',
    '',
  ]);
  return script.slice(0, at) + put + script.slice(at + chance.below(2));
}
