import { expect, test } from 'bun:test';
import { catalogueFrom } from './catalogue.ts';

const model = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  attachment: true,
  reasoning: true,
  tool_call: true,
  release_date: '2026-01-01',
  modalities: { input: ['text'], output: ['text'] },
  limit: { context: 1_000, output: 0 },
  cost: { input: 1, output: 2, cache_read: 0.1, reasoning: 3 },
  ...more,
});

const provider = (id: string, env: string[], ...models: ReturnType<typeof model>[]) => ({
  id,
  env,
  npm: '@ai-sdk/openai-compatible',
  name: id,
  models: Object.fromEntries(models.map((one) => [one.id, one])),
});

const byId = (...providers: ReturnType<typeof provider>[]) =>
  Object.fromEntries(providers.map((one) => [one.id, one]));

test('vendors are found by name, by package and by the variable of their key', () => {
  const { providers, date } = catalogueFrom(
    byId(
      provider('openai', ['OPENAI_API_KEY'], model('gpt-x')),
      provider('amazon-bedrock', ['AWS_REGION'], model('nova')),
      provider('fireworks-ai', ['FIREWORKS_API_KEY'], model('fire')),
      provider('somebody-else', ['OTHER_KEY'], model('other')),
    ),
    '2026-02-03',
    'test',
  );
  expect(date).toBe('2026-02-03');
  expect(Object.keys(providers)).toEqual(['openai', 'fireworks', 'bedrock']);
  expect(providers.openai?.models['gpt-x']).toEqual({
    id: 'gpt-x',
    name: 'GPT-X',
    reasoning: true,
    tool_call: true,
    modalities: { input: ['text'], output: ['text'] },
    limit: { context: 1_000 },
    cost: { input: 1, output: 2, cache_read: 0.1 },
  });
});

test('models without text, and broken ones, are left out; a missing price stays unknown', () => {
  const { providers } = catalogueFrom(
    byId(
      provider(
        'openai',
        [],
        model('painter', { modalities: { input: ['text'], output: ['image'] } }),
        model('broken', { cost: { input: -1, output: 2 } }),
        model('free', { cost: undefined, limit: undefined }),
      ),
    ),
    '2026-02-03',
    'test',
  );
  expect(Object.values(providers.openai?.models ?? {})).toEqual([
    expect.not.objectContaining({ cost: expect.anything(), limit: expect.anything() }),
  ]);
});

test('data of another shape, or of no known vendor, changes nothing', () => {
  expect(() => catalogueFrom([1, 2], '2026-02-03', 'test')).toThrow();
  expect(() => catalogueFrom(byId(provider('nobody', [], model('x'))), '2026-02-03', 'test')).toThrow(
    'no model',
  );
});
