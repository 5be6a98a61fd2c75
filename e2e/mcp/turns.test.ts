/** What happens to the turn behind a call: taken back, hung up, broken off, and kills. */
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { dictatedModel } from '../dictated-model.ts';
import { type Answer, fakeModel } from '../fake-model.ts';
import { durableOf, followed, startProcess } from '../server-process.ts';
import { connect, ERAS, legacyClient, type McpClient, type Options, wrapped } from './clients.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function answering(...answers: Answer[]) {
  const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return { model, server };
}

const has =
  (...types: string[]) =>
  (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => types.includes(type));

const HALF: Answer = { say: 'Half an answer ', after: 'silence' };

describe.each(ERAS)('in %s', (era) => {
  test('a call that is taken back ends the turn and the request to the model; what was said is kept', async () => {
    const { model, server } = await answering(HALF);
    const client = await connect(era, server.http);
    cleanups.push(() => client.close());
    const abort = new AbortController();
    const call = client.turn(
      'send_message',
      { text: 'hi', session: 'left' },
      { signal: abort.signal, onprogress: () => abort.abort() },
    );
    await expect(call).rejects.toThrow();
    await model.aborted;
    const events = await followed(server, 'left', has('turn.cancelled'));
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ interrupted: true });
    const { structuredContent } = await client.call('read_session', { session: 'left' });
    expect(client.errors).toEqual([]);
    expect(structuredContent).toMatchObject({ messages: [{ text: 'hi' }, { text: 'Half an answer ' }] });
  });

  test('a call that is taken back while its message waits for another turn cancels the message', async () => {
    const { server } = await answering(HALF);
    const client = await connect(era, server.http);
    cleanups.push(() => client.close());
    const begun = Promise.withResolvers<void>();
    const first = client.turn(
      'send_message',
      { text: 'one', session: 'q' },
      { onprogress: () => begun.resolve() },
    );
    await begun.promise;
    const abort = new AbortController();
    const second = client.turn('send_message', { text: 'two', session: 'q' }, { signal: abort.signal });
    await followed(
      server,
      'q',
      (events) => events.filter(({ type }) => type === 'input.accepted').length === 2,
    );
    abort.abort();
    await expect(second).rejects.toThrow();
    await followed(server, 'q', has('input.cancelled'));
    expect((await client.call('cancel_turn', { session: 'q' })).structuredContent).toEqual({
      session: 'q',
      status: 'cancelled',
    });
    expect(await first).toMatchObject({ status: 'cancelled' });
    const { structuredContent } = await client.call('read_session', { session: 'q' });
    expect(JSON.stringify(structuredContent)).not.toContain('two');
  });

  test('cancel_turn ends the turn of another call, which is told so', async () => {
    const { model, server } = await answering(HALF);
    const client = await connect(era, server.http);
    cleanups.push(() => client.close());
    const begun = Promise.withResolvers<void>();
    const call = client.call(
      'send_message',
      { text: 'hi', session: 's' },
      { onprogress: () => begun.resolve() },
    );
    await begun.promise;
    await client.call('cancel_turn', { session: 's' });
    await model.aborted;
    const { structuredContent, isError } = await call;
    expect(structuredContent).toMatchObject({ session: 's', status: 'cancelled' });
    expect(isError).toBeUndefined();
    const again = await client.call('cancel_turn', { session: 's' });
    expect(again.isError).toBeTrue();
  });

  test('an answer that breaks off and is asked again is the new one alone', async () => {
    const { server } = await answering({ say: 'One thing ', after: 'cut' }, { say: 'Another thing.' });
    const client = await connect(era, server.http);
    cleanups.push(() => client.close());
    const turn = await client.turn('send_message', { text: 'hi' });
    expect(turn).toMatchObject({ status: 'done', text: 'Another thing.' });
    const { structuredContent } = await client.call('read_session', { session: turn.session });
    expect(structuredContent).toMatchObject({ messages: [{}, { text: 'Another thing.' }] });
  });
});

/** The body of a call, without a client. */
const callBody = (args: object, meta: object = {}) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'send_message', arguments: args, _meta: meta },
  });

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('a client that hangs up', () => {
  test.each(['text/event-stream', 'application/json'])('in 2026 ends the turn (%s)', async (accept) => {
    const { model, server } = await answering(HALF);
    const abort = new AbortController();
    const asked = fetch(`${server.http}/mcp`, {
      method: 'POST',
      headers: { ...HEADERS, accept },
      body: callBody({ text: 'hi', session: 'left' }, MODERN),
      signal: abort.signal,
    }).catch(() => null);
    while (model.requests.length === 0) await Bun.sleep(10);
    abort.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', has('turn.cancelled'));
  });

  test('in 2025 does not: the turn goes on, and is read later', async () => {
    const model = dictatedModel();
    cleanups.push(model.stop);
    const server = await startTestServer(model.settings);
    cleanups.push(() => server.stop());
    const abort = new AbortController();
    model.say('Half ');
    const body = callBody({ text: 'hi', session: 'left' }, { progressToken: 1 });
    const response = await fetch(`${server.http}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body,
      signal: abort.signal,
    });
    for await (const chunk of response.body ?? [])
      if (String(new TextDecoder().decode(chunk)).includes('Half')) break;
    abort.abort();
    model.say('and whole.');
    model.end();
    const events = await followed(server, 'left', has('turn.ended', 'turn.cancelled'));
    expect(events.at(-1)).toMatchObject({ type: 'turn.ended' });
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({ text: 'Half and whole.' });
  });
});

/** A client of 2025 whose connections can be cut. */
async function cuttable(http: string, options: Options = {}) {
  const cuts = new Set<AbortController>();
  const transport = new StreamableHTTPClientTransport(new URL(`${http}/mcp`), {
    fetch: async (url, init) => {
      const cut = new AbortController();
      cuts.add(cut);
      const signal = init?.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal;
      return fetch(url, { ...init, signal });
    },
    reconnectionOptions: {
      initialReconnectionDelay: 50,
      maxReconnectionDelay: 500,
      reconnectionDelayGrowFactor: 1.2,
      maxRetries: 100,
    },
  });
  const client = legacyClient(options);
  await client.connect(transport);
  const mcp: McpClient = wrapped(client, (params, more) =>
    client.callTool(params, undefined, more as object),
  );
  cleanups.push(() => mcp.close());
  const cut = () => {
    for (const one of cuts) one.abort();
  };
  return { mcp, transport, cut };
}

test('in 2025 a call goes on after its connection was lost, and so does its progress', async () => {
  const model = dictatedModel();
  cleanups.push(model.stop);
  const server = await startTestServer(model.settings);
  cleanups.push(() => server.stop());
  const { mcp, cut } = await cuttable(server.http);
  const values: number[] = [];
  const steps = [
    cut,
    () => {
      model.say('and whole.');
      model.end();
    },
  ];
  model.say('Half ');
  const turn = await mcp.turn(
    'send_message',
    { text: 'hi' },
    {
      onprogress: ({ progress }) => {
        values.push(progress);
        steps.shift()?.();
      },
    },
  );
  expect(turn).toMatchObject({ status: 'done', text: 'Half and whole.' });
  expect(values).toEqual([...new Set(values)].sort((one, other) => one - other));
  expect(steps).toBeEmpty();
  const events = await durableOf(server, turn.session);
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
});

describe('a server that is killed and started again', () => {
  function folder(): string {
    const made = mkdtempSync(join(tmpdir(), 'parlance-mcp-'));
    cleanups.push(() => rmSync(made, { recursive: true, force: true }));
    return made;
  }

  function modelOf(...answers: Answer[]) {
    const model = fakeModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
    cleanups.push(model.stop);
    return { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
  }

  test('in 2025: the call in flight is answered, and the client keeps its session id', async () => {
    const data = folder();
    const settings = modelOf(HALF, { say: 'A whole answer.' }, { say: 'And more.' });
    const first = await startProcess(data, settings);
    const { mcp, transport } = await cuttable(first.http);
    const session = transport.sessionId;
    const begun = Promise.withResolvers<void>();
    const call = mcp.turn('send_message', { text: 'hi' }, { onprogress: () => begun.resolve() });
    await begun.promise;
    await first.kill();
    const second = await startProcess(data, { ...settings, PORT: new URL(first.http).port });
    cleanups.push(() => second.kill());
    const turn = await call;
    expect(turn).toMatchObject({ status: 'done', text: 'A whole answer.' });
    const next = await mcp.turn('send_message', { text: 'go on', session: turn.session });
    expect(next).toMatchObject({ session: turn.session, text: 'And more.' });
    expect(transport.sessionId).toBe(session);
    const events = await durableOf(second, turn.session);
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2);
  }, 60_000);

  test.each(ERAS)(
    'in %s: a form that was shown before is answered after it',
    async (era) => {
      const data = folder();
      const settings = modelOf(
        { call: 'shell', input: { command: ['touch', 'a.txt'] } },
        { say: 'Made it.' },
      );
      const first = await startProcess(data, settings);
      const shown = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<{ action: 'accept'; content: { answer: string } }>();
      const onForm = () => {
        shown.resolve();
        return answer.promise;
      };
      const mcp =
        era === '2025'
          ? (await cuttable(first.http, { onForm })).mcp
          : await connect(era, first.http, { onForm });
      cleanups.push(() => mcp.close());
      const call = mcp.turn('send_message', { text: 'touch it', session: 'asked' });
      await shown.promise;
      await first.kill();
      const second = await startProcess(data, { ...settings, PORT: new URL(first.http).port });
      cleanups.push(() => second.kill());
      answer.resolve({ action: 'accept', content: { answer: 'once' } });
      expect(await call).toMatchObject({ session: 'asked', status: 'done', text: 'Made it.' });
      expect(existsSync(join(data, 'a.txt'))).toBeTrue();
      const events = await durableOf(second, 'asked');
      expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'approval.answered')).toHaveLength(1);
    },
    60_000,
  );
});
