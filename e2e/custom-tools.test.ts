/** Tools of the operator: modules that the server loads and runs in its own process. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnParlance } from '../packages/cli/src/testing/run-parlance.ts';
import type { DurableEvent, JsonObject } from '../packages/protocol/src/index.ts';
import { connect } from '../packages/sdk/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, getJson, postJson } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-custom-tools-'));

const MODULE = `
import { defineTool, ToolError, z } from '@parlance/sdk/tools';

const common = { description: 'A tool for tests.', approval: 'never' } as const;
const any = z.looseObject({});

export const text = defineTool({ ...common, name: 'text', parameters: any, run: () => 'plain text' });
export const json = defineTool({
  ...common,
  name: 'json',
  parameters: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
  run: ({ count }, { session, user, folder }) => ({ count, session, user, folder }),
});
export const nothing = defineTool({ ...common, name: 'nothing', parameters: any, run: () => undefined });
export const parts = defineTool({
  ...common,
  name: 'parts',
  parameters: any,
  run: () => ({ parts: [{ type: 'text', text: 'a dot' }, { type: 'image', mime: 'image/png', data: 'AAAA' }] }),
});
export const long = defineTool({ ...common, name: 'long', parameters: any, run: () => 'x'.repeat(1_000_000) });
export const large = defineTool({
  ...common,
  name: 'large',
  parameters: any,
  run: () => ({ parts: [{ type: 'image', mime: 'image/png', data: 'A'.repeat(5_000_000) }] }),
});
export const refuses = defineTool({
  ...common,
  name: 'refuses',
  parameters: any,
  run: () => {
    throw new ToolError('There is no such city.');
  },
});
export const breaks = defineTool({
  ...common,
  name: 'breaks',
  parameters: any,
  run: async () => {
    throw new Error('password hunter2');
  },
});
export const slow = defineTool({
  ...common,
  name: 'slow',
  parameters: any,
  timeoutMs: 20,
  run: () => new Promise(() => undefined),
});
export const waits = defineTool({
  ...common,
  name: 'waits',
  parameters: any,
  run: (_, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        globalThis.ownToolWasAborted?.();
        resolve('aborted');
      });
      globalThis.ownToolStarted?.();
    }),
});
export const asks = defineTool({ name: 'asks', description: 'Asks by default.', parameters: any, run: () => 'ran' });
export const sometimes = defineTool({
  name: 'sometimes',
  description: 'Asks for large numbers.',
  parameters: z.object({ n: z.number() }),
  approval: ({ n }) => (n < 10 ? null : \`Uses \${n}.\`),
  run: ({ n }) => String(n),
});
export const forgets = defineTool({
  name: 'forgets',
  description: 'Its approval returns nothing.',
  parameters: any,
  approval: () => {},
  run: () => 'ran',
});
export const mail = defineTool({ ...common, name: 'mail', parameters: any, untrusted: true, run: () => 'a mail' });
`;

let server: TestServer;
beforeAll(async () => {
  writeFileSync(join(folder, 'tools.ts'), MODULE);
  server = await startTestServer({ PARLANCE_TOOLS: join(folder, 'tools.ts') });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const isOver = (events: readonly DurableEvent[]): boolean =>
  events.some(({ type }) => type === 'tool.ended' || type === 'approval.requested');

let sessions = 0;

/** Calls the tool without a model, and waits for its end or for an approval. */
async function call(tool: string, input: JsonObject = {}) {
  const session = `s${sessions++}`;
  const command = { type: 'input.submit', parts: [], call: { tool, input } };
  const { status, body } = await postJson(`${server.http}/v1/sessions/${session}/commands`, command);
  if (status !== 200) return { session, refused: body };
  const events = await followed(server, session, isOver);
  return {
    session,
    ended: events.find((event) => event.type === 'tool.ended'),
    asked: events.find((event) => event.type === 'approval.requested')?.ask,
  };
}

const textOf = (result: Awaited<ReturnType<typeof call>>): string =>
  result.ended?.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('|') ?? '';

describe('a tool', () => {
  test('is offered to the model with its parameters, and its result returns to the model', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { say: 'Done.' } : { call: 'json', input: { count: 3 } },
    );
    const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
    const asked = await startTestServer({ ...settings, PARLANCE_TOOLS: join(folder, 'tools.ts') });
    await connect({ url: asked.http }).session('m').ask('Do it.');
    const offered = model.requests[0]?.tools?.find((tool) => tool.function.name === 'json');
    expect(offered).toMatchObject({
      function: { parameters: { type: 'object', properties: { count: { type: 'integer' } } } },
    });
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('\\"count\\":3');
    await asked.stop();
    model.stop();
  });

  test('is listed for clients with its approval requirement', async () => {
    const headers = { authorization: `Bearer ${await server.login('dev', 'dev-password')}` };
    const listed = await getJson<object[]>(`${server.http}/v1/tools`, headers);
    for (const [name, requires_approval] of [
      ['sometimes', true],
      ['text', false],
    ])
      expect(listed).toContainEqual(expect.objectContaining({ name, requires_approval }));
  });

  test('returns text, JSON, nothing, or parts', async () => {
    expect(textOf(await call('text'))).toBe('plain text');
    const result = await call('json', { count: 3 });
    expect(result.ended?.data).toEqual({
      count: 3,
      session: result.session,
      user: 'local',
      folder: server.root,
    });
    expect(JSON.parse(textOf(result))).toMatchObject({ count: 3 });
    expect(textOf(await call('nothing'))).toBe('(no output)');
    expect(textOf(await call('parts'))).toBe('a dot|image');
  });

  test('cannot return more than the limits', async () => {
    const text = textOf(await call('long'));
    expect(text.length).toBeLessThan(101_000);
    expect(text).toContain('left out');
    expect(textOf(await call('large'))).toContain('image/png of 3750000 bytes left out');
  });

  test('is not called with invalid input', async () => {
    for (const [tool, input] of [
      ['json', {}],
      ['json', { count: 1.5 }],
      ['sometimes', { n: 'x' }],
    ] as const)
      expect((await call(tool, input)).refused).toMatchObject({ error: expect.anything() });
  });

  test('reports a ToolError to the model, and no other error', async () => {
    const refused = await call('refuses');
    expect([refused.ended?.outcome, textOf(refused)]).toEqual(['failed', 'There is no such city.']);
    const broken = await call('breaks');
    expect([broken.ended?.outcome, textOf(broken)]).toEqual(['failed', 'Something went wrong.']);
  });

  test('is stopped after its timeout', async () => {
    const { ended } = await call('slow');
    expect(ended).toMatchObject({ outcome: 'failed', parts: [{ text: expect.stringContaining('20 ms') }] });
  });

  test('is aborted when the turn is cancelled', async () => {
    const [started, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    Object.assign(globalThis, { ownToolStarted: started.resolve, ownToolWasAborted: aborted.resolve });
    const command = { type: 'input.submit', parts: [], call: { tool: 'waits', input: {} } };
    await postJson(`${server.http}/v1/sessions/waits/commands`, command);
    await started.promise;
    await connect({ url: server.http }).session('waits').cancel();
    await aborted.promise;
  });

  test('can mark its results as untrusted', async () => {
    expect((await call('mail')).ended?.untrusted).toBe(true);
    expect((await call('text')).ended?.untrusted).toBeUndefined();
  });
});

describe('approval', () => {
  test('is needed by default, and if a function returns nothing', async () => {
    expect((await call('asks')).asked).toMatchObject({
      kind: 'other',
      command: ['asks', '{}'],
      grant: 'own:asks',
    });
    expect((await call('forgets')).asked).toMatchObject({ description: 'Uses the tool forgets.' });
  });

  test('is decided by a function of the input', async () => {
    expect((await call('sometimes', { n: 3 })).ended?.outcome).toBe('ok');
    expect((await call('sometimes', { n: 30 })).asked).toMatchObject({ description: 'Uses 30.' });
  });

  test('of “always” lasts for the session', async () => {
    const { session, asked } = await call('asks');
    expect(asked).toBeDefined();
    const handle = connect({ url: server.http }).session(session);
    await handle.resume({ onApproval: () => 'always' });
    const command = { type: 'input.submit', parts: [], call: { tool: 'asks', input: { again: true } } };
    await postJson(`${server.http}/v1/sessions/${session}/commands`, command);
    const events = await followed(
      server,
      session,
      (so) => so.filter(({ type }) => type === 'tool.ended').length === 2,
    );
    expect(events.filter(({ type }) => type === 'approval.requested')).toHaveLength(1);
  });
});

describe('a module', () => {
  test('that cannot be used stops the start with one line', async () => {
    const place = mkdtempSync(join(folder, 'wrong-'));
    writeFileSync(join(place, 'wrong.ts'), 'export const tool = 1;');
    const words = ['serve', '--port', '0', '--data', join(place, 'data'), '--tools', 'wrong.ts'];
    const child = spawnParlance(words, { cwd: place });
    const [text, code] = await Promise.all([child.stderr.text(), child.exited]);
    const reason = `the tool module ${join(place, 'wrong.ts')} exports something that is not a tool`;
    expect([code, text]).toEqual([1, `parlance: ${reason}\n`]);
  });

  test('in the config file is named from the folder of the file', async () => {
    const place = mkdtempSync(join(folder, 'file-'));
    writeFileSync(join(place, 'tools.ts'), MODULE);
    writeFileSync(join(place, 'config.json'), JSON.stringify({ tools: ['tools.ts'] }));
    const other = await startTestServer({ PARLANCE_CONFIG: join(place, 'config.json') });
    const command = { type: 'input.submit', parts: [], call: { tool: 'text', input: {} } };
    expect((await postJson(`${other.http}/v1/sessions/a/commands`, command)).status).toBe(200);
    await other.stop();
  });

  test('in the working directory cannot be changed by tools', async () => {
    const place = mkdtempSync(join(folder, 'work-'));
    const path = join(place, 'tools', 'own.ts');
    await Bun.write(path, MODULE);
    const other = await startTestServer({ PARLANCE_TOOLS: path, WORKING_DIRECTORY: place });
    const session = connect({ url: other.http }).session('a');
    for (const input of ['create file tools/own.ts with x', 'create file tools/new.ts with x'])
      await session.ask(input, { onApproval: () => 'once' });
    const calls = (await Array.fromAsync(session.history())).filter((event) => event.type === 'tool.ended');
    expect(calls.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    await session.ask('run sh -c "echo x > tools/own.ts"', { onApproval: () => 'once' });
    expect(readFileSync(path, 'utf8')).toBe(MODULE);
    await other.stop();
  });
});
