/** Real shells are the oracle: they run random scripts, and tell which commands they ran. */
import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isOpen, readScript, type Step, type Word } from './script.ts';

const PROGRAMS = ['p1', 'p2', 'p3'] as const;
const WORDS = [
  ...[
    'a',
    'b.txt',
    '-x',
    '--k=v',
    "'q  q'",
    '"d  d"',
    '"d\\"\\$\\`"',
    '\\ ',
    '\\;',
    'a\\\nb',
    '"a\\\nb"',
    "''",
    'a=1',
  ],
  ...[
    '*',
    '"*"',
    '[ab]',
    '\\*',
    'a#b',
    '2',
    '-',
    '--',
    'a\'b\'"c"',
    '!',
    '"!"',
    '{a,b}',
    '{}',
    '$x',
    '"$x"',
    `"\${x:-1}"`,
  ],
  ...['$(p2 in)', '"$(p3 in)"', '`p2 tick`', '$((1+2))', '<(p3 in)', '--k=<(p2 in)', "$'x'", '$"x"', '# c'],
];
const JOINTS = [
  ...[' ', ' ', ' ', ' ', ' ', '; ', ' && ', ' || ', ' | ', '&&', ';', '|', '\n', '\n\n', ' & ', ' \\\n'],
  ...[
    ' &>/dev/null ',
    ' &> log ',
    ' >/dev/null ',
    ' 2>&1 ',
    '>/dev/null ',
    ' > log ',
    ' 2> log ',
    ' </dev/null ',
  ],
  ...[' <<<x ', ' <<E\nbody $x\nE\n', " <<'E'\n$(p1)\nE\n", ' |& ', ' >&2 ', ' 3>/dev/null ', '2>/dev/null '],
];
const FRAMES = [
  ...['@', '@', '@', '@', '( @ )', '{ @; }', 'if p1; then @; fi', 'for y in a b; do @; done', '! @', 'x=1 @'],
  ...['until p1; do @; done', 'case a in a) @;; esac', 'f() { @; }; f', '[[ -n a ]] && @', '[ -n a ] && @'],
];

/** A linear congruential generator: the same scripts in every run. */
function scriptsFrom(seed: number, count: number): string[] {
  let state = seed;
  const pick = (list: readonly string[]): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return list[Math.floor((state / 2 ** 32) * list.length)] ?? '';
  };
  return Array.from({ length: count }, () => {
    let script = '';
    for (let left = Number(pick(['1', '2', '3', '4', '5', '6'])); left > 0; left--)
      script += pick([...PROGRAMS, ...WORDS]) + pick(JOINTS);
    return pick(FRAMES).replace('@', () => `${pick(PROGRAMS)} ${script}`);
  });
}

/** Runs each script in a shell of its own, and returns the commands that it ran. */
async function executed(shell: string, scripts: readonly string[], folder: string): Promise<string[][][]> {
  const functions = PROGRAMS.map(
    (name) => `${name}() { printf '%s\\0' "$(($# + 1))" ${name} "$@" >> "$LOG"; }`,
  );
  // Without file names, which depend on the folder. A script that the shell refuses runs nothing, or its first lines.
  const driver = `${functions.join('\n')}\nset -f; i=0\nfor script in "$@"; do i=$((i + 1)); LOG="$FOLDER/$i"; : > "$LOG"; (eval "$script"; wait) </dev/null >/dev/null 2>&1; done`;
  const run = Bun.spawn([Bun.which(shell) ?? shell, '-c', driver, shell, ...scripts], {
    cwd: folder,
    env: { PATH: '/nowhere', FOLDER: folder },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await run.exited;
  return Promise.all(
    scripts.map(async (_, at) => {
      const words = (await Bun.file(join(folder, `${at + 1}`)).text()).split('\0');
      const commands: string[][] = [];
      while (words.length > 1) commands.push(words.splice(0, Number(words.shift())));
      return commands;
    }),
  );
}

/** Whether the command can be what the shell ran: only what follows an expansion may differ. */
function covers(found: readonly Word[], ran: readonly string[]): boolean {
  for (const start of found.keys()) {
    // Assignments and keywords precede the program.
    const words = found.slice(start);
    const open = words.findIndex(isOpen);
    const fixed = open === -1 ? words : words.slice(0, open);
    if (open === -1 ? fixed.length !== ran.length : fixed.length > ran.length) continue;
    if (fixed.every(({ text }, at) => text === ran[at])) return true;
  }
  return false;
}

const shells = ['bash', 'sh'].filter((shell) => Bun.which(shell));

test.each(shells)('%s runs no command that the reading of a script does not contain', async (shell) => {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-scripts-'));
  const scripts = scriptsFrom(7, 400);
  const ran = await executed(shell, scripts, folder).finally(() => rm(folder, { recursive: true }));
  let [readable, plain] = [0, 0];
  const missed: { script: string; command: string[] }[] = [];
  for (const [at, script] of scripts.entries()) {
    const read = readScript(script);
    if (read.readable) readable++;
    if (read.steps) plain++;
    for (const command of ran[at] ?? []) {
      if (read.readable && !read.commands.some((words) => covers(words, command)))
        missed.push({ script, command });
      // A keyword before the program makes the step an unknown one.
      const isStep = ({ words }: Step) =>
        isDeepStrictEqual(
          words.slice(-command.length).map(({ text }) => text),
          command,
        );
      if (read.steps && !read.steps.some(isStep)) missed.push({ script, command });
    }
  }
  expect(missed).toEqual([]);
  // A reading that gives up on everything would pass as well.
  expect(readable).toBeGreaterThan(scripts.length / 2);
  expect(plain).toBeGreaterThan(scripts.length / 30);
  expect(ran.flat().length).toBeGreaterThan(scripts.length / 2);
});
