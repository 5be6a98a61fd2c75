import { describe, expect, test } from 'bun:test';
import type { About } from '@parlance/sdk';
import {
  applySlash,
  NO_OFFERS,
  parsePrompt,
  parseSlash,
  type SlashContext,
  savedText,
  slashChoices,
} from './slash.ts';

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
  expect(labels('/')).toHaveLength(9);
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

test('a limit is an amount of dollars or tokens, or none', async () => {
  const set = async (argument: string) => {
    const limits: unknown[] = [];
    const context = { notice: () => undefined, limit: async (amount: unknown) => limits.push(amount) };
    const isDone = await applySlash({ name: 'limit', argument }, about, context as unknown as SlashContext);
    return isDone ? limits[0] : 'refused';
  };
  expect(await set('1.50')).toEqual({ dollars: 1.5 });
  expect(await set('$2')).toEqual({ dollars: 2 });
  expect(await set('20,000 tokens')).toEqual({ tokens: 20_000 });
  expect(await set('none')).toBeNull();
  for (const wrong of ['', 'much', '-1', '1e9', '$5 tokens', '1.5 tokens', '9999999999999'])
    expect(await set(wrong)).toBe('refused');
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

describe('what MCP servers offer', () => {
  const argument = (name: string) => ({ name, description: '', required: true });
  const offers = {
    prompts: [
      {
        server: 'tickets',
        name: 'summary',
        description: 'Sums up',
        arguments: [argument('ticket'), argument('style')],
      },
      { server: 'tickets', name: 'plain', description: '', arguments: [] },
    ],
    resources: [{ server: 'files', uri: 'file:///notes.md', name: 'Notes', description: 'Of today' }],
  };

  test('completes prompts as commands, and resources after /attach', () => {
    expect(slashChoices('/tick', about, [], [], offers).map(({ label }) => label)).toEqual([
      '/tickets:summary TICKET STYLE',
      '/tickets:plain',
    ]);
    expect(slashChoices('/attach note', about, [], [], offers)).toMatchObject([
      { text: '/attach files:file:///notes.md', label: 'Notes', about: 'files: Of today', complete: true },
    ]);
  });

  test.each([
    ['/tickets:summary ticket=42 style="very short"', { ticket: '42', style: 'very short' }],
    ['/tickets:summary 42', { ticket: '42' }],
    ['/tickets:summary style=short the last one', { style: 'short', ticket: 'the last one' }],
    ['/tickets:summary url=x', { ticket: 'url=x' }],
    ['/tickets:summary', {}],
  ])('%s has arguments', (text, given) => {
    expect(parsePrompt(text, offers)).toEqual({ server: 'tickets', name: 'summary', arguments: given });
  });

  test.each(['/tickets:other', 'tickets:summary', '/tickets', '/compact'])(
    '%s is none of its prompts',
    (text) => {
      expect(parsePrompt(text, offers)).toBeNull();
    },
  );
});

test('saved prompts are completed and become the text, but not in place of a command', () => {
  const saved = ['review', 'model'].map((name) => ({ name, text: `Text of ${name}.` }));
  const offers = { ...NO_OFFERS, saved };
  expect(slashChoices('/re', about, [], [], offers)).toEqual([
    { text: '/review ', label: '/review', about: 'Text of review.', complete: false },
  ]);
  expect(slashChoices('/model', about, [], [], offers).map(({ about: text }) => text)).not.toContain(
    'Text of model.',
  );
  expect(savedText('/review', offers)).toBe('Text of review.');
  expect(savedText('/review  src/a.ts\nand more', offers)).toBe('Text of review.\n\nsrc/a.ts\nand more');
  for (const text of ['/model', '/reviews', 'review', '/review/x'])
    expect(savedText(text, offers)).toBe(null);
});
