/** Calls continue after connections are lost and servers are killed. */
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, dictatedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, startProcess } from '../server-process.ts';
import {
  connect,
  ERAS,
  legacyClient,
  type McpClient,
  type Options,
  reconnectionOptions,
  wrapped,
} from './clients.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HALF: Answer = { say: 'Half an answer ', after: 'silence' };

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
    reconnectionOptions,
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

test('in 2025 a call and its progress continue after its connection was lost', async () => {
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

describe('a server that is killed and restarted', () => {
  function folder(): string {
    const made = mkdtempSync(join(tmpdir(), 'parlance-mcp-'));
    cleanups.push(() => rmSync(made, { recursive: true, force: true }));
    return made;
  }

  function modelOf(...answers: Answer[]) {
    const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
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
  });

  test.each(ERAS)('in %s: a form that was shown before is answered after it', async (era) => {
    const data = folder();
    const settings = modelOf({ call: 'shell', input: { command: ['touch', 'a.txt'] } }, { say: 'Made it.' });
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
  });
});
