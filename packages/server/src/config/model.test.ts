import { describe, expect, test } from 'bun:test';
import { loadConfig } from './config.ts';

const choose = (env: Record<string, string>) => loadConfig([], env, import.meta.dir).model;
const KEYS = { OPENAI_API_KEY: 'sk-a', ANTHROPIC_API_KEY: 'sk-b', GOOGLE_API_KEY: 'sk-c' };

describe('model selection', () => {
  const cases: [string, Record<string, string>, object][] = [
    ['nothing set: offline', {}, { provider: 'offline' }],
    ['offline by name, though keys are set', { ...KEYS, PROVIDER: 'offline' }, { provider: 'offline' }],
    ['offline as a model', { ...KEYS, MODEL: 'offline' }, { provider: 'offline' }],
    [
      'a key decides',
      { OPENAI_API_KEY: 'sk-a' },
      { provider: 'openai', api: 'responses', model: 'gpt-4o-mini' },
    ],
    [
      'another key',
      { ANTHROPIC_API_KEY: 'sk-b' },
      { provider: 'anthropic', baseUrl: 'https://api.anthropic.com' },
    ],
    ['the third key, by its other name', { GEMINI_API_KEY: 'sk-c' }, { provider: 'google', key: 'sk-c' }],
    [
      'claude- means anthropic',
      { ...KEYS, MODEL: 'claude-opus-4-7' },
      { provider: 'anthropic', key: 'sk-b' },
    ],
    ['gemini- means google', { ...KEYS, MODEL: 'gemini-2.5-flash' }, { provider: 'google', key: 'sk-c' }],
    ['any other model means openai', { ...KEYS, MODEL: 'gpt-5.5' }, { provider: 'openai', model: 'gpt-5.5' }],
    [
      'the provider counts more',
      { ...KEYS, PROVIDER: 'openai', MODEL: 'claude-x' },
      { provider: 'openai', model: 'claude-x' },
    ],
    ['OPENAI_MODEL is honoured', { OPENAI_API_KEY: 'sk-a', OPENAI_MODEL: 'gpt-4o' }, { model: 'gpt-4o' }],
    ['MODEL counts more', { OPENAI_API_KEY: 'sk-a', OPENAI_MODEL: 'a', MODEL: 'b' }, { model: 'b' }],
    [
      'another address speaks chat and needs no key',
      { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/' },
      { provider: 'openai', api: 'chat', baseUrl: 'http://127.0.0.1:11434/v1', key: undefined },
    ],
    [
      'unless told otherwise',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API: 'responses' },
      { provider: 'openai', api: 'responses' },
    ],
  ];
  for (const [name, env, expected] of cases) test(name, () => expect(choose(env)).toMatchObject(expected));

  test('a vendor without a key stops the start', () => {
    expect(() => choose({ PROVIDER: 'anthropic' })).toThrow('ANTHROPIC_API_KEY is needed');
    expect(() => choose({ MODEL: 'gemini-2.5-flash', OPENAI_API_KEY: 'sk-a' })).toThrow(
      'GOOGLE_API_KEY is needed',
    );
  });

  test('an invalid address stops the start, and keys are never quoted', () => {
    expect(() => choose({ OPENAI_BASE_URL: 'localhost:11434' })).toThrow(
      'OPENAI_BASE_URL must be an http://',
    );
  });
});
