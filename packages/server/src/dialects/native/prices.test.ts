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
