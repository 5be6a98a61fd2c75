/** The npm package and the single executable, each in an empty folder. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { connect } from '../../packages/sdk/src/index.ts';
import { buildBinary } from '../../scripts/binary/build.ts';
import { emptyFolder, install, packProgram, ROOT, run } from './install.ts';

const folder = emptyFolder();
const installed = join(folder, 'installed');
/** The command of each program. */
const programs = {
  'the npm package': join(installed, 'node_modules/.bin/parlance'),
  'the executable': join(folder, 'bin/parlance'),
};

beforeAll(async () => {
  mkdirSync(installed);
  const tarball = await packProgram(folder);
  await Promise.all([install(installed, [tarball]), buildBinary(programs['the executable'])]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The environment contains neither the repository nor Bun. */
const clean = (home: string) => ({ PATH: '/usr/bin:/bin', HOME: home });

async function serve(program: string) {
  const home = emptyFolder();
  const work = join(home, 'work');
  mkdirSync(work);
  // Files that Bun would read in its current folder; the program must not.
  writeFileSync(join(work, '.env'), 'PORT=1');
  writeFileSync(join(work, 'bunfig.toml'), 'preload = ["./missing.ts"]');
  writeFileSync(join(work, 'tsconfig.json'), '{ "compilerOptions": { "paths": { "*": ["./missing.ts"] } } }');
  const tools = join(home, 'custom-tools.ts');
  copyFileSync(join(ROOT, 'packages/sdk/examples/custom-tools.ts'), tools);
  const child = Bun.spawn([program, 'serve', '--port', '0', '--cwd', work, '--tools', tools], {
    cwd: work,
    env: clean(home),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const { value } = await child.stdout.getReader().read();
  const http = /http:\S+/.exec(new TextDecoder().decode(value))?.[0];
  if (!http) throw new Error(`the server did not start: ${await child.stderr.text()}`);
  return {
    http,
    work,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      rmSync(home, { recursive: true });
    },
  };
}

test('the npm package needs only Bun, and has the console and the extension', async () => {
  const packages = readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages.sort()).toEqual(['@oven', 'bun', 'parlance']);
  for (const path of ['web/dist/index.html', 'extension/dist/manifest.json', 'cli/dist/main.js'])
    expect(existsSync(join(installed, 'node_modules/parlance/packages', path))).toBe(true);
  expect(existsSync(join(installed, 'node_modules/parlance/LICENSE'))).toBe(true);
});

describe.each(Object.entries(programs))('%s', (_name, program) => {
  test('prints its version', async () => {
    expect(await run([program, '--version'], folder, clean(folder))).toBe(`${version}\n`);
  });

  test('chats without a server', async () => {
    const home = emptyFolder();
    // A server of the developer may run at the default port.
    const alone = { ...clean(home), PORT: '9' };
    expect(await run([program, 'chat', '-p', 'count to 3'], home, alone)).toBe('1 2 3\n');
    rmSync(home, { recursive: true });
  });

  test('serves the console, answers with the offline model, and runs own tools', async () => {
    await using server = await serve(program);
    const page = await (await fetch(server.http)).text();
    const script = /src="(\/assets\/main-[^"]+\.js)"/.exec(page)?.[1] ?? '';
    for (const encoding of ['gzip', 'identity']) {
      const asset = await fetch(server.http + script, { headers: { 'accept-encoding': encoding } });
      expect([asset.status, asset.headers.get('content-type')]).toEqual([
        200,
        'text/javascript; charset=utf-8',
      ]);
      expect((await asset.text()).length).toBeGreaterThan(100_000);
    }
    expect((await fetch(`${server.http}/openapi.json`)).status).toBe(200);
    expect(await (await fetch(`${server.http}/docs/`)).text()).toContain('Parlance');

    const session = connect({ url: server.http }).session();
    expect((await session.ask('count to 3')).text).toBe('1 2 3');
    await session.ask('run touch made.txt', { onApproval: () => 'once' });
    expect(existsSync(join(server.work, 'made.txt'))).toBe(true);
    const call = { tool: 'add_expense', input: { amount: 3, purpose: 'tea' } };
    await session.send({ type: 'input.submit', parts: [], call });
    await session.resume();
    expect(existsSync(join(server.work, 'expenses.jsonl'))).toBe(true);
  });
});

describe('the executable', () => {
  const program = programs['the executable'];

  test('contains the page reader, the Markdown renderer and the search without ripgrep', async () => {
    writeFileSync(join(folder, 'found.txt'), 'one\ntwo needles\n');
    const search = { ...clean(folder), PARLANCE_PROGRAM: 'plain' };
    expect(await run([program, 'needle', 'text', folder, 'found.txt'], folder, search)).toBe(
      'found.txt\x002:two needles\n',
    );
    const reader = Bun.spawn([program, 'https://site.test/'], {
      env: { ...clean(folder), PARLANCE_PROGRAM: 'reader' },
      stdin: new Blob(['<title>Title</title><p>A paragraph.</p>']),
    });
    expect(await reader.stdout.json()).toMatchObject({ text: expect.stringContaining('A paragraph.') });
    const renderer = Bun.spawn([program], {
      env: { ...clean(folder), PARLANCE_PROGRAM: 'renderer' },
      stdin: new Blob(['"*a*"\n']),
    });
    expect(await renderer.stdout.json()).toBe('<p><em>a</em></p>\n');
  });

  test('starts with the settings of the small profile', async () => {
    const settings = { ...clean(folder), PARLANCE_PROFILE: 'small' };
    expect(await run([program, '--version'], folder, settings)).toBe(`${version}\n`);
    await expect(run([program, '--version'], folder, { PARLANCE_PROFILE: 'tiny' })).rejects.toThrow(
      'PARLANCE_PROFILE must be small or empty, not tiny',
    );
  });
});
