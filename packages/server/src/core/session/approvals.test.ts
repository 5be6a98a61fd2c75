import { describe, expect, test } from 'bun:test';
import type { Ask } from '@parlance/protocol';
import { answerInText, applyPolicy, approvalHash, type PolicyInput, permissionOf } from './approvals.ts';

const ask = (more: Partial<Ask> = {}): Ask => ({
  kind: 'command',
  command: ['rm', '-r', 'build'],
  description: 'Run rm -r build',
  ...more,
});

const call = (more: Partial<PolicyInput> = {}): PolicyInput => ({
  tools: ['shell'],
  mode: 'suggest',
  rules: [],
  ask: ask(),
  subjects: { literal: ['rm -r build'] },
  grants: [],
  tainted: false,
  sends: false,
  ...more,
});

describe('the mode', () => {
  test('a call without an approval request runs in every mode', () => {
    for (const mode of ['suggest', 'auto-edit', 'full-auto'] as const) {
      expect(applyPolicy(call({ mode, ask: null }))).toBe('run');
    }
  });

  test('suggest requires approval for everything that is not granted, except browser actions', () => {
    for (const kind of ['command', 'edit', 'other'] as const)
      expect(applyPolicy(call({ ask: ask({ kind }) }))).toBe('ask');
    expect(applyPolicy(call({ ask: ask({ kind: 'browser' }) }))).toBe('run');
  });

  test('auto-edit allows edits and nothing else', () => {
    const kinds = ['edit', 'command', 'other'] as const;
    const verdicts = kinds.map((kind) => applyPolicy(call({ mode: 'auto-edit', ask: ask({ kind }) })));
    expect(verdicts).toEqual(['run', 'ask', 'ask']);
  });

  test('full-auto requires no approval', () => {
    expect(applyPolicy(call({ mode: 'full-auto' }))).toBe('run');
  });
});

test('a standing grant covers exactly the named action', () => {
  const grants = ['shell:git status', ''];
  expect(applyPolicy(call({ ask: ask({ grant: 'shell:git status' }), grants }))).toBe('run');
  expect(applyPolicy(call({ ask: ask({ grant: 'shell:git push' }), grants }))).toBe('ask');
  expect(applyPolicy(call({ grants }))).toBe('ask');
});

test('with untrusted content in the context, grants, auto-edit and browser actions require approval', () => {
  const tainted = true;
  expect(applyPolicy(call({ tainted, ask: ask({ grant: 'a' }), grants: ['a'] }))).toBe('ask');
  expect(applyPolicy(call({ tainted, mode: 'auto-edit', ask: ask({ kind: 'edit' }) }))).toBe('ask');
  expect(applyPolicy(call({ tainted, sends: true, ask: ask({ kind: 'browser' }) }))).toBe('ask');
  expect(applyPolicy(call({ tainted, sends: false, ask: ask({ kind: 'browser' }) }))).toBe('run');
  expect(applyPolicy(call({ tainted, ask: null }))).toBe('run');
});

test('with untrusted content in the context, calls that send their arguments elsewhere require approval', () => {
  const sending = { sends: true, ask: null, tools: ['web_search'], subjects: { literal: ['{}'] } } as const;
  const allowed = [{ tool: 'web_search', pattern: '*', decision: 'allow' }] as const;
  expect(applyPolicy(call(sending))).toBe('run');
  expect(applyPolicy(call({ ...sending, tainted: true }))).toBe('ask');
  expect(applyPolicy(call({ ...sending, tainted: true, mode: 'auto-edit' }))).toBe('ask');
  expect(applyPolicy(call({ ...sending, tainted: true, mode: 'full-auto' }))).toBe('run');
  expect(applyPolicy(call({ ...sending, tainted: true, rules: allowed }))).toBe('run');
  expect(permissionOf(call({ ...sending, tainted: true, mode: 'full-auto' }))).toBe('safe');
});

describe('rules', () => {
  const rules = [
    { tool: 'shell', pattern: 'npm test*', decision: 'allow' },
    { tool: 'shell', pattern: 'npm *', decision: 'ask' },
    { tool: '*', pattern: '*secret*', decision: 'deny' },
    { tool: 'shell', pattern: 'make (all)', decision: 'allow' },
    { tool: 'echo', pattern: '*', decision: 'ask' },
  ] as const;
  const cases: [string, Partial<PolicyInput>, 'run' | 'ask' | 'deny'][] = [
    ['the strictest match wins', { subjects: { literal: ['npm test'] } }, 'ask'],
    ['an allowed command runs', { subjects: { literal: ['make (all)'] } }, 'run'],
    ['a pattern is not a regular expression', { subjects: { literal: ['make all'] } }, 'ask'],
    ['every part must be allowed', { subjects: { literal: ['make (all)', 'rm -r x'] } }, 'ask'],
    ['one denied part is enough', { subjects: { literal: ['make (all)', 'cat secret.txt'] } }, 'deny'],
    ['deny applies in full-auto', { mode: 'full-auto', subjects: { literal: ['cat secret.txt'] } }, 'deny'],
    [
      'deny applies to calls known to be safe',
      { ask: null, subjects: { literal: ['cat secret.txt'] } },
      'deny',
    ],
    [
      'ask applies to calls that would run without approval',
      { tools: ['echo'], ask: null, subjects: { literal: ['{}'] } },
      'ask',
    ],
    ['unknown effects are not allowed by a rule', { subjects: { literal: null } }, 'ask'],
    ['unknown effects may be denied', { mode: 'full-auto', subjects: { literal: null } }, 'ask'],
    [
      'rules of another tool do not apply',
      { tools: ['other'], subjects: { literal: ['make (all)'] } },
      'ask',
    ],
  ];
  for (const [name, more, verdict] of cases)
    test(name, () => expect(applyPolicy(call({ rules, ...more }))).toBe(verdict));
});

test('the hash changes with anything that is shown or executed', () => {
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

test('only a message that consists of a yes or no word is an answer', () => {
  for (const word of ['yes', ' Y ', 'APPROVE\n', 'Yes.', 'yes!!', 'ok', 'Okay.'])
    expect(answerInText(word)).toBe('once');
  for (const word of ['no', 'n', ' Deny', 'No.', 'NO! ']) expect(answerInText(word)).toBe('deny');
  for (const word of [
    '',
    '.',
    'yes please',
    'not now',
    'yesterday',
    'y n',
    'ok, but',
    'yes?',
    'ok...',
    'yes. no.',
  ])
    expect(answerInText(word)).toBeNull();
});
