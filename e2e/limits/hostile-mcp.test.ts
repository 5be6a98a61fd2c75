/** MCP servers that flood: they are disconnected with a reason; other sessions and servers are not affected. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { MISBEHAVING } from '../../packages/server/src/testing/tools/mcp.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { followed, getJson, submit } from '../server-process.ts';

type Servers = {
  servers: { name: string; state: string; tools: string[]; error: { message: string } | null }[];
};

const PROGRAM = join(import.meta.dir, 'hostile-mcp-server.ts');
const MESSAGES = 'closed: the server sent too many messages';
const SIZE = 'closed: the server sent a message that is too large';
const LOG = 'closed: the server wrote too much to standard error';

test.each([
  ['stdio', 'list_changed', MESSAGES],
  ['stdio', 'requests', MESSAGES],
  ['stdio', 'questions', MESSAGES],
  ['stdio', 'large ids', /an id of the server is too long/],
  ['stdio', 'empty lines', MESSAGES],
  ['stdio', 'an endless line', SIZE],
  ['stdio', 'small values', SIZE],
  ['stdio', 'log lines', LOG],
  ['stdio', 'an endless log line', LOG],
  ['http', 'list_changed', MESSAGES],
  ['http', 'requests', /too many messages|unanswered/],
  ['http', 'questions', /too many messages|unanswered/],
  ['http', 'empty lines', MESSAGES],
  ['http', 'an endless line', SIZE],
  ['http', 'small values', SIZE],
  ['http', 'endless JSON', SIZE],
  ['http', 'a gzip bomb', SIZE],
  ['http', 'a batch', MESSAGES],
  ['http', 'reconnections', MESSAGES],
])(
  'over %s, a flood of %s ends the connection, and other sessions go on',
  async (transport, flood, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-hostile-'));
    const command = { command: process.execPath, args: [PROGRAM, transport, flood], cwd: folder };
    const child =
      transport === 'http'
        ? Bun.spawn([command.command, ...command.args], { cwd: folder, stdout: 'ignore', stderr: 'inherit' })
        : null;
    const exists = (name: string) => Bun.file(join(folder, name)).exists();
    try {
      // The file is empty for a moment after it was created.
      const port = async () => (await exists('port')) && Bun.file(join(folder, 'port')).text();
      const hostile = child ? { url: `http://127.0.0.1:${await until(port)}/mcp` } : command;
      const good = { command: process.execPath, args: [MISBEHAVING], cwd: folder };
      const config = join(folder, 'parlance.json');
      await Bun.write(config, JSON.stringify({ mcpServers: { hostile, good } }));
      const server = await startTestServer({ PARLANCE_CONFIG: config });
      try {
        const cards = async () => (await getJson<Servers>(`${server.http}/v1/admin/mcp`)).servers;
        await until(() => exists('flooding'));
        await submit(server, 'other', 'Hello.');
        const events = await followed(server, 'other', (seen) =>
          seen.some(({ type }) => type === 'turn.ended'),
        );
        expect(events.at(-1)?.type).toBe('turn.ended');
        const card = async (name: string) => (await cards()).find((shown) => shown.name === name);
        const closed = await until(
          async () => (await card('hostile'))?.error,
          async () => JSON.stringify(await card('hostile')),
        );
        expect(closed.message).toMatch(reason);
        expect((await card('hostile'))?.state).toBe('away');
        expect(await card('good')).toMatchObject({ state: 'ready', error: null });
      } finally {
        await server.stop();
      }
    } finally {
      child?.kill('SIGKILL');
      await child?.exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
