import { expect, test } from 'bun:test';
import type { Ask } from '@parlance/protocol';
import { approvalHash, mayRun, spokenAnswer } from './approvals.ts';

const ask = (more: Partial<Ask> = {}): Ask => ({
  kind: 'command',
  command: ['rm', '-r', 'build'],
  description: 'Run rm -r build',
  ...more,
});

test('what a tool does not want shown runs in every mode', () => {
  for (const mode of ['suggest', 'auto-edit', 'full-auto'] as const) {
    expect(mayRun(mode, null, [])).toBe(true);
  }
});

test('suggest asks for everything that is not granted', () => {
  for (const kind of ['command', 'edit', 'other'] as const)
    expect(mayRun('suggest', ask({ kind }), [])).toBe(false);
});

test('auto-edit lets edits run, and nothing else', () => {
  expect(mayRun('auto-edit', ask({ kind: 'edit' }), [])).toBe(true);
  expect(mayRun('auto-edit', ask({ kind: 'command' }), [])).toBe(false);
  expect(mayRun('auto-edit', ask({ kind: 'other' }), [])).toBe(false);
});

test('full-auto asks for nothing', () => {
  expect(mayRun('full-auto', ask(), [])).toBe(true);
});

test('a standing grant covers exactly what it names', () => {
  expect(mayRun('suggest', ask({ grant: 'shell:git status' }), ['shell:git status'])).toBe(true);
  expect(mayRun('suggest', ask({ grant: 'shell:git push' }), ['shell:git status'])).toBe(false);
  expect(mayRun('suggest', ask(), ['shell:git status', ''])).toBe(false);
});

test('the hash changes with anything that is shown or will run', () => {
  const hashes = [
    approvalHash('shell', { command: ['rm'] }, ask()),
    approvalHash('local_shell', { command: ['rm'] }, ask()),
    approvalHash('shell', { command: ['rm', '-r'] }, ask()),
    approvalHash('shell', { command: ['rm'] }, ask({ description: 'Harmless' })),
    approvalHash('shell', { command: ['rm'] }, ask({ patch: '' })),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(approvalHash('shell', { command: ['rm'] }, ask())).toBe(hashes[0] ?? '');
});

test('only a message that is nothing but a word of consent or refusal is an answer', () => {
  for (const word of ['yes', ' Y ', 'APPROVE\n']) expect(spokenAnswer(word)).toBe('once');
  for (const word of ['no', 'n', ' Deny']) expect(spokenAnswer(word)).toBe('deny');
  for (const word of ['', 'yes please', 'not now', 'yesterday', 'y n', 'ok', 'yes!'])
    expect(spokenAnswer(word)).toBeNull();
});
