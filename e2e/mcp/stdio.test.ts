/** `parlance mcp`, started by the official clients like by editors. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawnParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, scriptedModel } from '../scripted-model.ts';
import { durableOf, startProcess } from '../server-process.ts';
import {
  connect,
  ERAS,
  type Era,
  legacyClient,
  type McpClient,
  modernClient,
  type Options,
  wrapped,
} from './clients.ts';

const PARLANCE = join(import.meta.dir, '../../packages/cli/bin/parlance');

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'parlance-mcp-'));
  cleanups.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Starts `parlance mcp` with these variables. */
async function started(era: Era, env: Record<string, string>, options: Options = {}): Promise<McpClient> {
  const cwd = folder();
  const parameters = {
    command: 'sh',
    args: [PARLANCE, 'mcp'],
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cwd,
      LOG_LEVEL: 'silent',
      WORKING_DIRECTORY: cwd,
      PARLANCE_DATA: join(cwd, 'data'),
      ...env,
    },
  };
  const client = await connected(era, parameters, options);
  cleanups.push(() => client.close());
  return client;
}

async function connected(
  era: Era,
  parameters: ConstructorParameters<typeof LegacyStdio>[0],
  options: Options,
) {
  if (era === '2026') {
    const client = modernClient(options);
    await client.connect(new ModernStdio(parameters));
    return wrapped(client, (params, more) => client.callTool(params, more as object));
  }
  const client = legacyClient(options);
  await client.connect(new LegacyStdio(parameters));
  return wrapped(client, (params, more) => client.callTool(params, undefined, more as object));
}

function answering(...answers: Answer[]) {
  const model = scriptedModel((_, count) => answers[count - 1] ?? { say: 'No more.' });
  cleanups.push(model.stop);
  return { model, settings: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' } };
}

async function serverWith(...answers: Answer[]) {
  const { model, settings } = answering(...answers);
  const server = await startTestServer(settings);
  cleanups.push(() => server.stop());
  return { model, server, env: { PARLANCE_URL: server.http } };
}

const PLACES = ['alone', 'as a bridge'] as const;

/** The model behind `parlance mcp`, and the variables to start it with. */
const MODELS = {
  alone: async (...answers: Answer[]) => {
    const { model, settings } = answering(...answers);
    return { model, env: settings };
  },
  'as a bridge': serverWith,
};

describe.each(ERAS)('in %s', (era) => {
  test('alone, it answers with an agent in its own process', async () => {
    const { settings } = answering({ say: 'Alone.' });
    const client = await started(era, settings);
    expect(client.client.getServerVersion()).toMatchObject({ name: 'parlance' });
    expect(await client.turn('send_message', { text: 'hi' })).toMatchObject({
      status: 'done',
      text: 'Alone.',
    });
  });

  test('as a bridge, it works for the user of the token in the running server', async () => {
    const { server, env } = await serverWith({ say: 'One.' }, { say: 'Two.' });
    const token = await server.login('dev', 'dev-password');
    const client = await started(era, { ...env, PARLANCE_TOKEN: token });
    const { session } = await client.turn('send_message', { text: 'hi' });
    const direct = await connect(era, server.http, { token });
    cleanups.push(() => direct.close());
    expect(await direct.turn('send_message', { text: 'go on', session })).toMatchObject({
      session,
      text: 'Two.',
    });
    const { structuredContent } = await client.call('read_session', { session });
    expect(structuredContent).toMatchObject({ messages: [{}, { text: 'One.' }, {}, { text: 'Two.' }] });
  });

  test.each(PLACES)('%s: forms are shown', async (place) => {
    const { env } = await MODELS[place](
      { call: 'shell', input: { command: ['touch', 'a.txt'] } },
      { say: 'Made it.' },
    );
    const shown: string[] = [];
    const client = await started(era, env, {
      onForm: ({ message }) => {
        shown.push(message);
        return { action: 'accept', content: { answer: 'once' } };
      },
    });
    const turn = await client.turn('send_message', { text: 'touch it' });
    expect(turn).toMatchObject({ status: 'done', text: 'Made it.' });
    expect(shown).toEqual([expect.stringContaining('touch a.txt')]);
  });

  test.each(PLACES)('%s: a declined form denies the call, and the agent continues', async (place) => {
    const { env } = await MODELS[place](
      { call: 'shell', input: { command: ['touch', 'a.txt'] } },
      { say: 'Then not.' },
    );
    const client = await started(era, env, { onForm: () => ({ action: 'decline' }) });
    const { text, session } = await client.turn('send_message', { text: 'touch it' });
    expect(text).toBe('Then not.');
    const { structuredContent } = await client.call('read_session', { session });
    expect(structuredContent).toMatchObject({ messages: [{}, { text: 'Then not.' }] });
  });

  test.each(PLACES)('%s: progress is passed on, and cancelling a call ends the turn', async (place) => {
    const { model, env } = await MODELS[place]({ say: 'Half ', after: 'silence' }, { say: 'Whole.' });
    const client = await started(era, env);
    const abort = new AbortController();
    const options = { signal: abort.signal, onprogress: () => abort.abort() };
    await expect(client.turn('send_message', { text: 'hi', session: 'left' }, options)).rejects.toThrow();
    await model.aborted;
    expect(await client.turn('send_message', { text: 'again', session: 'left' })).toMatchObject({
      status: 'done',
      text: 'Whole.',
    });
    const { structuredContent } = await client.call('read_session', { session: 'left' });
    const { messages } = structuredContent as { messages: { text: string }[] };
    expect(messages.map(({ text }) => text)).toEqual(['hi', 'Half ', 'again', 'Whole.']);
  });

  test('notifications about resources are passed on', async () => {
    const { env } = await serverWith({ say: 'One.' }, { say: 'Two.' });
    const updated = Promise.withResolvers<string>();
    const client = await started(era, env, { onUpdate: (uri) => uri && updated.resolve(uri) });
    await client.turn('send_message', { text: 'hi', session: 'watched' });
    const uri = 'parlance://sessions/watched';
    if ('listen' in client.client) await client.client.listen({ resourceSubscriptions: [uri] });
    else await client.client.subscribeResource({ uri });
    await client.turn('send_message', { text: 'more', session: 'watched' });
    expect(await updated.promise).toBe(uri);
  });

  test('an invalid token is an error of the first request', async () => {
    const { env } = await serverWith();
    await expect(started(era, { ...env, PARLANCE_TOKEN: 'a.b.c' })).rejects.toThrow();
  });
});

test('the client continues after the server was killed and restarted', async () => {
  const { settings } = answering({ say: 'Before.' }, { say: 'After.' });
  const data = folder();
  const first = await startProcess(data, settings);
  const port = new URL(first.http).port;
  const client = await started('2025', { PARLANCE_URL: first.http });
  const { session } = await client.turn('send_message', { text: 'one' });
  await first.kill();
  await expect(client.turn('send_message', { text: 'too early', session })).rejects.toMatchObject({
    code: -32_000,
  });
  const second = await startProcess(data, { ...settings, PORT: port });
  cleanups.push(() => second.kill());
  expect(await client.turn('send_message', { text: 'two', session })).toMatchObject({
    session,
    text: 'After.',
  });
  const events = await durableOf(second, session);
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2);
});

test('invalid lines are answered with errors, and nothing else is written', async () => {
  const cwd = folder();
  const input = [
    '{',
    '17',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":2,"method":"nothing"}',
  ].join('\n');
  const env = { LOG_LEVEL: 'debug', PARLANCE_DATA: join(cwd, 'data'), WORKING_DIRECTORY: cwd };
  const child = spawnParlance(['mcp'], { cwd, env, input });
  const lines = (await child.stdout.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(await child.exited).toBe(0);
  expect(lines).toHaveLength(4);
  const codes = lines.map(({ id, error }) => [id, error?.code]);
  expect(codes).toEqual(
    expect.arrayContaining([
      [null, -32_700],
      [1, undefined],
      [2, -32_601],
    ]),
  );
});
