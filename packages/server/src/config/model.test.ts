import { describe, expect, test } from 'bun:test';
import { loadConfig, requireKey } from './config.ts';

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
      { provider: 'openai', api: 'openai-responses', model: 'gpt-4o-mini' },
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
      { provider: 'openai', api: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1', key: undefined },
    ],
    [
      'unless told otherwise',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API: 'responses' },
      { provider: 'openai', api: 'openai-responses' },
    ],
  ];
  for (const [name, env, expected] of cases) test(name, () => expect(choose(env)).toMatchObject(expected));

  test('a vendor needs a key', () => {
    expect(() => choose({ PROVIDER: 'anthropic' })).toThrow(
      'anthropic needs an API key for claude-opus-4-7: set ANTHROPIC_API_KEY, or start without PROVIDER and connect the model in the console',
    );
    expect(() => choose({ MODEL: 'gemini-2.5-flash', OPENAI_API_KEY: 'sk-a' })).toThrow(
      'set GOOGLE_API_KEY, or start without MODEL',
    );
  });

  test('a key may be stored in a data folder that exists', () => {
    const choice = choose({ PROVIDER: 'anthropic', PARLANCE_DATA: import.meta.dir });
    expect(choice).toMatchObject({ provider: 'anthropic', key: undefined });
    expect(() => requireKey(choice)).toThrow('or enter it in the model settings of the console');
  });

  test('an invalid address stops the start, and keys are never quoted', () => {
    expect(() => choose({ OPENAI_BASE_URL: 'localhost:11434' })).toThrow(
      'OPENAI_BASE_URL must be an http://',
    );
  });
});

describe('a model of a session', () => {
  const named = (name: string, env: Record<string, string>) =>
    loadConfig([], env, import.meta.dir).modelNamed(name);
  const GATEWAY = { ...KEYS, OPENAI_BASE_URL: 'http://127.0.0.1:4000/v1' };
  const cases: [string, string, Record<string, string>, object][] = [
    ['its name decides', 'claude-x', KEYS, { provider: 'anthropic', model: 'claude-x' }],
    ['also at another provider', 'gpt-5', { ...KEYS, PROVIDER: 'google' }, { provider: 'openai' }],
    [
      'the chosen gateway has models of all vendors',
      'claude-x',
      { ...GATEWAY, PROVIDER: 'openai' },
      { provider: 'openai', model: 'claude-x', baseUrl: 'http://127.0.0.1:4000/v1' },
    ],
    [
      'a gateway for another API as well',
      'gpt-5',
      { ...KEYS, PROVIDER: 'anthropic', ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000' },
      { provider: 'anthropic', model: 'gpt-5' },
    ],
    ['without PROVIDER the name decides', 'claude-x', GATEWAY, { provider: 'anthropic' }],
    ['the offline model is not at the gateway', 'offline', GATEWAY, { provider: 'offline' }],
    [
      'its provider is named',
      'anthropic:claude-x',
      { ...GATEWAY, PROVIDER: 'openai' },
      { provider: 'anthropic', model: 'claude-x', key: 'sk-b' },
    ],
    ['in the same way', 'openai:claude-x', KEYS, { provider: 'openai', model: 'claude-x' }],
    ['a tag is not a provider', 'llama3:8b', GATEWAY, { provider: 'openai', model: 'llama3:8b' }],
    ['nor is a provider alone', 'google:', KEYS, { provider: 'openai', model: 'google:' }],
    [
      "the server's own model is where it is configured",
      'claude-x',
      { ...KEYS, PROVIDER: 'openai', MODEL: 'claude-x' },
      { provider: 'openai', model: 'claude-x' },
    ],
  ];
  for (const [title, name, env, expected] of cases)
    test(title, () => expect(named(name, env)).toMatchObject(expected));

  test('is refused if its provider has no key', () => {
    expect(() => named('claude-x', { OPENAI_API_KEY: 'sk-a' })).toThrow('set ANTHROPIC_API_KEY');
    expect(() => named('google:gemini-x', { OPENAI_API_KEY: 'sk-a' })).toThrow('set GOOGLE_API_KEY');
  });
});
