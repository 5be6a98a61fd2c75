import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';

const ROOT = join(import.meta.dir, '..');
const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const section = (title: string): string => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const rowsOf = (part: string): string[] => part.split('\n').filter((line) => /^\| (?!---)/.test(line));
const files = (await $`git ls-files --cached --others --exclude-standard`.cwd(ROOT).text()).split('\n');

test('every file and folder that the page names exists', () => {
  const names = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => /\/|\.(tsx?|json|md)$/.test(name));
  expect(names.length).toBeGreaterThan(80);
  const missing = names.filter(
    (name) =>
      !files.some(
        (path) => `/${path}`.endsWith(`/${name}`) || `/${path}`.includes(`/${name.replace(/\/$/, '')}/`),
      ),
  );
  expect(missing).toEqual([]);
});

test('every package and every folder of the server is in the table of folders', () => {
  const folders = rowsOf(section('Layout')).flatMap((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? []);
  const within = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() && files.some((path) => path.startsWith(`${folder}/${entry.name}/`))
        ? [`${folder}/${entry.name}`]
        : [],
    );
  const real = [...within('packages'), ...within('packages/server/src')].filter(
    (folder) => folder !== 'packages/server',
  );
  const missing = real.filter((folder) => !folders.some((name) => `${name}/`.startsWith(`${folder}/`)));
  expect(missing).toEqual([]);
  expect(folders.filter((folder) => !files.some((path) => path.startsWith(`${folder}/`)))).toEqual([]);
});

test('every question is answered with at most three files', () => {
  const answers = rowsOf(section('Where to look')).slice(1);
  expect(answers.length).toBeGreaterThan(10);
  for (const row of answers) {
    const [, question, ...cells] = row
      .split(' | ')
      .flatMap((cell, index) => (index === 0 ? ['', cell] : [cell]));
    const links = [...cells.join(' ').matchAll(/\]\(/g)].length;
    expect([question, links >= 1 && links <= 3]).toEqual([question, true]);
  }
});

test('a dialect with more than four files says in its header which of them hold the protocol', () => {
  for (const file of files.filter(
    (path) => /dialects\/\w+\/dialect\.ts$/.test(path) && !path.includes('/kit/'),
  )) {
    const folder = file.slice(0, -'dialect.ts'.length);
    const all = files.filter((path) => path.startsWith(folder) && /(?<!\.test)\.ts$/.test(path));
    if (all.length <= 4) continue;
    const header = readFileSync(join(ROOT, file), 'utf8').split('*/')[0] ?? '';
    const [, protocol = ''] =
      /The protocol is in ([\s\S]*?) Beside it/.exec(header.replaceAll('\n *', '')) ?? [];
    const named = (text: string): string[] => text.match(/`[\w-]+\.ts`/g) ?? [];
    expect([folder, named(protocol).length >= 3 && named(protocol).length <= 4]).toEqual([folder, true]);
    const missing = all.filter((path) => !named(header).includes(`\`${path.split('/').at(-1)}\``));
    expect([folder, missing]).toEqual([folder, []]);
  }
});
