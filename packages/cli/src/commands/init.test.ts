import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../testing/run-parlance.ts';
import { hasTmux, openTerminal } from '../testing/tmux.ts';

let folder: string;
let vendor: ReturnType<typeof Bun.serve>;
const KEY = 'sk-right-key';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-init-'));
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (request.headers.get('authorization') !== `Bearer ${KEY}`)
        return Response.json(
          { error: { message: `Incorrect API key`, code: 'invalid_api_key' } },
          { status: 401 },
        );
      const chunk = { choices: [{ index: 0, delta: { content: 'OK' }, finish_reason: 'stop' }] };
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
});
afterAll(async () => {
  await vendor.stop(true);
  rmSync(folder, { recursive: true });
});

const place = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};
const url = () => `http://127.0.0.1:${vendor.port}/v1`;
const configIn = (cwd: string) => join(cwd, '.parlance/config.json');
const run = (cwd: string, args: readonly string[], input = '') =>
  runParlance(args, { cwd, env: { PORT: '9' }, input });

describe('parlance init', () => {
  test('tests the key and writes the configuration for its user alone', async () => {
    const cwd = place('right');
    const args = ['init', '--provider', 'openai', '--base-url', url(), '--model', 'm'];
    const { code, stdout } = await run(cwd, args, `${KEY}\n`);
    expect([code, stdout]).toEqual([0, `wrote ${configIn(cwd)}\n`]);
    expect(JSON.parse(readFileSync(configIn(cwd), 'utf8'))).toEqual({
      provider: 'openai',
      model: 'm',
      openaiKey: KEY,
      openaiBaseUrl: url(),
    });
    expect(statSync(configIn(cwd)).mode & 0o777).toBe(0o600);
    expect((await run(cwd, ['chat', '-p', 'hello'])).stdout).toBe('OK\n');
  });

  test('takes key and address from the environment', async () => {
    const cwd = place('environment');
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url() };
    const { code, stderr } = await runParlance(['init', '--provider', 'openai', '--model', 'm'], {
      cwd,
      env,
    });
    expect(code).toBe(0);
    expect(stderr).toContain(`using the address in OPENAI_BASE_URL: ${url()}\n`);
    expect(JSON.parse(readFileSync(configIn(cwd), 'utf8'))).toEqual({
      provider: 'openai',
      model: 'm',
      openaiKey: KEY,
      openaiBaseUrl: url(),
    });
  });

  test.each(['anthropic', 'google'])(
    'takes the address of %s from the environment, unless one is given',
    async (name) => {
      const cwd = place(name);
      const env = { [`${name.toUpperCase()}_BASE_URL`]: 'http://127.0.0.1:9/of-the-environment' };
      const args = ['init', '--provider', name, '--key', 'k', '--no-test'];
      await runParlance(args, { cwd, env });
      const setting = `${name}BaseUrl`;
      const written = () => JSON.parse(readFileSync(configIn(cwd), 'utf8'))[setting];
      expect(written()).toBe('http://127.0.0.1:9/of-the-environment');
      await runParlance([...args, '--base-url', 'http://127.0.0.1:9/given'], { cwd, env });
      expect(written()).toBe('http://127.0.0.1:9/given');
    },
  );

  test('proposes the address in the environment for a self-hosted model', async () => {
    const cwd = place('self-hosted');
    const args = ['init', '--provider', 'self-hosted', '--no-test'];
    await runParlance(args, { cwd, env: { OPENAI_BASE_URL: url() }, input: '\n' });
    expect(JSON.parse(readFileSync(configIn(cwd), 'utf8')).openaiBaseUrl).toBe(url());
  });

  test('writes nothing if the key does not work, and does not repeat the key', async () => {
    const cwd = place('wrong');
    const args = ['init', '--provider', 'openai', '--base-url', url(), '--model', 'm'];
    const { code, stdout, stderr } = await run(cwd, args, 'sk-wrong-key\n');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the model does not respond');
    expect(stderr).not.toContain('sk-wrong-key');
    expect(existsSync(configIn(cwd))).toBeFalse();
  });

  test('keeps other settings and comments, and replaces the settings of another provider', async () => {
    const cwd = place('changed');
    await run(cwd, ['init', '--provider', 'anthropic', '--key', 'k', '--no-test']);
    const before = readFileSync(configIn(cwd), 'utf8');
    writeFileSync(configIn(cwd), before.replace('{', '{ // of the proxy\n  "port": 4321,'));
    await run(cwd, ['init', '--provider', 'offline']);
    const [first = '', ...rest] = readFileSync(configIn(cwd), 'utf8').split('\n');
    expect(first).toBe('{ // of the proxy');
    expect(JSON.parse(`{${rest.join('\n')}`)).toEqual({ port: 4321, provider: 'offline' });
  });

  test.each([
    [['--provider', 'nobody'], '--provider must be one of'],
    [['--provider', 'openai'], 'no answer to "API key'],
    [['extra'], 'init takes no argument'],
  ])('%p is wrong usage', async (args, message) => {
    const { code, stderr } = await run(place('usage'), ['init', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('does not overwrite a file that it cannot read', async () => {
    const cwd = place('damaged');
    await run(cwd, ['init', '--provider', 'offline']);
    writeFileSync(configIn(cwd), '{ "openaiKey": "sk-secret" ');
    const { code, stderr } = await run(cwd, ['init', '--provider', 'offline']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not valid JSON')]);
    expect(stderr).not.toContain('sk-secret');
    expect(readFileSync(configIn(cwd), 'utf8')).toContain('sk-secret');
  });

  test.skipIf(!hasTmux)('asks at a terminal, and does not show the key', async () => {
    const cwd = place('asked');
    await using terminal = await openTerminal({ args: ['init', '--base-url', url()], cwd });
    await terminal.shows(/Which model do you want to use\?[\s\S]*\d+ {2}offline\nNumber or name \[openai\]:/);
    await terminal.type('1');
    await terminal.press('Enter');
    await terminal.shows(/API key \(OPENAI_API_KEY\):/);
    await terminal.type(KEY);
    await terminal.press('Enter');
    await terminal.shows(/Model \[gpt-4o-mini\]:/);
    await terminal.press('Enter');
    const screen = await terminal.shows(/exit 0/);
    expect(screen).toContain('wrote ');
    expect(screen).not.toContain(KEY);
  });
});

describe('parlance doctor', () => {
  const checks = (stdout: string) =>
    Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => [JSON.parse(line).name, JSON.parse(line)]),
    );

  test('shows what works', async () => {
    const cwd = place('right');
    const { code, stdout } = await run(cwd, ['doctor', '--json']);
    const found = checks(stdout);
    expect(found.model).toMatchObject({ state: 'good', about: 'm (openai) answers' });
    expect(found.configuration).toMatchObject({ state: 'good', about: configIn(cwd) });
    expect(found['data folder']).toMatchObject({ state: 'good' });
    expect(code).toBe(found.server.state === 'bad' ? 1 : 0);
  });

  test('exits with 1 if the model does not respond, with advice', async () => {
    const cwd = place('no-model');
    await run(cwd, ['init', '--provider', 'openai', '--base-url', url(), '--key', 'sk-wrong', '--no-test']);
    const { code, stdout } = await run(cwd, ['doctor', '--json']);
    expect(code).toBe(1);
    expect(checks(stdout).model).toMatchObject({
      state: 'bad',
      advice: expect.stringContaining('parlance init'),
    });
    expect(stdout).not.toContain('sk-wrong');
    expect(checks((await run(cwd, ['doctor', '--json', '--no-model'])).stdout).model).toMatchObject({
      state: 'good',
    });
  });

  test('finds a wrong setting, and a port that another program uses', async () => {
    const cwd = place('taken');
    using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('other') });
    const taken = await runParlance(['doctor', '--json'], { cwd, env: { PORT: String(other.port) } });
    expect(checks(taken.stdout).server).toMatchObject({
      state: 'bad',
      about: `port ${other.port} is used by another program, or by a server that is not known to be yours`,
    });
    const wrong = await runParlance(['doctor', '--json'], {
      cwd,
      env: { PORT: '9', TOOL_USE_APPROVAL_MODE: 'x' },
    });
    expect(checks(wrong.stdout).configuration).toMatchObject({ state: 'bad' });
    expect([taken.code, wrong.code]).toEqual([1, 1]);
  });

  test('is readable', async () => {
    const { stdout } = await run(place('readable'), ['doctor']);
    expect(stdout).toMatch(/^✓ parlance +0\.1\.0 on Bun/m);
    expect(stdout).toMatch(/^! model +the offline demo model\n +→ connect a real one with parlance init$/m);
  });
});
