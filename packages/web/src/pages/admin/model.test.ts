import { expect, test } from 'bun:test';
import type { Settings } from '@parlance/sdk';
import { vendorViews } from '../../../../server/src/providers/vendors.ts';
import {
  choiceInUse,
  decidedBy,
  type Fields,
  fieldsOf,
  mergedFields,
  modelProblem,
  problemIn,
  questionOf,
  valuesOf,
  withScheme,
} from './model.tsx';

const VENDORS = vendorViews();

const settings = (stored: Settings['stored'], provider = 'offline'): Settings => ({
  version: 1,
  problem: null,
  model: { provider, model: provider === 'offline' ? 'offline' : 'gpt-5', address: null },
  given: {},
  stored,
  secrets: [],
  keyProblems: {},
});

test('shows what is in use if nothing is stored', () => {
  expect(fieldsOf(settings({}, 'openai'), VENDORS)).toMatchObject({ choice: 'openai', model: 'gpt-5' });
});

test('the offline model is not a choice until it is made, unless the startup makes it', () => {
  const none = { choice: null, address: '', key: '', model: '' };
  expect(fieldsOf(settings({}), VENDORS)).toEqual(none);
  expect(fieldsOf(settings({ provider: 'offline' }), VENDORS)).toEqual(none);
  const given = { provider: 'PROVIDER' };
  expect(fieldsOf({ ...settings({}), given }, VENDORS)).toEqual({ ...none, choice: 'offline' });
});

test('the choice in use depends on the address', () => {
  const used = (provider: string, address: string | null) =>
    choiceInUse({ ...settings({}), model: { provider, model: 'x', address } }, VENDORS);
  expect(used('offline', null)).toBe('offline');
  expect(used('openai', 'https://api.openai.com/v1')).toBe('openai');
  expect(used('openai', 'http://127.0.0.1:11434/v1')).toBe('compatible');
  expect(used('google', 'https://generativelanguage.googleapis.com')).toBe('google');
});

test('input is kept when the settings change; what was not touched follows on the same server', () => {
  const base: Fields = { choice: 'compatible', address: 'http://one/v1', key: '', model: 'a' };
  const merged = (changed: Partial<Fields>, stored: Partial<Fields>) =>
    mergedFields({ base, changed }, { ...base, ...stored });
  expect(merged({ key: 'sk-1' }, { model: 'b' })).toEqual({ ...base, key: 'sk-1', model: 'b' });
  expect(merged({ model: 'c' }, { model: 'b' })).toEqual({ ...base, model: 'c' });
  // The key was entered for the first server.
  expect(merged({ key: 'sk-1' }, { address: 'http://two/v1', model: 'b' })).toEqual({ ...base, key: 'sk-1' });
  expect(merged({ model: 'c' }, { choice: 'openai', address: '', model: 'gpt-5' })).toEqual({
    ...base,
    model: 'c',
  });
  const other = { choice: 'anthropic', address: '', model: '' } as const;
  expect(merged(other, { model: 'b' })).toEqual({ ...base, ...other });
});

test('an address makes it a compatible server', () => {
  const stored = { provider: 'openai', openaiBaseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
  const fields = {
    choice: 'compatible',
    address: 'http://127.0.0.1:11434/v1',
    key: '',
    model: 'qwen3',
  } as const;
  expect(fieldsOf(settings(stored), VENDORS)).toEqual(fields);
  expect(valuesOf(fields, {})).toEqual(stored);
});

test('a key that was not entered stays as it is; an empty model is removed', () => {
  const fields = { choice: 'anthropic', address: '', key: ' ', model: ' ' } as const;
  expect(valuesOf(fields, {})).toEqual({ provider: 'anthropic', model: null, anthropicBaseUrl: null });
  expect(valuesOf({ ...fields, key: ' sk-1 ' }, {})).toMatchObject({ anthropicKey: 'sk-1' });
});

test('OpenAI itself needs no address', () => {
  const fields = { choice: 'openai', address: 'http://left.over', key: '', model: 'gpt-5' } as const;
  expect(valuesOf(fields, {})).toEqual({ provider: 'openai', model: 'gpt-5', openaiBaseUrl: null });
});

test('the offline model has neither', () => {
  const fields = { choice: 'offline', address: 'x', key: 'y', model: 'z' } as const;
  expect(valuesOf(fields, {})).toEqual({ provider: 'offline', model: null });
});

test('what is set at startup is shown, and neither stored nor sent again', () => {
  const given = { openaiBaseUrl: 'OPENAI_BASE_URL', openaiKey: 'OPENAI_API_KEY', model: 'MODEL' };
  const started: Settings = {
    ...settings({ provider: 'openai', model: 'stored' }),
    given,
    model: { provider: 'openai', model: 'qwen3', address: 'http://127.0.0.1:11434/v1' },
  };
  const fields = fieldsOf(started, VENDORS);
  expect(fields).toEqual({
    choice: 'compatible',
    address: 'http://127.0.0.1:11434/v1',
    key: '',
    model: 'qwen3',
  });
  expect(valuesOf({ ...fields, choice: 'compatible' }, given)).toEqual({ provider: 'openai' });
  expect(questionOf({ ...fields, choice: 'compatible' }, given, VENDORS)).toEqual({
    provider: 'openai',
    address: undefined,
    key: undefined,
  });
  expect(decidedBy(given, 'compatible')).toEqual({
    choice: undefined,
    address: 'OPENAI_BASE_URL',
    key: 'OPENAI_API_KEY',
    model: 'MODEL',
  });
});

test('a key for OpenAI is tested at OpenAI, whatever server is in use', () => {
  const fields = { choice: 'openai', address: '', key: 'sk-1', model: '' } as const;
  expect(questionOf(fields, {}, VENDORS)).toMatchObject({
    address: 'https://api.openai.com/v1',
    key: 'sk-1',
  });
});

test.each([
  [' http://127.0.0.1:11434/v1 ', 'http://127.0.0.1:11434/v1'],
  ['127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1'],
  ['localhost:8000', 'http://localhost:8000'],
  ['ollama:11434', 'http://ollama:11434'],
  ['models.local/v1', 'http://models.local/v1'],
  ['llm.example.com/v1', 'https://llm.example.com/v1'],
  ['', ''],
])('the address %p is completed to %p', (entered, address) => {
  expect(withScheme(entered)).toBe(address);
});

test('a missing address and a key with spaces are problems', () => {
  const fields = { choice: 'compatible', address: 'http://x/v1', key: '', model: '' } as const;
  expect(problemIn(fields)).toBeNull();
  for (const address of ['', 'ftp://x', 'http://'])
    expect(problemIn({ ...fields, address })).toMatch(/^Enter the address/);
  expect(problemIn({ ...fields, key: 'sk-1 sk-2' })).toMatch(/contains spaces/);
  expect(problemIn({ ...fields, key: ' sk-1\n' })).toBeNull();
});

test('a model that the server does not list is a problem', () => {
  const listing = { models: ['llama3:latest', 'qwen3:8b'], address: 'http://127.0.0.1:11434/v1' };
  const problem = (model: string) =>
    modelProblem({ choice: 'compatible', address: '', key: '', model }, listing);
  expect(problem('llama3')).toBeNull();
  expect(problem('qwen3:8b')).toBeNull();
  expect(problem('')).toBe('Choose a model.');
  expect(problem('gpt-9')).toBe(
    '127.0.0.1:11434 does not list a model named gpt-9. Choose one from the list.',
  );
});
