import { expect, test } from 'bun:test';
import type { Settings } from '@parlance/sdk';
import { fieldsOf, valuesOf } from './vendors.ts';

const settings = (stored: Settings['stored'], provider = 'offline'): Settings => ({
  version: 1,
  problem: null,
  model: { provider, model: provider === 'offline' ? 'offline' : 'gpt-5', address: null },
  given: {},
  stored,
  secrets: [],
});

test('shows what is in use if nothing is stored', () => {
  expect(fieldsOf(settings({}))).toEqual({ choice: 'offline', address: '', key: '', model: '' });
  expect(fieldsOf(settings({}, 'openai'))).toMatchObject({ choice: 'openai', model: 'gpt-5' });
});

test('an address makes it a compatible server', () => {
  const stored = { provider: 'openai', openaiBaseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
  const fields = {
    choice: 'compatible',
    address: 'http://127.0.0.1:11434/v1',
    key: '',
    model: 'qwen3',
  } as const;
  expect(fieldsOf(settings(stored))).toEqual(fields);
  expect(valuesOf(fields)).toEqual(stored);
});

test('a key that was not entered stays as it is; an empty model is removed', () => {
  const fields = { choice: 'anthropic', address: '', key: ' ', model: ' ' } as const;
  expect(valuesOf(fields)).toEqual({ provider: 'anthropic', model: null, anthropicBaseUrl: null });
  expect(valuesOf({ ...fields, key: ' sk-1 ' })).toMatchObject({ anthropicKey: 'sk-1' });
});

test('OpenAI itself needs no address', () => {
  const fields = { choice: 'openai', address: 'http://left.over', key: '', model: 'gpt-5' } as const;
  expect(valuesOf(fields)).toEqual({ provider: 'openai', model: 'gpt-5', openaiBaseUrl: null });
});

test('the offline model has neither', () => {
  const fields = { choice: 'offline', address: 'x', key: 'y', model: 'z' } as const;
  expect(valuesOf(fields)).toEqual({ provider: 'offline', model: null });
});
