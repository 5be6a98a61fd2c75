/** A key that is stored in the console belongs to the address it was entered for: at restarts and in `doctor`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, runParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { durableOf, getJson, type ServerProcess, startProcess, submit } from './server-process.ts';

const KEY = 'sk-stored-hunter2hunter2';

type Settings = {
  readonly version: number;
  readonly problem: string | null;
  readonly secrets: readonly string[];
  readonly keyProblems: Readonly<Record<string, string>>;
};
type Check = { readonly name: string; readonly state: string };

/** A server with the Chat Completions API that needs a key and records what it gets. */
function modelServer() {
  const keys: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const key = request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? 'none';
      keys.push(key);
      if (!key.includes(KEY)) return Response.json({ error: { message: 'No key.' } }, { status: 401 });
      if (new URL(request.url).pathname === '/v1/models') return Response.json({ data: [{ id: 'm' }] });
      const chunk = { choices: [{ index: 0, delta: { content: 'OK' }, finish_reason: 'stop' }] };
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, keys, stop: () => server.stop(true) };
}

let first: ReturnType<typeof modelServer>;
let second: ReturnType<typeof modelServer>;
const folders: string[] = [];

beforeAll(() => {
  first = modelServer();
  second = modelServer();
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-stored-keys-'));
  folders.push(folder);
  return folder;
}

const settingsOf = ({ http }: ServerProcess) => getJson<Settings>(`${http}/v1/admin/settings`);

async function change(server: ServerProcess, values: object): Promise<void> {
  const { version } = await settingsOf(server);
  const response = await fetch(`${server.http}/v1/admin/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ version, values }),
  });
  if (!response.ok) throw new Error(await response.text());
}

/** The end of a turn in a new session, as text. */
async function turnOf(server: ServerProcess, session: string): Promise<string> {
  await submit(server, session, 'hello');
  const events = await until(async () => {
    const events = await durableOf(server, session);
    return events.some(({ type }) => type === 'turn.ended' || type === 'turn.failed') && events;
  });
  return JSON.stringify(events);
}

const doctor = (folder: string, env: Record<string, string> = {}): Promise<Outcome> =>
  runParlance(['doctor', '--json'], {
    cwd: folder,
    env: { PARLANCE_DATA: join(folder, 'data'), WORKING_DIRECTORY: folder, PORT: '9', ...env },
  });

const checksOf = ({ stdout }: Outcome): Record<string, Check> =>
  Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Check)
      .map((check) => [check.name, check]),
  );

test('doctor tests what is stored in the console, next to the server and without it', async () => {
  const folder = newFolder();
  const expected = {
    settings: { state: 'good' },
    openai: {
      state: 'good',
      about: `API key stored in the console; address ${first.url} stored in the console`,
    },
    anthropic: {
      state: 'good',
      about: `API key from ANTHROPIC_API_KEY; address ${first.url.replace(/\/v1$/, '')} from ANTHROPIC_BASE_URL; lists its models`,
    },
    model: { state: 'good', about: 'm (openai) answers' },
  };
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: first.url.replace(/\/v1$/, '') };
  {
    await using server = await startProcess(folder);
    await change(server, { provider: 'openai', openaiBaseUrl: first.url, openaiKey: KEY, model: 'm' });
    const outcome = await doctor(folder, env);
    expect([checksOf(outcome), outcome.stderr]).toMatchObject([expected, '']);
    expect(outcome.stdout).not.toContain(KEY);
    expect(await server.terminate()).toBe(0);
  }
  expect(checksOf(await doctor(folder, env))).toMatchObject(expected);
  const otherSecret = await doctor(folder, { AUTH_SECRET: 'x'.repeat(32) });
  expect([otherSecret.code, checksOf(otherSecret)]).toMatchObject([
    1,
    { settings: { state: 'bad', about: expect.stringContaining('another AUTH_SECRET') } },
  ]);
});

test('a stored key is not sent to another address that is set at the start', async () => {
  const folder = newFolder();
  {
    await using server = await startProcess(folder, { OPENAI_BASE_URL: first.url });
    await change(server, { provider: 'openai', openaiKey: KEY, model: 'm' });
    expect(await turnOf(server, 'right')).toContain('"text":"OK"');
    await server.terminate();
  }
  const moved = { OPENAI_BASE_URL: second.url };
  const problem = `the stored API key of openai was entered for ${first.url} and is not sent to ${second.url}: enter it again in the model settings of the console, or set OPENAI_API_KEY beside the address`;
  {
    await using server = await startProcess(folder, { ...moved, LOG_LEVEL: 'warn' });
    await server.logged('stored API key is not used');
    expect(await settingsOf(server)).toMatchObject({
      problem: null,
      secrets: ['openaiKey'],
      keyProblems: { openaiKey: `T${problem.slice(1)}.` },
    });
    expect(await turnOf(server, 'withheld')).toContain('the stored one was entered for another address');
    const outcome = await doctor(folder, moved);
    expect([outcome.code, checksOf(outcome)]).toMatchObject([
      1,
      {
        openai: { state: 'missing', advice: problem },
        model: { state: 'bad', about: expect.stringContaining('was entered for another address') },
      },
    ]);
    expect(new Set(second.keys)).toEqual(new Set(['none']));

    await change(server, { openaiKey: KEY });
    expect((await settingsOf(server)).keyProblems).toEqual({});
    expect(await turnOf(server, 'entered')).toContain('"text":"OK"');
    await server.terminate();
  }
  const sameAddress = { OPENAI_BASE_URL: `${second.url}/` };
  expect(checksOf(await doctor(folder, sameAddress))).toMatchObject({ model: { state: 'good' } });
});

test('without the address that was set at the start, a stored key is not sent to the vendor', async () => {
  const folder = newFolder();
  {
    await using server = await startProcess(folder, { OPENAI_BASE_URL: first.url });
    await change(server, { openaiKey: KEY });
    await server.terminate();
  }
  await using server = await startProcess(folder);
  expect((await settingsOf(server)).problem).toContain(
    `was entered for ${first.url} and is not sent to https://api.openai.com/v1`,
  );
  expect(await getJson(`${server.http}/v1/server`)).toMatchObject({ provider: 'offline' });
  await server.terminate();
  const refused = startProcess(folder, { OPENAI_BASE_URL: 'https://api.openai.com/v1' });
  await expect(refused).rejects.toThrow(
    `parlance: the stored API key of openai was entered for ${first.url} and is not sent to https://api.openai.com/v1: start without OPENAI_BASE_URL and enter it again in the model settings of the console, or set OPENAI_API_KEY beside the address`,
  );
});
