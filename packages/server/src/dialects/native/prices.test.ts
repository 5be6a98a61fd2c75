import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('everyone sees prices, and only an admin changes them', async () => {
  const [local, admin, dev] = [
    connect({ url: server.http }),
    connect({ url: server.http, token: await server.login('ada', 'ada-password') }),
    connect({ url: server.http, token: await server.login('dev', 'dev-password') }),
  ];
  expect(await local.prices()).toEqual({});
  const price = { input: 1.25, output: 10, cached: 0.125 };
  await Promise.all([
    admin.admin.setPrice('one', price),
    admin.admin.setPrice('two', { input: 0, output: 1 }),
  ]);
  expect(await local.prices()).toEqual({ one: price, two: { input: 0, output: 1 } });
  await admin.admin.setPrice('two', null);
  expect(await local.prices()).toEqual({ one: price });
  for (const other of [local, dev])
    await expect(other.admin.setPrice('one', null)).rejects.toMatchObject({ code: 'forbidden' });
  for (const wrong of [{ input: -1, output: 1 }, { input: 1 }, { input: 'x', output: 1 }])
    await expect(admin.admin.setPrice('one', wrong as typeof price)).rejects.toMatchObject({
      code: 'invalid',
    });
  await expect(admin.admin.setPrice(' ', price)).rejects.toMatchObject({ code: 'invalid' });
  await admin.admin.setPrice('__proto__', price);
  expect(Object.keys(await local.prices())).toContain('one');
});

test('prices of the catalogue count for vendors with a key at their own address, until an admin sets others', async () => {
  const connected = await startTestServer({
    OPENAI_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY: 'sk-1',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/v1',
    GROQ_API_KEY: 'sk-1',
  });
  try {
    const parlance = connect({
      url: connected.http,
      token: await connected.login('ada', 'ada-password'),
    });
    const prices = await parlance.prices();
    const date = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/);
    expect(prices['gpt-5']).toEqual({ input: 1.25, output: 10, cached: 0.125, catalogue: date });
    expect(prices['openai:gpt-5']).toEqual({ input: 1.25, output: 10, cached: 0.125, catalogue: date });
    expect(prices['groq:openai/gpt-oss-120b']).toMatchObject({ input: 0.15, catalogue: date });
    expect(Object.keys(prices).filter((name) => name.includes('claude'))).toEqual([]);
    await parlance.admin.setPrice('gpt-5', { input: 1, output: 2 });
    expect((await parlance.prices())['gpt-5']).toEqual({ input: 1, output: 2 });
    await parlance.admin.setPrice('gpt-5', null);
    expect((await parlance.prices())['gpt-5']).toMatchObject({ input: 1.25, catalogue: date });
  } finally {
    await connected.stop();
  }
});

test('an admin sees all vendors: key, package, missing variables and known models', async () => {
  const { http, login, stop } = await startTestServer({
    GROQ_API_KEY: 'sk-1',
    CONTEXT_LIMITS: 'grok-4=5000',
  });
  try {
    const parlance = connect({ url: http, token: await login('ada', 'ada-password') });
    const { vendors } = await parlance.admin.vendors();
    const of = (name: string) => vendors.find((vendor) => vendor.name === name);
    expect(of('openai')).toMatchObject({ key: null, package: null, missing: [] });
    expect(of('groq')).toMatchObject({
      key: 'GROQ_API_KEY',
      package: { name: '@ai-sdk/groq', version: expect.any(String), problem: null },
    });
    expect(of('cohere')?.package).toMatchObject({
      version: null,
      install: expect.stringMatching(/^npm install --prefix .*packages @ai-sdk\/cohere$/),
    });
    expect(of('bedrock')?.missing).toEqual(process.env.AWS_REGION ? [] : ['AWS_REGION']);
    expect(of('xai')?.models).toContainEqual({
      id: 'xai:grok-4',
      name: 'Grok 4',
      context: 5_000,
      price: { input: 3, output: 15 },
    });
    const dev = connect({ url: http, token: await login('dev', 'dev-password') });
    await expect(dev.admin.vendors()).rejects.toMatchObject({ code: 'forbidden' });
    const { version } = await parlance.admin.settings.read();
    await parlance.admin.settings.change({ version, values: { contextLimits: { 'gpt-5': 9_000 } } });
    const after = (await parlance.admin.vendors()).vendors.find(({ name }) => name === 'openai');
    expect(after?.models.find(({ name }) => name === 'GPT-5')?.context).toBe(9_000);
  } finally {
    await stop();
  }
});
