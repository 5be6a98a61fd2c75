import { describe, expect, test } from 'bun:test';
import { loadConfig, SETTINGS, STORED_KEYS } from '../config/config.ts';
import {
  addressSetting,
  addressVariable,
  keySetting,
  VENDOR_NAMES,
  VENDORS,
  vendorsMarkdown,
  vendorViews,
} from './vendors.ts';

const configOf = (env: Record<string, string>) => loadConfig([], env, import.meta.dir);

describe.each(VENDOR_NAMES)('the vendor %s follows from its entry', (name) => {
  const { address, api, model, variables, prefix, findsCredentials } = VENDORS[name];

  test('each variable of its key selects it, with its address, API and default model', () => {
    for (const variable of variables)
      expect(configOf({ [variable]: 'sk-1' }).model).toMatchObject({
        provider: name,
        api,
        model,
        baseUrl: address,
        key: 'sk-1',
        keyName: variable,
      });
  });

  test('so do PROVIDER, the name of a model and the prefix, and a missing key is named', () => {
    const key = { [variables[0]]: 'sk-1' };
    expect(configOf({ ...key, PROVIDER: name, MODEL: 'x' }).model).toMatchObject({
      provider: name,
      model: 'x',
    });
    expect(configOf(key).modelNamed(`${name}:x`)).toMatchObject({ provider: name, model: 'x' });
    if (prefix) expect(configOf({ ...key, MODEL: `${prefix}x` }).model).toMatchObject({ provider: name });
    if (findsCredentials) expect(configOf({ PROVIDER: name }).model).toMatchObject({ provider: name });
    else expect(() => configOf({ PROVIDER: name })).toThrow(`set ${variables[0]}`);
  });

  test('it is in the settings, in the stored ones, in the documentation and in what clients are told', () => {
    expect(SETTINGS[addressSetting(name)].env).toEqual([addressVariable(name)]);
    expect(SETTINGS[keySetting(name)]).toMatchObject({ env: variables, secret: true });
    expect(SETTINGS[keySetting(name)]).not.toHaveProperty('flag');
    expect(STORED_KEYS).toContain(keySetting(name));
    expect(vendorsMarkdown().join('\n')).toContain(`\`${name}\``);
    expect(vendorViews().map((view) => view.name)).toContain(name);
  });

  test('its name and its variables fit settings and shells, and belong to no other vendor', () => {
    expect(name).toMatch(/^[a-z][a-z0-9]*$/);
    const others = VENDOR_NAMES.filter((one) => one !== name).flatMap((one) => VENDORS[one].variables);
    for (const variable of variables) {
      expect(variable).toMatch(/^[A-Z][A-Z0-9_]*$/);
      expect(others).not.toContain(variable);
    }
  });
});

/** Names in Ollama's library that a vendor might have: `NAME:TAG` is a model of a server of one's own. */
const OLLAMA = [
  'mistral',
  'gemma',
  'llama3',
  'qwen3',
  'deepseek-r1',
  'command-r',
  'phi4',
  'gpt-oss',
  'cogito',
  'granite3',
];

test('no vendor takes the names of models of Ollama', () => {
  const config = configOf({
    OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
    ...Object.fromEntries(
      VENDOR_NAMES.flatMap((name) => VENDORS[name].variables).map((one) => [one, 'sk-1']),
    ),
  });
  for (const name of OLLAMA)
    for (const model of [name, `${name}:latest`, `${name}:7b`])
      expect(config.modelNamed(model)).toMatchObject({ provider: 'openai', model });
});
