/** The operator's tools, prompts and resources, for MCP clients. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { connect, ERAS } from './clients.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-mcp-own-'));
const file = (name: string, source: string): string => {
  writeFileSync(join(folder, name), source);
  return join(folder, name);
};

const MODULE = `
import { defineTool, definePrompt, defineResource, ToolError, z } from '@parlance/sdk/tools';
`;

let server: TestServer;
beforeAll(async () => {
  const tools = file(
    'tools.ts',
    `${MODULE}
let runs = 0;
export const count = defineTool({
  name: 'count_runs',
  description: 'Counts.',
  parameters: z.object({ by: z.int() }),
  approval: 'never',
  unknownField: true,
  run: ({ by }, { user }) => ({ runs: (runs += by), user }),
});
export const asks = defineTool({ name: 'asks_first', description: 'Asks.', parameters: z.object({}), run: () => 'ran ' + ++runs });
export const secret = defineTool({
  name: 'breaks',
  description: 'Breaks.',
  parameters: z.object({}),
  approval: 'never',
  run: () => { throw new Error('password hunter2'); },
});
export const hidden = defineTool({
  name: 'hidden_now',
  description: 'Not there.',
  parameters: z.object({}),
  approval: 'never',
  available: () => false,
  run: () => 'ran',
});
`,
  );
  const prompts = file(
    'prompts.ts',
    `${MODULE}
export const greet = definePrompt({
  name: 'greet',
  description: 'Greets.',
  arguments: [{ name: 'who', required: true, complete: (value) => ['Ada', 'Alan'].filter((one) => one.startsWith(value)) }],
  run: ({ who }) => 'Greet ' + who,
});
`,
  );
  const resources = file(
    'resources.ts',
    `${MODULE}
export const note = defineResource({
  uri: 'notes://{id}',
  name: 'note',
  mime: 'text/plain',
  read: ({ id }) => (id === 'one' ? 'first note' : null),
});
`,
  );
  server = await startTestServer({
    PARLANCE_TOOLS: tools,
    PARLANCE_PROMPTS: prompts,
    PARLANCE_RESOURCES: resources,
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(ERAS)('in %s', (era) => {
  const open = async () => connect(era, server.http);

  test('own tools are listed beside those of the server, without hidden ones', async () => {
    const { client, close } = await open();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['send_message', 'count_runs', 'asks_first']));
    expect(names).not.toContain('hidden_now');
    await expect(client.callTool({ name: 'hidden_now', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    });
    await close();
  });

  test('a call runs once, and its result has text and data', async () => {
    const { client, close } = await open();
    const first = await client.callTool({ name: 'count_runs', arguments: { by: 1 } });
    const second = await client.callTool({ name: 'count_runs', arguments: { by: 1 } });
    const runs = (result: typeof first) => (result.structuredContent as { runs: number }).runs;
    expect(runs(second) - runs(first)).toBe(1);
    expect(first).toMatchObject({ structuredContent: { user: 'local' }, content: [{ type: 'text' }] });
    await close();
  });

  test('invalid arguments and failures are results with isError; a bug is not shown', async () => {
    const { client, close } = await open();
    expect(await client.callTool({ name: 'count_runs', arguments: { by: 'x' } })).toMatchObject({
      isError: true,
    });
    const broken = await client.callTool({ name: 'breaks', arguments: {} });
    expect(broken.isError).toBe(true);
    expect(JSON.stringify(broken)).not.toContain('hunter2');
    await close();
  });

  test('a call that needs approval waits, and nothing runs without it', async () => {
    const { client, close } = await open();
    const { structuredContent } = await client.callTool({ name: 'asks_first', arguments: {} });
    const { status, approval } = structuredContent as {
      status: string;
      approval: { id: string; tool: string };
    };
    expect({ status, tool: approval.tool }).toEqual({ status: 'waiting', tool: 'asks_first' });
    const denied = await client.callTool({
      name: 'answer_approval',
      arguments: { approval: approval.id, answer: 'deny' },
    });
    expect(JSON.stringify(denied)).not.toContain('ran ');
    await close();
  });

  test('prompts are listed, completed and read', async () => {
    const { client, close } = await open();
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'greet' }]);
    const ref = { type: 'ref/prompt', name: 'greet' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'who', value: 'Al' } });
    expect(completion.values).toEqual(['Alan']);
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text', text: 'Greet Ada' } }]);
    await expect(client.getPrompt({ name: 'greet' })).rejects.toMatchObject({ code: -32_602 });
    await close();
  });

  test('resources of a template are read; one that is not there is not found', async () => {
    const { client, close } = await open();
    expect((await client.readResource({ uri: 'notes://one' })).contents).toMatchObject([
      { uri: 'notes://one', text: 'first note' },
    ]);
    await expect(client.readResource({ uri: 'notes://two' })).rejects.toMatchObject({
      code: era === '2026' ? -32_602 : -32_002,
    });
    await close();
  });
});

test('calls leave no sessions in lists', async () => {
  const { call, close } = await connect('2025', server.http);
  await call('count_runs', { by: 1 });
  expect(JSON.stringify(await call('list_sessions'))).not.toContain('count_runs');
  await close();
});
