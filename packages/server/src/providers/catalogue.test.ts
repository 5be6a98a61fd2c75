import { describe, expect, test } from 'bun:test';
import { openProvider } from '../compose/model-provider.ts';
import { loadConfig } from '../config/config.ts';
import catalogue from './catalogue.json' with { type: 'json' };
import { knownContextSize, knownModels } from './catalogue.ts';
import { isVendor, VENDOR_NAMES, VENDORS } from './vendors.ts';

const nothing = () => undefined;
const LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The limit of the model that a server with these variables uses. */
function limitOf(env: Record<string, string>): number {
  const config = loadConfig([], env, import.meta.dir);
  return openProvider(config.model, config, LOG).contextLimit;
}

describe('the catalogue', () => {
  test('has a date, and only vendors of the table', () => {
    expect(catalogue.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Object.keys(catalogue.providers).filter((name) => !isVendor(name))).toEqual([]);
  });

  test.each(VENDOR_NAMES)('%s: models are listed by their id, and no value is out of range', (vendor) => {
    for (const { id, name, limit, cost } of knownModels(vendor)) {
      expect(id).not.toBe('');
      expect(name).not.toBe('');
      for (const tokens of Object.values(limit ?? {})) expect(tokens).toBeGreaterThanOrEqual(1_000);
      for (const dollars of Object.values(cost ?? {})) expect(dollars).toBeGreaterThanOrEqual(0);
      expect(cost?.cache_read ?? 0).toBeLessThanOrEqual(cost?.input ?? 0);
    }
  });

  test('an unknown model of a vendor has at least its smallest size; elsewhere nothing is known of it', () => {
    expect(knownContextSize('anthropic', 'claude-of-tomorrow', true)).toBe(200_000);
    expect(knownContextSize('anthropic', 'claude-of-tomorrow', false)).toBeUndefined();
    expect(knownContextSize('perplexity', 'anything', true)).toBeUndefined();
    expect(knownContextSize('openai', '__proto__', false)).toBeUndefined();
  });
});

describe('the context size of a model', () => {
  const KEY = { OPENAI_API_KEY: 'sk-1' };

  test('is of the catalogue, also for a dated version', () => {
    expect(limitOf({ ...KEY, MODEL: 'gpt-4.1' })).toBe(1_047_576);
    expect(limitOf({ ...KEY, MODEL: 'gpt-5-2025-08-07' })).toBe(400_000);
    expect(limitOf({ ANTHROPIC_API_KEY: 'sk-1', MODEL: 'claude-haiku-4-5-20251001' })).toBe(200_000);
    expect(limitOf({ GROQ_API_KEY: 'sk-1' })).toBe(131_072);
  });

  test('a gateway has the models of every vendor, and a server of its own those that nobody knows', () => {
    const OPENAI_BASE_URL = 'http://127.0.0.1:4000/v1';
    expect(limitOf({ OPENAI_BASE_URL, PROVIDER: 'openai', MODEL: 'claude-sonnet-4-5' })).toBe(200_000);
    expect(limitOf({ OPENAI_BASE_URL, MODEL: 'llama3:8b' })).toBe(128_000);
  });

  test('CONTEXT_LIMIT overrides it, and CONTEXT_LIMITS both', () => {
    const env = { ...KEY, MODEL: 'gpt-5' };
    expect(limitOf({ ...env, CONTEXT_LIMIT: '50000' })).toBe(50_000);
    expect(limitOf({ ...env, CONTEXT_LIMIT: '50000', CONTEXT_LIMITS: 'x=2000, gpt-5=60000' })).toBe(60_000);
    expect(limitOf({ ...env, CONTEXT_LIMITS: 'openai:gpt-5=70000' })).toBe(70_000);
    for (const wrong of ['gpt-5', 'gpt-5=many', '=5000', 'gpt-5=1'])
      expect(() => limitOf({ ...env, CONTEXT_LIMITS: wrong })).toThrow('CONTEXT_LIMITS');
  });
});

test('the default model of each vendor with a catalogue is in it, or its size is known', () => {
  for (const vendor of VENDOR_NAMES) {
    if (knownModels(vendor).length === 0) continue;
    expect([vendor, knownContextSize(vendor, VENDORS[vendor].model, true)]).toEqual([
      vendor,
      expect.any(Number),
    ]);
  }
});
