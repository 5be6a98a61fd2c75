import { expect, test } from 'bun:test';
import { matching, modelGroups } from './options.ts';

const named = [
  { id: 'qwen3', provider: 'openai' },
  { id: 'claude-a', provider: 'anthropic' },
  { id: 'offline', provider: 'offline' },
];
const gateway = {
  provider: 'openai',
  label: '127.0.0.1:4000',
  models: [
    { id: 'openai:claude-a', name: 'claude-a' },
    { id: 'qwen3', name: 'qwen3' },
  ],
  problem: null,
};
const known = { named, providers: [gateway], fallback: 'qwen3', chosen: null };
const labels = (groups: ReturnType<typeof modelGroups>) =>
  groups.map(({ label, options }) => [label, ...options.map(({ value }) => value)]);

test('models are grouped by provider, without duplicates, the built-in one last', () => {
  expect(labels(modelGroups(known))).toEqual([
    ['', null],
    ['127.0.0.1:4000', 'openai:claude-a', 'qwen3'],
    ['anthropic', 'claude-a'],
    ['Built in', 'offline'],
  ]);
});

test('before the lists are known there are the models that the server names', () => {
  expect(labels(modelGroups({ ...known, providers: [] }))).toEqual([
    ['', null],
    ['openai', 'qwen3'],
    ['anthropic', 'claude-a'],
    ['Built in', 'offline'],
  ]);
});

test('a chosen model that nobody lists is an option', () => {
  expect(labels(modelGroups({ ...known, chosen: 'gone' }))[0]).toEqual(['', null, 'gone']);
  expect(labels(modelGroups({ ...known, chosen: 'qwen3' }))[0]).toEqual(['', null]);
});

test('the words of a query are in the name or the provider', () => {
  const found = (query: string) => labels(matching(modelGroups(known), query, 10).groups);
  expect(found('CLAUDE 4000')).toEqual([
    ['127.0.0.1:4000', 'openai:claude-a'],
    ['Other', 'CLAUDE 4000'],
  ]);
  expect(found('claude-a')).toEqual([
    ['127.0.0.1:4000', 'openai:claude-a'],
    ['anthropic', 'claude-a'],
  ]);
  expect(found(' nothing ')).toEqual([['Other', 'nothing']]);
});

test('long lists are cut', () => {
  const { groups, shown, total } = matching(modelGroups(known), '', 1);
  expect([labels(groups), shown, total]).toEqual([
    [
      ['', null],
      ['127.0.0.1:4000', 'openai:claude-a'],
    ],
    1,
    4,
  ]);
});
