/** Pairing through the SDK: the extension on one side, a person on the other. */
import { expect, test } from 'bun:test';
import { startTestServer } from '../../server/src/testing/server.ts';
import { connect } from './connect.ts';

const origin = `chrome-extension://${'a'.repeat(32)}`;
/** Requests as the browser sends them for an extension. */
const fromExtension = (url: string, init: RequestInit) =>
  fetch(url, { ...init, headers: { ...init.headers, origin } });

test('an extension asks, a person allows it, and it works until it is revoked', async () => {
  const server = await startTestServer();
  const person = connect({ url: server.http });
  const extension = connect({ url: server.http, fetch: fromExtension });
  const { code, token } = await extension.pairings.request('My browser');
  extension.token = token;
  expect(await extension.pairings.own()).toMatchObject({ status: 'waiting' });
  await expect(extension.server()).rejects.toMatchObject({ code: 'forbidden' });
  expect((await person.pairings.list()).waiting).toMatchObject([{ code, name: 'My browser', origin }]);
  expect(await person.pairings.find(code)).toMatchObject({ name: 'My browser' });
  const { id } = await person.pairings.allow(code);
  expect(await extension.pairings.own()).toEqual({ status: 'allowed', owner: 'local' });
  expect((await extension.server()).principal.id).toBe('local' as never);
  await person.pairings.revoke(id);
  await expect(extension.pairings.own()).rejects.toMatchObject({ code: 'not_found' });

  const other = await extension.pairings.request('Again');
  await person.pairings.deny(other.code);
  await expect(person.pairings.find(other.code)).rejects.toMatchObject({ code: 'not_found' });
  const last = await extension.pairings.request('Once more');
  extension.token = last.token;
  await person.pairings.allow(last.code);
  await extension.pairings.end();
  expect((await person.pairings.list()).pairings).toEqual([]);
  await server.stop();
});
