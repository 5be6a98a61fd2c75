/** Vendors that a package of the AI SDK asks, through a whole server. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { VENDOR_NAMES, VENDORS } from '../packages/server/src/providers/vendors.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { loadedModules } from './loaded-modules.ts';
import { scriptedModel } from './scripted-model.ts';
import { startProcess } from './server-process.ts';

const model = scriptedModel(() => ({ say: 'Hello.' }));
const folder = mkdtempSync(join(tmpdir(), 'parlance-vendors-'));
afterAll(() => {
  model.stop();
  rmSync(folder, { recursive: true });
});

/** What a new process loads of the AI SDK. */
const modulesOf = (settings: Record<string, string>) =>
  loadedModules(folder, { settings, paths: ['@ai-sdk', 'ai-sdk.ts'] });

const KEYS = Object.fromEntries(
  VENDOR_NAMES.map((name) => [VENDORS[name].variables[0], 'sk-test-0123456789']),
);

test('vendors that are configured and not used load nothing', async () => {
  const { atStart, afterMessage } = await modulesOf({ ...KEYS, PROVIDER: 'offline' });
  expect(atStart).toEqual([]);
  expect(afterMessage).toEqual([]);
});

test('the one that is used loads its own package with the first message', async () => {
  const { atStart, afterMessage, answer } = await modulesOf({
    ...KEYS,
    PROVIDER: 'groq',
    GROQ_BASE_URL: model.url,
    MODEL: 'fake',
  });
  expect(atStart).toEqual([]);
  expect(answer).toBe('Hello.');
  expect(afterMessage.some((path) => path.includes('@ai-sdk/groq/'))).toBe(true);
  expect(afterMessage.filter((path) => /@ai-sdk\/(mistral|azure)\//.test(path))).toEqual([]);
});

test('a session with a model of such a vendor answers, also if another vendor is the default', async () => {
  const server = await startTestServer({
    GROQ_API_KEY: 'sk-1',
    GROQ_BASE_URL: model.url,
    PROVIDER: 'offline',
  });
  try {
    const session = connect({ url: server.http }).session();
    await session.create();
    await session.configure({ model: 'groq:llama' });
    expect((await session.ask('Hello?')).text).toBe('Hello.');
    expect(model.requests.at(-1)?.model).toBe('llama');
  } finally {
    await server.stop();
  }
});

test('a package that is not installed is named in the log of the start and in the failure of the turn', async () => {
  await using server = await startProcess(folder, { COHERE_API_KEY: 'sk-1', LOG_LEVEL: 'warn' });
  const install = `npm install --prefix ${join(folder, 'data/packages')} @ai-sdk/cohere`;
  await server.logged(install);
  await expect(connect({ url: server.http }).session().ask('Hello?')).rejects.toThrow('@ai-sdk/cohere');
});
