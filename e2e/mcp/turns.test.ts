/** The turn of a call that is cancelled, disconnected or retried. */
import { afterEach, describe, expect, test } from 'bun:test';

import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Answer, dictatedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, submit } from '../server-process.ts';
import { connect, ERAS } from './clients.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function answering(...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
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
  test('a cancelled call ends the turn and the model request; the text so far is kept', async () => {
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

  test('cancelling a call while its message is queued cancels the message', async () => {
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

  test('cancel_turn ends the turn of another call, whose status is cancelled', async () => {
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

  test('an interrupted answer that is retried is replaced by the new one', async () => {
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

test('a client cannot cancel the call of another one with the same request id', async () => {
  const { model, server } = await answering(HALF, HALF);
  const abort = new AbortController();
  const init = { method: 'POST', headers: HEADERS, signal: abort.signal };
  for (const [session, headers, meta] of [
    ['one', { 'mcp-session-id': 'one' }, {}],
    ['two', {}, MODERN],
  ] as const)
    void fetch(`${server.http}/mcp`, {
      ...init,
      headers: { ...HEADERS, ...headers },
      body: callBody({ text: 'hi', session }, meta),
    }).catch(() => null);
  await until(() => model.requests.length >= 2);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const others: Record<string, string>[] = [
    {},
    { 'mcp-session-id': 'other' },
    { 'mcp-protocol-version': '2026-07-28' },
  ];
  for (const headers of others)
    await fetch(`${server.http}/mcp`, {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify(cancelled),
    });
  for (const session of ['one', 'two']) {
    // Commands are executed in order.
    await submit(server, session, 'more');
    const types = (await durableOf(server, session)).map(({ type }) => type);
    expect(types).not.toContain('turn.cancelled');
    expect(types.filter((type) => type === 'input.accepted')).toHaveLength(2);
  }
  abort.abort();
});

describe('a client that disconnects', () => {
  test.each(['text/event-stream', 'application/json'])('in 2026 ends the turn (%s)', async (accept) => {
    const { model, server } = await answering(HALF);
    const abort = new AbortController();
    const asked = fetch(`${server.http}/mcp`, {
      method: 'POST',
      headers: { ...HEADERS, accept },
      body: callBody({ text: 'hi', session: 'left' }, MODERN),
      signal: abort.signal,
    }).catch(() => null);
    await until(() => model.requests.length !== 0);
    abort.abort();
    await asked;
    await model.aborted;
    await followed(server, 'left', has('turn.cancelled'));
  });

  test('in 2025 does not end the turn, which can be read later', async () => {
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
