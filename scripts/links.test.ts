import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documents, linkProblems } from './links.ts';

const ROOT = join(import.meta.dir, '..');
const guarantees = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');

test('every link in the documentation resolves, and every named test exists', () => {
  expect(documents()).toContain('docs/guarantees.md');
  expect(documents().flatMap((path) => linkProblems(path))).toEqual([]);
});

test('every reference in the table of guarantees is a test, and every test is in the table', () => {
  const [table = '', list = ''] = guarantees.split('\n## The tests\n');
  const named = [...list.matchAll(/^- \*\*([SKDP]\d+)\*\* \[/gm)].map(([, name]) => name ?? '');
  const used = new Set([...table.matchAll(/\b[SKDP]\d+\b/g)].map(([name]) => name));
  expect(named.length).toBe(new Set(named).size);
  expect([...used].sort()).toEqual([...named].sort());
});

test('every boundary covers the four failures with a test or says that it does not hold, and names its oracles', () => {
  const rows = guarantees.split('\n').filter((line) => line.startsWith('| **'));
  expect(rows.length).toBeGreaterThanOrEqual(10);
  for (const row of rows) {
    const [border, ...cells] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const simulated = cells.pop();
    expect([border, simulated]).toEqual([border, expect.stringMatching(/\bO\d+\b|^–/)]);
    expect([border, cells.length]).toEqual([border, 4]);
    for (const cell of cells)
      expect([border, cell]).toEqual([
        border,
        expect.stringMatching(/\b[SKDP]\d+\b|\*Not kept\*|As SIGKILL|no socket/),
      ]);
  }
});

test.each([
  ['[a](missing.md)', 'leads nowhere'],
  ['[a](there.md#no-such-place)', 'has no such heading'],
  ['[another title](some.test.ts)', 'there is no test'],
  ['[a](there.md#a-place)', null],
  ['[the title](some.test.ts)', null],
  ['[says it in another](some.test.ts)', null],
  ['`[a](missing.md)` and https://example.com', null],
  ['```\n[a](missing.md)\n```', null],
])('%s is judged', (text, complaint) => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-links-'));
  try {
    mkdirSync(join(folder, 'docs'));
    writeFileSync(join(folder, 'docs/one.md'), text);
    writeFileSync(join(folder, 'docs/there.md'), '# Top\n\n## A place\n');
    writeFileSync(
      join(folder, 'docs/some.test.ts'),
      "test('the title', () => {});\ntest.each(ALL)(\n  'says it in another way',\n  () => {},\n);\n",
    );
    const problems = linkProblems('docs/one.md', folder);
    if (complaint === null) expect(problems).toEqual([]);
    else expect(problems.join()).toContain(complaint);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
