import { expect, test } from 'bun:test';
import type { About } from '@parlance/sdk';
import { parseSlash, slashChoices } from './slash.ts';

const about = {
  model: 'gpt-4o-mini',
  approval: 'suggest',
  sandbox: false,
  principal: { role: 'developer', permissions: ['tool:approve'] },
  models: [
    { id: 'gpt-4o-mini', provider: 'openai' },
    { id: 'offline', provider: 'offline' },
  ],
  agents: [{ id: 'coder', name: 'Coder', description: 'Writes code.', model: null }],
  domains: [{ id: 'social_chat', name: 'Social Chat', description: '', defaultAgent: 'coder', agents: [] }],
} as unknown as About;

test('parses a known command with its argument', () => {
  expect(parseSlash('/model gpt-4o-mini ')).toEqual({ name: 'model', argument: 'gpt-4o-mini' });
  expect(parseSlash('/MODEL offline')).toEqual({ name: 'model', argument: 'offline' });
  expect(parseSlash('  /compact')).toEqual({ name: 'compact', argument: '' });
  expect(parseSlash('/model')).toEqual({ name: 'model', argument: '' });
});

test('anything else is a message to the agent', () => {
  for (const text of [
    '/etc/hosts is what?',
    '/models',
    '/',
    'run /help',
    '/clear the table',
    '/model a\nb',
    '/help\nme',
  ])
    expect(parseSlash(text)).toBeNull();
});

test('offers completions while typing', () => {
  const labels = (text: string) => slashChoices(text, about).map(({ label }) => label);
  expect(labels('/')).toHaveLength(7);
  expect(labels('/co')).toEqual(['/compact']);
  expect(labels('/model ')).toEqual(['default', 'gpt-4o-mini', 'offline']);
  expect(labels('/model OFF')).toEqual(['offline', 'Use “OFF”']);
  expect(labels('/domain social')).toEqual(['Social Chat']);
  expect(labels('/nothing')).toEqual([]);
  expect(labels('/etc/')).toEqual([]);
  expect(labels('hello /')).toEqual([]);
  expect(labels('/model a\nb')).toEqual([]);
});

test('offers the models of all providers, as the picker does', () => {
  const models = Array.from({ length: 50 }, (_, index) => ({ id: `qwen-${index}`, name: `qwen-${index}` }));
  const shared = { id: 'openai:claude-a', name: 'claude-a' };
  const providers = [{ provider: 'openai', label: 'gateway', models: [shared, ...models], problem: null }];
  const choices = (text: string) => slashChoices(text, about, providers);
  expect(choices('/model ')).toHaveLength(21);
  expect(choices('/model claude')).toMatchObject([
    { text: '/model openai:claude-a', label: 'claude-a', about: 'gateway' },
    { text: '/model claude', label: 'Use “claude”' },
  ]);
  // A model that is typed in full comes before those that contain its name.
  expect(choices('/model qwen-49')[0]?.text).toBe('/model qwen-49');
  expect(choices('/model qwen-4')[0]?.text).toBe('/model qwen-4');
  expect(choices('/model default').map(({ text }) => text)).toEqual(['/model default']);
});

test('a complete choice runs at once', () => {
  expect(slashChoices('/compact', about)).toMatchObject([{ text: '/compact', complete: true }]);
  expect(slashChoices('/mod', about)).toMatchObject([{ text: '/model ', complete: false }]);
  expect(slashChoices('/agent co', about)).toMatchObject([{ text: '/agent coder', complete: true }]);
});

test('offers full-auto only with a sandbox', () => {
  const modes = (sandbox: boolean) =>
    slashChoices('/approval ', { ...about, sandbox }).map(({ label }) => label);
  expect(modes(false)).toEqual(['default', 'suggest', 'auto-edit']);
  expect(modes(true)).toContain('full-auto');
});

test('commands that the caller may not use are not offered', () => {
  const user = { ...about, principal: { ...about.principal, permissions: [] } };
  expect(slashChoices('/', user).map(({ label }) => label)).not.toContain('/approval MODE');
  expect(slashChoices('/approval ', user)).toEqual([]);
});

test('skills are completed after commands, and take the place of none', () => {
  const skills = [
    { name: 'code-review', description: 'Reviews code.' },
    { name: 'clear', description: 'Deletes everything.' },
  ];
  expect(slashChoices('/c', about, [], skills).map(({ label }) => label)).toEqual([
    '/compact',
    '/clear',
    '/code-review',
  ]);
  expect(slashChoices('/code-', about, [], skills)).toMatchObject([
    { text: '/code-review ', complete: false },
  ]);
  expect(slashChoices('/code-review all', about, [], skills)).toEqual([]);
  expect(parseSlash('/code-review all')).toBeNull();
});
