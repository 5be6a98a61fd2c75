import { describe, expect, test } from 'bun:test';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { configFolders } from '../testing/config.ts';
import { loadConfig } from './config.ts';

const { folder, folderWith } = configFolders();

describe('stored settings', () => {
  test('are used where nothing is given', () => {
    const { changeable } = loadConfig([], {}, folder);
    const stored = { openaiBaseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
    expect(changeable(stored).model).toEqual({
      provider: 'openai',
      api: 'openai-chat',
      model: 'qwen3',
      key: undefined,
      keyName: undefined,
      baseUrl: 'http://127.0.0.1:11434/v1',
    });
    expect(changeable({}).model).toEqual({ provider: 'offline' });
  });

  test('lose to flags and environment, which are named', () => {
    const config = loadConfig(['--model', 'gpt-5'], { OPENAI_API_KEY: 'sk-given' }, folder);
    expect(config.changeable({ model: 'gpt-4.1', openaiKey: 'sk-stored' }).model).toMatchObject({
      model: 'gpt-5',
      key: 'sk-given',
    });
    expect(config.given.get('model')).toBe('--model');
    expect(config.given.get('openaiKey')).toBe('OPENAI_API_KEY');
  });

  test('of a provider give way to the name of a given model, unless it is a server of one\u2019s own', () => {
    const { changeable } = loadConfig([], { MODEL: 'claude-x', PARLANCE_DATA: folder }, folder);
    const keys = { openaiKey: 'sk-a', anthropicKey: 'sk-b' };
    expect(changeable({ provider: 'openai', ...keys }).model).toMatchObject({
      provider: 'anthropic',
      key: 'sk-b',
    });
    const gateway = { provider: 'openai', openaiBaseUrl: 'http://127.0.0.1:4000/v1' };
    expect(changeable({ ...gateway, ...keys }).model).toMatchObject({
      provider: 'openai',
      model: 'claude-x',
    });
  });

  test('of a key are told apart from a given one', () => {
    const path = join(folderWith({ googleKey: 'sk-c' }), 'parlance.json');
    const { changeable } = loadConfig(['--config', path], { ANTHROPIC_API_KEY: 'sk-b' }, folder);
    const { vendor } = changeable({ openaiKey: 'sk-a' });
    expect((['openai', 'anthropic', 'google'] as const).map(vendor)).toMatchObject([
      { key: 'sk-a', keyName: 'the API key in the model settings' },
      { key: 'sk-b', keyName: 'ANTHROPIC_API_KEY' },
      { key: 'sk-c', keyName: 'googleKey in the config file' },
    ]);
  });

  test('of a key are used only at the address it was entered for', () => {
    const stored = { openaiKey: 'sk-a', keyAddresses: { openai: 'https://gateway.example/v1' } };
    const keyAt = (OPENAI_BASE_URL: string) =>
      loadConfig([], { OPENAI_BASE_URL }, folder).changeable(stored).vendor('openai');
    expect(keyAt('https://gateway.example/v1/')).toMatchObject({ key: 'sk-a' });
    expect(keyAt('https://gateway.example')).toMatchObject({ key: 'sk-a' });
    for (const other of ['http://gateway.example/v1', 'https://other.example/v1'])
      expect(keyAt(other)).toMatchObject({
        key: undefined,
        keyName: undefined,
        otherKeyAddress: 'https://gateway.example/v1',
      });
    const { changeable } = loadConfig([], { PARLANCE_DATA: folder }, folder);
    expect(changeable(stored).vendor('openai')).toMatchObject({ key: undefined });
    expect(() => changeable(stored).modelNamed('gpt-5')).toThrow(
      'the stored API key of openai was entered for https://gateway.example/v1 and is not sent to https://api.openai.com/v1: enter it again in the model settings of the console, or set OPENAI_API_KEY beside the address',
    );
  });

  test('of a key without an address, from an older release, are used at any address', () => {
    const { changeable } = loadConfig([], { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, folder);
    expect(changeable({ openaiKey: 'sk-a' }).vendor('openai')).toMatchObject({ key: 'sk-a' });
  });

  test('of a key do not restrict a given key', () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'sk-given' };
    const stored = { openaiKey: 'sk-a', keyAddresses: { openai: 'https://gateway.example/v1' } };
    const used = loadConfig([], env, folder).changeable(stored).vendor('openai');
    expect(used).toMatchObject({ key: 'sk-given' });
    expect(used).not.toHaveProperty('otherKeyAddress');
  });

  test('extend lists; a given entry replaces a stored one with the same name', () => {
    const agent = { id: 'cook', name: 'Cook', instructions: 'given' };
    const cwd = folderWith({
      agents: [agent],
      allowedOrigins: ['https://given.example'],
      mcpServers: { one: { url: 'https://given.example/mcp' } },
    });
    const config = loadConfig(['--config', join(cwd, 'parlance.json')], {}, cwd);
    const changed = config.changeable({
      agents: [
        { ...agent, instructions: 'stored' },
        { ...agent, id: 'poet', instructions: 'stored' },
      ],
      allowedOrigins: ['https://stored.example', 'https://given.example'],
      mcpServers: { one: { url: 'https://stored.example/mcp' }, two: { command: 'two' } },
    });
    expect(changed.agents.map(({ id, instructions }) => [id, instructions])).toEqual([
      ['cook', 'given'],
      ['poet', 'stored'],
    ]);
    expect(changed.allowedOrigins).toEqual(['https://given.example', 'https://stored.example']);
    expect(changed.mcpServers).toMatchObject({
      one: { url: 'https://given.example/mcp' },
      two: { command: 'two', cwd: homedir() },
    });
  });

  test('are refused if they are invalid, without the value of a secret', () => {
    const { changeable } = loadConfig([], {}, folder);
    expect(() => changeable({ openaiBaseUrl: 'ftp://x' })).toThrow('openaiBaseUrl must be');
    expect(() => changeable({ openaiKey: ['sk-secret'] })).toThrow(/^openaiKey must be text$/);
  });
});
