import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ask } from '@parlance/protocol';
import { autoApprovedOutput, git, repositoryIn } from '../../testing/tools/shell.ts';
import { toolFixture } from '../../testing/tools/tool-context.ts';
import decisions from './decisions.json';
import type { Sandbox } from './sandbox.ts';
import { shell } from './tool.ts';

type Decision = { command: string[]; decision: string; grant?: string };

const sandbox: Sandbox = {
  enter: async (argv) => ({ argv: [...argv], finish: async () => undefined }),
};

/** A repository with the files that the table names. */
const table = await toolFixture();
beforeAll(async () => {
  await repositoryIn(table.root);
  for (const path of ['README.md', 'a.ts', 'b.ts', 'src/a.ts']) await table.write(path, 'word\n');
});
afterAll(() => table[Symbol.asyncDispose]());

function approve(input: object, root = table.root, options = { sandbox, hide: [] as string[] } as Options) {
  const tool = shell('shell', options);
  return Promise.resolve(tool.approval(tool.input.parse(input), { root }));
}
type Options = { sandbox: Sandbox | null; hide: string[] };

test('the table has at least forty decisions', () => {
  expect(decisions.length).toBeGreaterThanOrEqual(40);
});

test.each(decisions as Decision[])('$decision: $command', async ({ command, decision, grant }) => {
  const ask = await approve({ command });
  expect(ask === null ? 'run' : 'ask').toBe(decision);
  if (ask === null) return;
  expect(ask).toMatchObject({ kind: 'command', command });
  expect(ask.grant).toBe(grant);
});

/** What agents and people type all day to look around. None of these may need approval. */
const EVERYDAY = [
  'ls -la',
  'ls src',
  'pwd',
  'cat README.md',
  'cat a.ts | head -20',
  'head -n 20 a.ts',
  'tail -5 a.ts',
  'wc -l a.ts',
  'nl -ba a.ts',
  'sed -n 1,20p a.ts',
  'grep -rn word src',
  'grep -n word a.ts | head',
  'rg word',
  'rg --files | head',
  'rg -n word src',
  "find . -name '*.ts'",
  'find . -type f | head -50',
  'find src -maxdepth 2 -type d',
  'which node',
  'echo done',
  'cd src && ls',
  'cd src; pwd',
  'git status',
  'git status -sb',
  'git diff',
  'git diff --stat',
  'git diff HEAD',
  'git log --oneline -10',
  'git log -p -1',
  'git show HEAD',
  'git show HEAD:a.txt',
  'git branch -a',
  'git branch --show-current',
  'ls 2>/dev/null',
  'cat missing 2>/dev/null || echo none',
  'grep -rn word . 2>/dev/null | head -20',
  "find . -name '*.md' 2>/dev/null",
  'ls src 2>&1',
  'git log --oneline 2>&1 | head -5',
  'ls src >/dev/null 2>&1 && echo yes',
  'grep -q word a.ts &>/dev/null && echo found',
  'ls missing > /dev/null || true',
  'git rev-parse HEAD',
  'git rev-parse --abbrev-ref HEAD',
  'git rev-parse --show-toplevel',
  'git rev-parse --short HEAD',
  'git rev-parse --is-inside-work-tree 2>/dev/null',
  'git ls-files',
  'git ls-files | wc -l',
  "git ls-files '*.ts'",
  'git ls-files --others --exclude-standard',
  'git blame a.txt',
  'git blame -L 1,1 a.txt',
  'git grep -n one',
  'git tag',
  "git tag -l 'v*'",
  'git describe --tags --always',
  'git rev-list --count HEAD',
  'git merge-base HEAD main',
  'git ls-tree -r --name-only HEAD',
  'git cat-file -p HEAD',
  'git shortlog -sn HEAD',
  'sort a.ts',
  'sort -u a.ts b.ts',
  'git ls-files | sort | uniq -c | sort -rn | head',
  'cut -d: -f1 a.ts',
  'cut -c1-80 a.ts',
  'rg -o word | cut -d: -f1 | sort -u',
  'diff a.ts b.ts',
  'diff -u a.ts b.ts',
  'diff -rq src src',
  'stat a.ts',
  'stat -c %s a.ts',
  'du -sh .',
  'du -sh src 2>/dev/null',
  'du -a src | sort -n | tail -3',
  'test -f a.ts && echo yes',
  'test -d src || echo none',
  '[ -f README.md ] && cat README.md',
  'test -e missing; echo done',
  'ls\npwd',
  'cd src\nls -la\ncat a.ts',
  'git status\n\ngit diff --stat\n',
  'ls &&\n  pwd',
  'rg word \\\n  src',
  'ls;',
  'uniq -c a.ts',
  'cat a.ts | tr a-z A-Z',
  'basename src/a.ts',
  'dirname src/a.ts',
  'date',
  'date +%Y-%m-%d',
  'uname -a',
  'whoami',
  'command -v node',
  'file a.ts',
  'realpath src/a.ts',
  'sha256sum a.ts',
  'comm a.ts b.ts',
  'tac a.ts',
  'cmp a.ts b.ts',
  'column -t a.ts',
  'od -c a.ts | head -2',
];

test('more than a hundred everyday commands that only read run without approval', async () => {
  const asked: string[] = [];
  for (const script of EVERYDAY) if (await approve({ command: ['bash', '-lc', script] })) asked.push(script);
  expect(asked).toEqual([]);
  expect(EVERYDAY.length).toBeGreaterThan(100);
});

test('without a sandbox the same commands are known to be safe', async () => {
  for (const { command, decision } of decisions as Decision[]) {
    const ask = await approve({ command }, table.root, { sandbox: null, hide: [] });
    expect([command, ask === null ? 'run' : 'ask']).toEqual([command, decision]);
  }
});

test.each([
  ['cat /proc/1/environ'],
  ['cat /proc/self/../1/environ'],
  ['head -c100 /etc/passwd'],
  ['cd / && cat proc/1/environ'],
  ['cat ~/.ssh/id_rsa'],
  ['grep -f/etc/passwd x'],
  ['rg --ignore-file=/etc/passwd x'],
  ['cat up/environ'],
])('reading outside the working directory needs approval, with a sandbox and without: %s', async (script) => {
  await using place = await toolFixture();
  await symlink('/proc/1', join(place.root, 'up'));
  const command = ['bash', '-lc', script];
  for (const kept of [sandbox, null]) {
    const options = { sandbox: kept, hide: [] };
    expect(await approve({ command }, place.root, options)).not.toBeNull();
    expect(await approve({ command: ['cat', 'src/process.ts'] }, place.root, options)).toBeNull();
  }
});

test('the approval names the folder and the missing sandbox', async () => {
  const ask = await approve({ command: ['npm', 'test'], workdir: 'sub' }, table.root, {
    sandbox: null,
    hide: [],
  });
  expect(ask?.description).toBe('Runs npm test in sub without a sandbox.');
});

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch';

test.each([
  [['apply_patch', PATCH]],
  [['bash', '-lc', `apply_patch <<'EOF'\n${PATCH}\nEOF`]],
  [['bash', '-lc', `apply_patch << "PATCH"\n${PATCH}\nPATCH\n`]],
  [['sh', '-c', `apply_patch <<EOF\n${PATCH}\nEOF`]],
])('a patch passed to the shell is approved as a patch: %j', async (command) => {
  await using place = await toolFixture();
  const expected: Ask = {
    kind: 'edit',
    command: ['apply_patch', PATCH],
    patch: PATCH,
    description: 'A patch that adds a.txt.',
    grant: 'apply_patch',
    seen: [expect.any(String)],
  };
  expect(await approve({ command }, place.root)).toEqual(expected);
});

test('a script that continues after the patch is a script', async () => {
  const script = `apply_patch <<'EOF'\n${PATCH}\nEOF\nrm -rf .`;
  expect(await approve({ command: ['bash', '-lc', script] })).toMatchObject({ kind: 'command' });
});

test.each([
  ['cat .data/key'],
  ['cd .data && cat key'],
  ['cat .d*/key'],
  ['cat link/key'],
  ['cd link; cat key'],
  ['grep -r secret .'],
  ['grep -R secret'],
  ["rg -g '.data/*' secret"],
  ['grep --file=.data/key README.md'],
  ['cat .d?ta/key'],
  ['echo .data/*'],
  ['git diff'],
])('without a sandbox, reading the hidden folder needs approval: %s', async (script) => {
  await using place = await toolFixture();
  await repositoryIn(place.root);
  await place.write('.data/key', 'secret');
  git(place.root, 'add', '.data/key');
  await symlink('.data', join(place.root, 'link'));
  await mkdir(join(place.root, 'src'));
  const command = ['bash', '-lc', script];
  const hide = [join(place.root, '.data')];
  expect(await approve({ command }, place.root, { sandbox: null, hide })).not.toBeNull();
  // The sandbox hides the folder, but not its content in the repository's history.
  const inSandbox = await approve({ command }, place.root, { sandbox, hide });
  expect(inSandbox !== null).toBe(script.startsWith('git'));
});

test.each([
  ['rg secret'],
  ['rg -uu secret'],
  ['rg --hidden -i secret .'],
  ['rg -uuu --files'],
  ['rg secret src .'],
  ['rg --hidden secret src/..'],
  ['cd src && rg -uu secret ..'],
  ['rg -uu secret self'],
  ['rg -uuL secret self'],
])(
  'without a sandbox, a search leaves the hidden folder out, whatever an ignore file says: %s',
  async (script) => {
    await using place = await toolFixture();
    await place.write('.data/key', 'secret');
    await place.write('src/a.ts', 'no secret');
    await symlink('.', join(place.root, 'self'));
    await place.write('.ignore', '!.data\n!.data/*\n');
    const options = { sandbox: null, hide: [join(place.root, '.data')] };
    const output = await autoApprovedOutput(place, { command: ['bash', '-lc', script] }, options);
    expect(output).toContain('a.ts');
    expect(output).not.toContain('key');
  },
);

test('a line with very many words needs approval', async () => {
  expect(await approve({ command: ['cat', ...Array(400).fill('a.ts')] })).toBeNull();
  expect(await approve({ command: ['cat', ...Array(100_000).fill('a.ts')] })).not.toBeNull();
  expect(await approve({ command: ['bash', '-lc', `echo '${'x'.repeat(40_000)}'`] })).toBeNull();
  expect(await approve({ command: ['bash', '-lc', `echo '${'x'.repeat(5_000_000)}'`] })).not.toBeNull();
  expect(await approve({ command: ['bash', '-lc', `${'cat */*; '.repeat(1_000)}ls`] })).not.toBeNull();
});

test.each([
  ['ls -la'],
  ['cat README.md'],
  ['cd src && cat a.ts'],
  ['git status'],
  ['grep word a.ts'],
  ['rg -n word'],
  ['rg word src'],
  ['rg --hidden word'],
  ['git diff HEAD~1'],
  ['cat *.txt'],
  ['ls -R'],
  ['find . -name key'],
])('without a sandbox, reading elsewhere needs no approval: %s', async (script) => {
  await using place = await toolFixture();
  await repositoryIn(place.root);
  await place.write('src/a.ts', 'word');
  await mkdir(join(place.root, '.data'));
  const hide = [join(place.root, '.data')];
  expect(await approve({ command: ['bash', '-lc', script] }, place.root, { sandbox: null, hide })).toBeNull();
});
