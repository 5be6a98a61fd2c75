import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARLANCE, runParlance, spawnParlance } from '../testing/run-parlance.ts';

const root = mkdtempSync(join(tmpdir(), 'parlance-serve-'));
afterAll(() => rmSync(root, { recursive: true }));
const newFolder = () => mkdtempSync(join(root, 'case-'));

/** The first `count` lines. The stream stays open: a closed one would fail the child's next write. */
async function readLines(stream: ReadableStream<Uint8Array>, count: number): Promise<string[]> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.split('\n').length <= count) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended after ${JSON.stringify(text)}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.split('\n').slice(0, count);
}

describe('without a server', () => {
  const cwd = newFolder();

  test('--help lists ten common settings with their defaults, --help all lists every one', async () => {
    const settings = (text: string) => text.match(/^ {2}\S/gm)?.length ?? 0;
    const { code, stdout } = await runParlance(['serve', '--help'], { cwd });
    expect([code, settings(stdout)]).toEqual([0, 10]);
    expect(stdout).toContain('--port PORT');
    expect(stdout).toContain('default: 3000');
    expect(stdout).toContain('parlance serve --help all lists all settings.');
    const all = await runParlance(['serve', '--help', 'all'], { cwd });
    expect(settings(all.stdout)).toBeGreaterThan(50);
    expect(all.stdout).toContain('--max-steps COUNT');
  });

  test('an invalid setting prints one line and exits 2', async () => {
    expect(await runParlance(['serve', '--port', 'many'], { cwd })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'parlance: --port must be a whole number from 0 to 65535, not "many"\n',
    });
  });

  const LINES: Record<string, [args: string[], env: Record<string, string>, line: string]> = {
    'a misspelt flag': [['--prot', '1'], {}, 'unknown flag --prot (did you mean --port?)'],
    'a flag that npm took': [
      ['4000'],
      { npm_lifecycle_event: 'start', npm_config_port: 'true' },
      'npm took --port for its own: write npm start -- --port …',
    ],
    'a model without a key': [
      ['--model', 'gpt-5.5'],
      {},
      'openai needs an API key for gpt-5.5: set OPENAI_API_KEY, or start without --model and connect the model in the console',
    ],
    'a config file that does not exist': [
      ['--config', 'none.json'],
      {},
      '--config names none.json, which does not exist',
    ],
  };
  for (const [what, [args, env, line]] of Object.entries(LINES))
    test(`${what} is explained in one line`, async () => {
      expect(await runParlance(['serve', ...args], { cwd, env })).toEqual({
        code: 2,
        stdout: '',
        stderr: `parlance: ${line}\n`,
      });
    });

  test('a wrong value in the config file is named with line and column', async () => {
    await Bun.write(join(cwd, 'own.json'), '{\n  "port": 3000,\n  "approval": "always"\n}\n');
    const { code, stderr } = await runParlance(['serve', '--config', 'own.json'], { cwd });
    const line =
      'approval in own.json must be one of suggest, auto-edit, full-auto, not "always": line 3, column 3';
    expect([code, stderr]).toEqual([2, `parlance: ${line}\n`]);
  });

  const UNSAFE: Record<string, [env: Record<string, string>, says: string]> = {
    'a public host without authentication': [{ HOST: '0.0.0.0' }, 'PARLANCE_AUTH=required'],
    'a public host that is open on purpose': [
      { HOST: '::', PARLANCE_AUTH: 'open' },
      'PARLANCE_AUTH=required',
    ],
    'a short secret': [{ AUTH_SECRET: 'x'.repeat(31) }, 'AUTH_SECRET must be at least 32 bytes long'],
    'every origin': [{ ALLOWED_ORIGINS: 'https://a.example,*' }, '* is refused'],
    'every origin below a name': [{ ALLOWED_ORIGINS: 'https://*.example.com' }, '* is refused'],
    'every port of a host': [{ ALLOWED_ORIGINS: 'https://example.com:*' }, '* is refused'],
    'the public secret of Pusher channels, if a login is required,': [
      { PARLANCE_AUTH: 'required' },
      'set SOCKUDO_APP_SECRET to a secret of your own, or PARLANCE_CHANNELS=off',
    ],
    'the same secret, given,': [
      { PARLANCE_AUTH: 'required', SOCKUDO_APP_SECRET: 'app-secret' },
      'the default SOCKUDO_APP_SECRET is public',
    ],
    'origins that are none': [{ ALLOWED_ORIGINS: 'null' }, 'must hold origins'],
  };
  for (const [what, [env, says]] of Object.entries(UNSAFE))
    test(`${what} is refused, and no data folder is created`, async () => {
      const { code, stdout, stderr } = await runParlance(['serve', '--port', '0'], { cwd, env });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(says);
      expect(existsSync(join(cwd, '.parlance'))).toBe(false);
    });
});

test.each<Record<string, string>>([
  { PARLANCE_AUTH: 'required', SOCKUDO_APP_SECRET: 'a secret of our own' },
  { PARLANCE_AUTH: 'required', PARLANCE_CHANNELS: 'off' },
  { PARLANCE_AUTH: 'open' },
])('the secret of Pusher channels does not hinder a start with %o', async (env) => {
  const child = spawnParlance(['serve', '--port', '0'], { cwd: newFolder(), env });
  expect((await readLines(child.stdout, 1))[0]).toStartWith('parlance listening on ');
  child.kill();
  await child.exited;
});

const asRoot = process.getuid?.() === 0;

test.if(asRoot)('full-auto is refused as root, unless a flag allows it; a start as root warns', async () => {
  const folder = newFolder();
  const args = ['--approval', 'full-auto', '--port', '0'];
  expect(await runParlance(['serve', ...args], { cwd: folder })).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'parlance: approval mode full-auto is not available as root: use another user, or start with --full-auto-as-root on\n',
  });
  const child = spawnParlance(['serve', ...args, '--full-auto-as-root', 'on'], { cwd: folder });
  expect((await readLines(child.stdout, 1))[0]).toStartWith('parlance listening on ');
  child.kill();
  expect(await new Response(child.stderr).text()).toContain('running as root: ');
});

test('a data folder that cannot be made is named, with the flag for another one', async () => {
  const folder = newFolder();
  const data = join(folder, 'file', 'data');
  await Bun.write(join(folder, 'file'), '');
  expect(await runParlance(['serve', '--port', '0', '--data', data], { cwd: folder })).toEqual({
    code: 1,
    stdout: '',
    stderr: `parlance: the data folder ${data} cannot be created or written (a file is in its place): choose another with --data FOLDER\n`,
  });
});

const canBecomeNobody = process.getuid?.() === 0 && Bun.which('setpriv') !== null;

test.skipIf(!canBecomeNobody)(
  'a data folder of somebody else is named, with the flag for another one',
  async () => {
    const folder = newFolder();
    chmodSync(root, 0o755);
    chmodSync(folder, 0o755);
    const nobody = ['setpriv', '--reuid=65534', '--clear-groups'];
    const args = ['serve', '--port', '0', '--data', join(folder, 'data')];
    const child = Bun.spawn([...nobody, 'sh', PARLANCE, ...args], {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', npm_lifecycle_event: 'start' },
      stderr: 'pipe',
    });
    expect(await child.stderr.text()).toMatch(
      /^parlance: \S+\/data cannot be used: it cannot be written to; choose another folder with npm start -- --data \(EACCES.*\)\n$/,
    );
    expect(await child.exited).toBe(1);
  },
);

test('a host that is not an address of this machine is named, with the flag for another one', async () => {
  const { code, stderr } = await runParlance(
    ['serve', '--host', '192.0.2.1', '--auth', 'required', '--channels', 'off', '--log-level', 'silent'],
    { cwd: newFolder() },
  );
  const line = 'host 192.0.2.1 is not an address of this machine: choose another with --host ADDRESS';
  expect([code, stderr]).toEqual([1, `parlance: ${line}\n`]);
});

describe('with a server', () => {
  test('prints its listeners, and a signal stops it with exit 0', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const args = ['serve', '--port', '0', '--listen', 'native=0', '--listen', 'agentloop=0'];
      await using child = spawnParlance(args, { cwd: newFolder() });
      const [listening = '', ...listeners] = await readLines(child.stdout, 3);
      expect(listening).toMatch(/^parlance listening on http:\/\/127\.0\.0\.1:[1-9]\d*$/);
      expect(listeners.map((line) => line.replace(/\d+$/, 'PORT'))).toEqual([
        'parlance listener native on http://127.0.0.1:PORT',
        'parlance listener agentloop on http://127.0.0.1:PORT',
      ]);
      const health = await fetch(`${listening.slice('parlance listening on '.length)}/health`);
      expect(health.status).toBe(200);
      child.kill(signal);
      expect(await child.exited).toBe(0);
    }
  });

  test('a key that is stored in the console counts for a model that is set at the start', async () => {
    const cwd = newFolder();
    const started = async (env: Record<string, string>) => {
      const child = spawnParlance(['serve', '--port', '0', '--log-level', 'silent'], { cwd, env });
      const [line = ''] = await readLines(child.stdout, 1);
      return { child, url: line.slice('parlance listening on '.length) };
    };
    const change = (url: string, version: number, values: object) =>
      fetch(`${url}/v1/admin/settings`, { method: 'PATCH', body: JSON.stringify({ version, values }) });

    const first = await started({});
    await using firstChild = first.child;
    const stored = { provider: 'anthropic', anthropicKey: 'sk-ant-1', openaiKey: 'sk-1' };
    expect((await change(first.url, 0, stored)).status).toBe(200);
    firstChild.kill('SIGTERM');
    expect(await firstChild.exited).toBe(0);

    const second = await started({ MODEL: 'gpt-5.5' });
    await using secondChild = second.child;
    const about = await (await fetch(`${second.url}/v1/server`)).json();
    expect(about).toMatchObject({ provider: 'openai', model: 'gpt-5.5' });
    const refused = await change(second.url, 1, { openaiKey: null });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('needs an API key for gpt-5.5: set OPENAI_API_KEY, or enter it'),
    ]);
    secondChild.kill('SIGTERM');
    expect(await secondChild.exited).toBe(0);

    const { code, stderr } = await runParlance(['serve', '--port', '0', '--log-level', 'silent'], {
      cwd,
      env: { MODEL: 'gemini-3-pro' },
    });
    const line =
      'google needs an API key for gemini-3-pro: set GOOGLE_API_KEY, or start without MODEL and connect the model in the console';
    expect([code, stderr]).toEqual([2, `parlance: ${line}\n`]);
  });

  test('only the first start prints the password of admin', async () => {
    const cwd = newFolder();
    const errorsOfStart = async () => {
      await using child = spawnParlance(['serve', '--port', '0', '--log-level', 'silent'], { cwd });
      await readLines(child.stdout, 1);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      return child.stderr.text();
    };
    expect(await errorsOfStart()).toMatch(/^created user admin with password \S{20,} \(shown once\)\n$/);
    expect(await errorsOfStart()).toBe('');
  });
});
