import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '@parlance/protocol';
import { type DictatedModel, dictatedModel } from '../../../../e2e/scripted-model.ts';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { runParlance, spawnParlance } from '../testing/run-parlance.ts';

let offline: TestServer;
let dictated: TestServer;
let model: DictatedModel;
let home: string;

beforeAll(async () => {
  model = dictatedModel();
  [offline, dictated] = await Promise.all([startTestServer(), startTestServer(model.settings)]);
  home = mkdtempSync(join(tmpdir(), 'parlance-script-'));
});
afterAll(async () => {
  await Promise.all([offline.stop(), dictated.stop()]);
  model.stop();
  rmSync(home, { recursive: true });
});

const chat = (args: readonly string[], { input = '', server = offline, env = {} } = {}) =>
  runParlance(['chat', ...args], {
    cwd: server.root,
    env: { HOME: home, PARLANCE_URL: server.http, ...env },
    input,
  });

const eventsOf = async (server: TestServer, session: string): Promise<DurableEvent[]> => {
  const response = await fetch(`${server.http}/v1/sessions/${session}/events?limit=100`);
  return ((await response.json()) as { events: DurableEvent[] }).events;
};

describe('a script', () => {
  test('gets the text of the answer and nothing else', async () => {
    expect(await chat(['-p', 'count to 5'])).toEqual({ code: 0, stdout: '1 2 3 4 5\n', stderr: '' });
  });

  test('pipes a text after its message', async () => {
    const { code } = await chat(['-p', 'summarise', '--session', 'piped'], { input: 'some\ntext\n' });
    expect(code).toBe(0);
    const [input] = (await eventsOf(offline, 'piped')).filter(({ type }) => type === 'input.accepted');
    expect(input).toMatchObject({ parts: [{ type: 'text', text: 'summarise\n\nsome\ntext' }] });
  });

  test('needs no flag in a pipe', async () => {
    expect((await chat([], { input: 'count to 3\n' })).stdout).toBe('1 2 3\n');
  });

  test('gets one event per line with --json', async () => {
    const { code, stdout } = await chat(['-p', 'count to 3', '--json']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(code).toBe(0);
    expect([events[0]?.type, events[1]?.type, events.at(-1)?.type]).toEqual([
      'input.accepted',
      'turn.started',
      'turn.ended',
    ]);
    expect(events.some(({ type }) => type === 'text.delta')).toBeTrue();
  });

  test.each([
    ['turn.failed', 1, ['-p', 'fail']],
    ['approval.requested', 3, ['-p', 'create file j.txt with x']],
    ['turn.ended', 0, ['-p', 'create file k.txt with x', '--approve', 'never']],
    [null, 2, ['-p', 'x', '--file', 'none.md']],
    [null, 4, ['-p', 'x', '--url', 'http://127.0.0.1:1']],
  ] as const)('with --json, the last line is %p and the exit code %i', async (last, expected, args) => {
    const { code, stdout, stderr } = await chat([...args, '--json']);
    const lines = stdout.split('\n').slice(0, -1);
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    expect([code, types.at(-1) ?? null]).toEqual([expected, last]);
    if (expected > 0) expect(stderr).toStartWith('parlance: ');
  });

  test('continues a session by name, and the last one', async () => {
    await chat(['-p', 'count to 2', '--session', 'named']);
    await chat(['-p', 'count to 3', '--session', 'named']);
    await chat(['-p', 'count to 4', '--continue']);
    const inputs = (await eventsOf(offline, 'named')).filter(({ type }) => type === 'input.accepted');
    expect(inputs).toHaveLength(3);
  });

  test('sets agent and model', async () => {
    await chat(['-p', 'count to 2', '--session', 'set', '--model', 'offline', '--agent', 'coder']);
    expect(await eventsOf(offline, 'set')).toContainEqual(
      expect.objectContaining({ type: 'session.configured', model: 'offline' }),
    );
    const refused = await chat(['-p', 'x', '--model', 'claude-none']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('set ANTHROPIC_API_KEY')]);
  });

  test('exits with 1 if the turn fails', async () => {
    const { code, stderr } = await chat(['-p', 'fail']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('parlance: This failure was simulated')]);
  });

  test('exits with 3 if a call needs approval, which waits for an answer', async () => {
    const { code, stderr } = await chat(['-p', 'create file asked.txt with x', '--session', 'asked']);
    expect(code).toBe(3);
    expect(stderr).toContain('parlance chat --session asked');
    expect(existsSync(join(offline.root, 'asked.txt'))).toBeFalse();
    const { status } = (await (await fetch(`${offline.http}/v1/sessions/asked`)).json()) as {
      status: string;
    };
    expect(status).toBe('waiting');
  });

  test('allows every call with --approve all, and none with never', async () => {
    expect((await chat(['-p', 'create file yes.txt with x', '--approve', 'all'])).code).toBe(0);
    expect(existsSync(join(offline.root, 'yes.txt'))).toBeTrue();
    const { code, stdout } = await chat(['-p', 'create file no.txt with x', '--approve', 'never']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('denied')]);
    expect(existsSync(join(offline.root, 'no.txt'))).toBeFalse();
  });

  test('attaches files, and refuses what is neither image nor text', async () => {
    writeFileSync(join(offline.root, 'a.md'), '# A');
    writeFileSync(join(offline.root, 'b.bin'), Buffer.from([0, 255, 254]));
    expect((await chat(['-p', 'look', '--file', 'a.md'])).stdout).toContain('I received `a.md`');
    const refused = await chat(['-p', 'look', '--file', 'b.bin']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('neither an image nor text')]);
    expect((await chat(['-p', 'look', '--file', 'none.md'])).code).toBe(2);
  });

  test.each([
    [['-p', 'x', '--approve', 'maybe'], '--approve must be one of'],
    [['-p', 'x', '--session', 'a', '--continue'], 'exclude each other'],
    [['-p', 'x', '--nonsense'], "Unknown option '--nonsense'"],
    [['-p', ''], 'there is no message'],
    [['-p', 'x', '--url', 'nowhere'], '--url must be an http or https URL'],
    [['--resume'], 'needs a terminal'],
  ])('%p is wrong usage', async (args, message) => {
    const { code, stdout, stderr } = await chat(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  });

  test('exits with 4 if the server cannot be reached, or is something else', async () => {
    expect((await chat(['-p', 'x', '--url', 'http://127.0.0.1:1'])).code).toBe(4);
    using other = Bun.serve({ port: 0, fetch: () => new Response('<html>') });
    const { code, stderr } = await chat(['-p', 'x', '--url', `http://127.0.0.1:${other.port}`]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('is not a Parlance server')]);
  });

  test('writes text as it is into a pipe', async () => {
    const answer = chat(['-p', 'x'], { server: dictated });
    model.say('\x1b[31mred\x1b[0m');
    model.end();
    expect((await answer).stdout).toBe('\x1b[31mred\x1b[0m\n');
  });
});

const spawned = (session: string, ...flags: string[]) =>
  spawnParlance(['chat', '-p', 'go on', '--session', session, ...flags], {
    cwd: dictated.root,
    env: { HOME: home, PARLANCE_URL: dictated.http },
  });

describe('an interruption', () => {
  test.each([['text'], ['json']])('by Ctrl-C cancels the turn and exits with 130 (%s)', async (format) => {
    const child = spawned(`interrupted-${format}`, ...(format === 'json' ? ['--json'] : []));
    model.say('An answer ');
    await child.stdout.getReader().read();
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(
      (await eventsOf(dictated, `interrupted-${format}`)).findLast(({ type }) => type.startsWith('turn.')),
    ).toMatchObject({
      type: 'turn.cancelled',
    });
  });

  test('by a reader that goes away cancels the turn and exits with 141', async () => {
    const script = `sh "$0" chat -p 'go on' --session closed | head -c 4; echo " exit \${PIPESTATUS[0]}"`;
    const child = Bun.spawn(['bash', '-c', script, join(import.meta.dir, '../../bin/parlance')], {
      cwd: dictated.root,
      env: { PATH: process.env.PATH ?? '', HOME: home, PARLANCE_URL: dictated.http },
      stdin: 'ignore',
      stdout: 'pipe',
    });
    const talking = setInterval(() => model.say('Four letters.'), 20);
    expect(await child.stdout.text()).toBe('Four exit 141\n');
    clearInterval(talking);
    expect(
      (await eventsOf(dictated, 'closed')).findLast(({ type }) => type.startsWith('turn.')),
    ).toMatchObject({ type: 'turn.cancelled' });
  });
});
