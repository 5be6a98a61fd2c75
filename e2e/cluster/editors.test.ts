/**
 * `mcp` and `acp` on three nodes: each request of a client may reach another node. The test controls the model.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { until } from '../../packages/server/src/testing/until.ts';
import { Editor, whenWithdrawn } from '../acp/editor.ts';
import { legacyClient, modernClient, type Options, wrapped } from '../mcp/clients.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { durableOf, followed, postJson, submit } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

const has =
  (type: string) =>
  (events: readonly { readonly type: string }[]): boolean =>
    events.some((event) => event.type === type);
const accept = () => ({ action: 'accept' as const, content: { answer: 'once' } });
const uriOf = (session: string) => `parlance://sessions/${session}`;

/** Routes tool calls to one node, streams to another, and everything else to the third. */
function nodeOf(init: RequestInit | undefined): 0 | 1 | 2 {
  if (init?.method === 'GET') return 1;
  return typeof init?.body === 'string' && init.body.includes('"tools/call"') ? 0 : 2;
}

describe.skipIf(missing !== null)(`three nodes${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let model: DictatedModel;
  let nodes: ThreeNodes;
  const cleanups: (() => unknown)[] = [];
  beforeAll(async () => {
    model = dictatedModel();
    cluster = await startCluster({ ...LONG_LEASE, ...model.settings });
    nodes = await cluster.startThree();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    await model.idle();
  });
  afterAll(async () => {
    model?.stop();
    await cluster?.stop();
  });

  const touch = (file: string) => model.call('shell', { command: ['touch', file] });
  const exists = (file: string) => existsSync(join(cluster.folder, file));
  const finish = (text: string) => {
    model.say(text);
    model.end();
  };

  describe('mcp', () => {
    /** Aborts the requests of calls, like a lost connection. */
    let cut = new AbortController();

    const spread: typeof fetch = Object.assign(
      (input: string | URL | Request, init?: RequestInit) => {
        const node = nodeOf(init);
        const { pathname } = new URL(String(input));
        const signals = [...(init?.signal ? [init.signal] : []), ...(node === 0 ? [cut.signal] : [])];
        return fetch(nodes[node].http + pathname, { ...init, signal: AbortSignal.any(signals) });
      },
      { preconnect: fetch.preconnect },
    );

    async function legacy(options: Options = {}) {
      cut = new AbortController();
      const client = legacyClient(options);
      const reconnectionOptions = {
        initialReconnectionDelay: 20,
        maxReconnectionDelay: 100,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 100,
      };
      const url = new URL(`${nodes[0].http}/mcp`);
      await client.connect(new LegacyTransport(url, { fetch: spread, reconnectionOptions }));
      cleanups.push(() => client.close());
      return wrapped(client, (params, more) => client.callTool(params, undefined, more as object));
    }

    async function modern(options: Options = {}) {
      cut = new AbortController();
      const client = modernClient(options);
      let count = 0;
      /** Sends every request to the next node. */
      const next: typeof fetch = Object.assign(
        (input: string | URL | Request, init?: RequestInit) =>
          fetch((nodes[count++ % 3] ?? nodes[0]).http + new URL(String(input)).pathname, init),
        { preconnect: fetch.preconnect },
      );
      await client.connect(new ModernTransport(new URL(`${nodes[0].http}/mcp`), { fetch: next }));
      cleanups.push(() => client.close());
      return wrapped(client, (params, more) => client.callTool(params, more as object));
    }

    /** Collects the sessions that a client is notified about. */
    function notified() {
      const uris: string[] = [];
      const onUpdate = (uri: string | null) => void (uri !== null && uris.push(uri));
      const about = async (uri: string) => {
        await until(() => uris.includes(uri));
      };
      return { uris, onUpdate, about };
    }

    test('a subscription on one node is notified on another, and nothing else is', async () => {
      const { uris, onUpdate, about } = notified();
      const { client } = await legacy({ onUpdate });
      for (const session of ['wanted', 'other']) {
        await postJson(`${nodes[0].http}/v1/sessions/${session}/commands`, { type: 'session.create' });
      }
      if (!('subscribeResource' in client)) throw new Error('another client');
      await client.subscribeResource({ uri: uriOf('wanted') });
      for (const session of ['other', 'wanted']) {
        finish('Yes.');
        await submit(nodes[0], session, 'hello');
        await followed(nodes[0], session, has('turn.ended'));
      }
      await about(uriOf('wanted'));
      expect(uris).not.toContain(uriOf('other'));
      await client.unsubscribeResource({ uri: uriOf('wanted') });
      await client.subscribeResource({ uri: uriOf('other') });
      // The node of the notifications hears of the subscription from another one: it may miss the first change.
      // Notifications of the first turn that are still on their way come before this one.
      const url = `${nodes[0].http}/v1/sessions/other/commands`;
      const renamed = async (title: string): Promise<false> => {
        await postJson(url, { type: 'session.rename', title });
        return false;
      };
      let count = 0;
      const look = () => uris.includes(uriOf('other')) || renamed(`Other ${++count}`);
      await until(look, undefined, 500);
      uris.length = 0;
      for (const session of ['wanted', 'other']) {
        finish('Again.');
        await submit(nodes[0], session, 'hello');
        await followed(
          nodes[0],
          session,
          (events) => events.filter(({ type }) => type === 'turn.ended').length === 2,
        );
      }
      await about(uriOf('other'));
      expect(uris).not.toContain(uriOf('wanted'));
    });

    test('a call is cancelled by a message to another node', async () => {
      const { call } = await legacy();
      const stop = new AbortController();
      const asked = model.asked();
      const calling = call('send_message', { text: 'hello', session: 'mcp-cancel' }, { signal: stop.signal });
      const failed = calling.catch((error: unknown) => error);
      await asked;
      stop.abort();
      await failed;
      await followed(nodes[1], 'mcp-cancel', has('turn.cancelled'));
    });

    test('a form shown by one node is answered on another, and the call continues', async () => {
      const { turn, errors } = await legacy({ onForm: accept });
      touch('mcp.txt');
      finish('Done.');
      expect(await turn('send_message', { text: 'make it' })).toMatchObject({
        status: 'done',
        text: 'Done.',
      });
      expect(exists('mcp.txt')).toBeTrue();
      expect(errors).toEqual([]);
    });

    test('a call whose connection is lost is resumed on another node', async () => {
      const { turn } = await legacy();
      const begun = Promise.withResolvers<void>();
      const onprogress = () => begun.resolve();
      model.say('Half ');
      const calling = turn('send_message', { text: 'hello', session: 'mcp-resume' }, { onprogress });
      await begun.promise;
      cut.abort();
      finish('and whole.');
      expect(await calling).toMatchObject({ status: 'done', text: 'Half and whole.' });
      expect(
        (await durableOf(nodes[2], 'mcp-resume')).filter(({ type }) => type === 'turn.started'),
      ).toHaveLength(1);
    });

    test('since 2026 every request may reach another node', async () => {
      const { turn } = await modern({ onForm: accept });
      touch('modern.txt');
      finish('Done.');
      const made = await turn('send_message', { text: 'make it' });
      expect(made).toMatchObject({ status: 'done', text: 'Done.' });
      expect(exists('modern.txt')).toBeTrue();
      finish('More.');
      expect(await turn('send_message', { text: 'go on', session: made.session })).toMatchObject({
        text: 'More.',
      });
    });
  });

  describe('acp', () => {
    const editorAt = (node: 0 | 1 | 2, answer?: ConstructorParameters<typeof Editor>[0]['answer']) => {
      const editor = new Editor({ env: { PARLANCE_URL: nodes[node].http }, cwd: cluster.folder, answer });
      cleanups.push(() => editor.kill());
      return editor;
    };

    test('a prompt on one node is loaded and followed on another, and cancelled on a third', async () => {
      const [one, two, three] = [editorAt(0), editorAt(1), editorAt(2)];
      const session = await one.newSession(cluster.folder);
      const prompted = one.prompt(session, 'hello');
      model.say('One ');
      await one.until(() => one.text(session) === 'One ');
      await Promise.all([two.load(session), three.load(session)]);
      model.say('two ');
      await Promise.all(
        [one, two, three].map((editor) => editor.until(() => editor.text(session) === 'One two ')),
      );
      await three.cancel(session);
      expect(await prompted).toEqual({ stopReason: 'cancelled' });
      await followed(nodes[1], session, has('turn.cancelled'));
    });

    test('a permission requested on one node is granted on another, once', async () => {
      const [one, two] = [editorAt(0, whenWithdrawn), editorAt(1)];
      const session = await one.newSession(cluster.folder);
      touch('acp.txt');
      const prompted = one.prompt(session, 'make it');
      await one.until(() => one.permissions.length === 1);
      finish('Done.');
      await two.load(session);
      expect(await prompted).toEqual({ stopReason: 'end_turn' });
      expect(two.permissions).toHaveLength(1);
      await one.until(() => one.permissions[0]?.signal.aborted === true);
      await two.until(() => two.text(session).endsWith('Done.'));
      expect(exists('acp.txt')).toBeTrue();
      expect((await durableOf(nodes[2], session)).filter(({ type }) => type === 'tool.started')).toHaveLength(
        1,
      );
    });
  });
});
