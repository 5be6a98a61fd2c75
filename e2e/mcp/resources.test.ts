/** Sessions as resources: lists, reading, subscriptions. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { postJson, startProcess, submit } from '../server-process.ts';
import { connect, ERAS, type McpClient, type Options } from './clients.ts';

let model: ScriptedModel;
let server: TestServer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  model = scriptedModel(({ messages }) => ({ say: `re: ${JSON.stringify(messages.at(-1)?.content)}` }));
  server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(async () => {
  await server.stop();
  model.stop();
});

/** Collects the notifications of a client. */
function notified() {
  const uris: (string | null)[] = [];
  return {
    uris,
    onUpdate: (uri: string | null) => {
      uris.push(uri);
    },
    /** Resolves after a notification about the URI. */
    about: (uri: string | null) => until(() => uris.includes(uri)),
  };
}

const uriOf = (session: string) => `parlance://sessions/${encodeURIComponent(session)}`;

/** Subscribes as in the era of the client. Returns a function that ends it. */
async function subscribed({ client }: McpClient, uri: string): Promise<() => Promise<unknown>> {
  if ('listen' in client) {
    const { close } = await client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
    return close;
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

describe.each(ERAS)('in %s', (era) => {
  const open = async (options: Options = {}) => {
    const client = await connect(era, server.http, options);
    cleanups.push(() => client.close());
    return client;
  };

  test('every session of the caller is listed by its title, and read as text', async () => {
    const mcp = await open();
    const { session } = await mcp.turn('send_message', { text: `hello from ${era}` });
    const { resources } = await mcp.client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({ uri: uriOf(session), name: `hello from ${era}`, mimeType: 'text/markdown' }),
    );
    const { contents } = await mcp.client.readResource({ uri: uriOf(session) });
    expect(contents).toMatchObject([{ uri: uriOf(session), mimeType: 'text/markdown' }]);
    const { text } = contents[0] as { text: string };
    expect(text).toMatch(/User.*\n\nhello from \d+\n\n---\n\n.*Assistant.*\n\nre: "hello from/s);
  });

  test('the template matches the URIs', async () => {
    const { client } = await open();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: 'parlance://sessions/{id}', mimeType: 'text/markdown' },
    ]);
  });

  test('a session with an unusual id is read by its URI', async () => {
    const mcp = await open();
    await mcp.turn('send_message', { text: 'odd', session: 'a/b c?#%é' });
    const { contents } = await mcp.client.readResource({ uri: uriOf('a/b c?#%é') });
    expect(contents).toHaveLength(1);
  });

  test('an unknown session, or one of another user, is not found', async () => {
    const other = await open({ token: await server.login('dev', 'dev-password') });
    const { session } = await other.turn('send_message', { text: 'secret' });
    const { client } = await open();
    for (const uri of [
      uriOf('nowhere'),
      uriOf(session),
      'file:///etc/passwd',
      'parlance://sessions/%ff',
      'nonsense',
    ])
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        code: era === '2026' ? -32_602 : -32_002,
      });
    const { resources } = await client.listResources();
    expect(JSON.stringify(resources)).not.toContain(session);
    if (!('listen' in client))
      await expect(client.subscribeResource({ uri: uriOf(session) })).rejects.toMatchObject({
        code: -32_002,
      });
  });

  test('a subscriber is notified when the session changes, and not about others', async () => {
    const { uris, onUpdate, about } = notified();
    const mcp = await open({ onUpdate });
    const [watched, other] = [`watched ${era}`, `other ${era}`];
    for (const session of [watched, other]) await mcp.turn('send_message', { text: 'begin', session });
    const end = await subscribed(mcp, uriOf(watched));
    uris.length = 0;
    await submit(server, encodeURIComponent(other), 'said elsewhere');
    await submit(server, encodeURIComponent(watched), 'said elsewhere');
    await about(uriOf(watched));
    expect(uris).not.toContain(uriOf(other));

    await end();
    // Notifications are in order: those that were on their way have arrived when a later subscription is notified.
    await subscribed(mcp, uriOf(other));
    await mcp.turn('send_message', { text: 'more', session: other });
    await about(uriOf(other));
    uris.length = 0;
    for (const session of [watched, other]) await mcp.turn('send_message', { text: 'more', session });
    await about(uriOf(other));
    expect(uris).not.toContain(uriOf(watched));
  });

  test('a new session, a new title and a deleted session change the list', async () => {
    const { uris, onUpdate, about } = notified();
    const mcp = await open({ onUpdate });
    await subscribed(mcp, uriOf((await mcp.turn('send_message', { text: 'any' })).session));
    const session = `listed${era}`;
    for (const change of [
      () => mcp.turn('send_message', { text: 'new', session }),
      () =>
        postJson(`${server.http}/v1/sessions/${session}/commands`, {
          type: 'session.rename',
          title: 'Named',
        }),
      () => fetch(`${server.http}/v1/sessions/${session}`, { method: 'DELETE' }),
    ]) {
      uris.length = 0;
      await change();
      await about(null);
    }
  });

  test('another user is not notified', async () => {
    const { uris, onUpdate, about } = notified();
    const stranger = await open({ onUpdate });
    const owner = await open({ token: await server.login('dev', 'dev-password') });
    const { session } = await owner.turn('send_message', { text: 'mine' });
    const own = await stranger.turn('send_message', { text: 'own' });
    if ('listen' in stranger.client)
      await stranger.client.listen({ resourceSubscriptions: [uriOf(session), uriOf(own.session)] });
    else await stranger.client.subscribeResource({ uri: uriOf(own.session) });
    await owner.turn('send_message', { text: 'more', session });
    await stranger.turn('send_message', { text: 'more', session: own.session });
    await about(uriOf(own.session));
    expect(uris).not.toContain(uriOf(session));
  });
});

test('in 2026 the response lists the subscriptions', async () => {
  const { client } = await connect('2026', server.http);
  cleanups.push(() => client.close());
  if (!('listen' in client)) throw new Error('not the client of 2026');
  const { honoredFilter } = await client.listen({ resourcesListChanged: true, toolsListChanged: true });
  expect(honoredFilter).toEqual({ resourcesListChanged: true, toolsListChanged: true });
});

test('in 2025 a client is still notified after the server was killed and restarted', async () => {
  const data = mkdtempSync(join(tmpdir(), 'parlance-mcp-'));
  cleanups.push(() => rmSync(data, { recursive: true, force: true }));
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const first = await startProcess(data, settings);
  const { uris, onUpdate } = notified();
  const client = await connect('2025', first.http, { onUpdate });
  cleanups.push(() => client.close());
  const { session } = await client.turn('send_message', { text: 'begin' });
  await subscribed(client, uriOf(session));
  await first.kill();
  const second = await startProcess(data, { ...settings, PORT: new URL(first.http).port });
  cleanups.push(() => second.kill());
  uris.length = 0;
  // The client reconnects by itself.
  await until(async () => {
    await submit(second, session, 'anybody?');
    await Bun.sleep(100);
    return uris.includes(uriOf(session));
  });
});
