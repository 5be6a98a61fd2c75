/** The client in C, built with sanitizers, against a real server. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { cuttingProxy } from '../console/cutting-proxy.ts';
import { outputOf } from '../output.ts';
import { dictatedModel, type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { durableOf, followed, startProcess } from '../server-process.ts';

const SOURCE = join(import.meta.dir, '../../clients/c');
const NEEDS = ['cmake', 'make', 'gcc', 'clang', 'pkg-config', 'valgrind'];
const isBuildable = NEEDS.every((program) => Bun.which(program)) && hasFile('usr/include/libwebsockets.h');

function hasFile(path: string): boolean {
  return [...new Glob(path).scanSync('/')].length > 0;
}

const folder = mkdtempSync(join(tmpdir(), 'parlance-c-'));
const cleanups: (() => unknown)[] = [];
let model: ScriptedModel;
let server: TestServer;
let offline: TestServer;

/** Builds into a folder and returns it. Throws with the compiler output if there is a warning. */
async function build(name: string, ...options: string[]): Promise<string> {
  const target = join(folder, name);
  for (const command of [
    ['cmake', '-S', SOURCE, '-B', target, ...options],
    ['make', '-j2', '-C', target],
  ]) {
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${out}${err}`);
  }
  return target;
}

type Running = {
  readonly stdout: Promise<string>;
  readonly stderr: ReturnType<typeof outputOf>;
  readonly exited: Promise<number>;
  kill(): void;
};

function start(program: readonly string[], args: readonly string[], input = ''): Running {
  const child = Bun.spawn([...program, ...args], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ASAN_OPTIONS: 'detect_leaks=1', UBSAN_OPTIONS: 'print_stacktrace=1' },
  });
  cleanups.push(() => child.kill('SIGKILL'));
  return {
    stdout: new Response(child.stdout).text(),
    stderr: outputOf(child.stderr),
    exited: child.exited,
    kill: () => child.kill('SIGTERM'),
  };
}

let client: string[];
let plain: string;
let fuzzed: string;
const run = async (args: string[], input = '', program = client) => {
  const running = start(program, args, input);
  const [code, out, err] = await Promise.all([running.exited, running.stdout, running.stderr.all()]);
  return { code, out, err };
};

/** The model repeats the last message, or the result of the tool. */
const answerTo = ({ messages }: { messages: { role: string; content: unknown }[] }) => {
  const last = messages.at(-1);
  const text = JSON.stringify(last?.content);
  if (last?.role === 'tool') return { say: `The tool said ${text}.` };
  if (text.includes('selection')) return { call: 'get_selected_text', input: {} };
  const url = /page (\S+?)"/.exec(text)?.[1];
  if (text.includes('page')) return { call: 'extract_page_content', input: url ? { url } : {} };
  return text.includes('refuse') ? { status: 400 } : { say: `re: ${text}` };
};

describe.skipIf(!isBuildable)('the C client', () => {
  beforeAll(async () => {
    const sanitize = '-DPARLANCE_SANITIZE=ON';
    const [sanitized, ...others] = await Promise.all([
      build('sanitized', sanitize),
      build('plain'),
      build('fuzzed', sanitize, '-DPARLANCE_FUZZ=ON', '-DCMAKE_C_COMPILER=clang'),
    ]);
    client = [join(sanitized, 'parlance-c')];
    [plain, fuzzed] = others;
    model = scriptedModel(answerTo);
    server = await startTestServer({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      ALLOWED_TOOL_ORIGINS: 'https://allowed.example',
    });
    offline = await startTestServer();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(async () => {
    await server.stop();
    await offline.stop();
    model.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('library and program have at most 800 lines', () => {
    const files = ['include', 'src'].flatMap((part) =>
      readdirSync(join(SOURCE, part)).map((name) => join(SOURCE, part, name)),
    );
    const lines = files.map((path) => readFileSync(path, 'utf8').split('\n').length - 1);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(800);
  });

  test('chats, and shows the status', async () => {
    const { code, out, err } = await run(['-u', server.http, '-s', 'from-c', 'chat', 'hello']);
    expect({ code, out }).toEqual({ code: 0, out: 're: "hello"\n' });
    expect(err).toContain('[session] from-c');
    expect(err).toContain('[registered]');
    expect(err).toContain('[thinking]');
    const accepted = (await durableOf(server, 'from-c')).filter(({ type }) => type === 'input.accepted');
    expect(accepted).toHaveLength(1);
  });

  test('sends each line of its input in one session, with any content', async () => {
    const { code, out } = await run(
      ['-u', `${server.http}/`, '-s', 'lines é', 'chat'],
      'one\n\n"two" \\ ü\n',
    );
    expect(code).toBe(0);
    expect(out).toBe('re: "one"\nre: "\\"two\\" \\\\ ü"\n');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('one');
  });

  test('a long message and its answer arrive whole', async () => {
    const text = 'long '.repeat(40_000).trim();
    const { out } = await run(['-u', server.http, 'chat'], `${text}\n`);
    expect(out).toBe(`re: "${text}"\n`);
  });

  test('offers its tools', async () => {
    const selection = join(folder, 'selection.txt');
    writeFileSync(selection, 'a selected sentence');
    const { code, out, err } = await run(['-u', server.http, '-f', selection, 'chat', 'read the selection']);
    expect(code).toBe(0);
    expect(out).toContain('a selected sentence');
    expect(err).toContain('[tool] get_selected_text');
  });

  test('a page is read only if its origin is allowed', async () => {
    const page = join(folder, 'page.txt');
    writeFileSync(page, 'a long page');
    const chat = ['-u', server.http, '-p', page, 'chat'];
    expect((await run([...chat, 'read the page'])).out).toContain('a long page');
    expect((await run([...chat, 'read the page https://other.example/'])).out).toContain(
      'The origin is not allowed.',
    );
    expect((await run([...chat, 'read the page https://allowed.example/news'])).out).toContain('a long page');
  });

  test('a file that would block is not read', async () => {
    const pipe = join(folder, 'pipe');
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
    const { code, out } = await run(['-u', server.http, '-f', pipe, 'chat', 'read the selection']);
    expect(code).toBe(0);
    expect(out).toContain('There is no text.');
  });

  test('make test runs the program against the server', async () => {
    const make = Bun.spawn(['make', '-C', join(folder, 'sanitized'), 'test'], {
      env: { ...process.env, PARLANCE_URL: offline.http, CTEST_OUTPUT_ON_FAILURE: '1' },
      stdout: 'pipe',
    });
    expect(await make.stdout.text()).toContain('100% tests passed');
    expect(await make.exited).toBe(0);
  });

  test('a tool that fails is reported to the model', async () => {
    const missing = join(folder, 'missing.txt');
    const { out } = await run(['-u', server.http, '-f', missing, 'chat', 'read the selection']);
    expect(out).toContain('There is no text.');
  });

  test('announces only the tools that have a file', async () => {
    const offered = async (...args: string[]) => {
      await run(['-u', server.http, 'chat', 'hello', ...args]);
      return (model.requests.at(-1)?.tools ?? [])
        .map((tool) => tool.function.name)
        .filter((name) => ['get_selected_text', 'extract_page_content'].includes(name));
    };
    expect(await offered()).toEqual([]);
    expect(await offered('-f', 'selection.txt')).toEqual(['get_selected_text']);
    expect(await offered('-p', 'page.txt')).toEqual(['extract_page_content']);
    expect(await offered('-f', 'selection.txt', '-p', 'page.txt')).toHaveLength(2);
  });

  test('clears a session', async () => {
    await run(['-u', server.http, '-s', 'cleared', 'chat', 'hello']);
    expect((await run(['-u', server.http, '-s', 'cleared', 'clear'])).code).toBe(0);
    expect((await durableOf(server, 'cleared')).map(({ type }) => type)).toContain('session.cleared');
  });

  test('summarizes its input', async () => {
    const { code, out } = await run(['-u', server.http, 'summarize', 'Bees'], 'Bees live in hives.');
    expect(code).toBe(0);
    expect(out).toStartWith('re: ');
    const empty = await run(['-u', server.http, 'summarize'], '');
    expect(empty).toMatchObject({ code: 1, err: expect.stringContaining('HTTP 400: Content is required') });
  });

  test('fails if the model fails, with the reason', async () => {
    const { code, err } = await run(['-u', server.http, 'chat', 'refuse']);
    expect(code).toBe(1);
    expect(err).toMatch(/\[error\] \S+/);
  });

  test('wrong usage is explained', async () => {
    const wrong = [
      [],
      ['dance'],
      ['-x', 'chat'],
      ['cha', 'hi'],
      ['chat', '--session'],
      ['chat', 'hi', '--verbose'],
      ['--verbose', 'chat', 'hi'],
      ['chat', '-x', 'hi'],
      ['summarize', '-x'],
      ['chat', 'hi', '-s'],
      ['chat', 'two', 'words'],
      ['clear', 'all'],
    ];
    const before = model.requests.length;
    for (const args of wrong)
      for (const env of [[], ['env', 'POSIXLY_CORRECT=1']])
        expect([args, await run(['-u', server.http, ...args], '', [...env, ...client])]).toMatchObject([
          args,
          { code: 2, out: '', err: expect.stringContaining('usage:') },
        ]);
    expect(model.requests.length).toBe(before);
    for (const url of ['ftp://host', 'http://', 'http://host:0', 'http://host:99999', 'nonsense'])
      expect(await run(['-u', url, 'chat', 'hi'])).toMatchObject({ code: 2 });
  });

  test('--help is shown, also after a command, and -- ends the options', async () => {
    for (const args of [['--help'], ['-h'], ['chat', '--help'], ['chat', 'hi', '-h']])
      expect(await run(args)).toMatchObject({ code: 0, out: expect.stringContaining('usage:'), err: '' });
    const { out } = await run(['chat', '-u', server.http, '--', '--help']);
    expect(out).toBe('re: "--help"\n');
  });

  test('a token is needed if the server requires one', async () => {
    const closed = await startTestServer({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      PARLANCE_AUTH: 'required',
    });
    const token = await closed.login('dev', 'dev-password');
    expect(await run(['-u', closed.http, '-t', token, 'chat', 'hi'])).toMatchObject({
      code: 0,
      out: 're: "hi"\n',
    });
    const refused = await run(['-u', closed.http, 'chat', 'hi']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('A token is required') });
    await closed.stop();
  });

  test('reconnects after the server was killed, and sends queued messages', async () => {
    const data = mkdtempSync(join(folder, 'killed-'));
    const settings = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' };
    const first = await startProcess(data, settings);
    const { port } = new URL(first.http);
    const served = start(client, ['-u', first.http, '-s', 'kept', 'serve']);
    await served.stderr.written('[registered]');
    await first.kill();
    await served.stderr.written('[error]');
    const waiting = start(client, ['-u', first.http, '-s', 'kept', 'chat', 'sent later']);
    await waiting.stderr.written('[error]');
    const second = await startProcess(data, { ...settings, PORT: port });
    cleanups.push(() => second.kill());
    expect(await waiting.stdout).toBe('re: "sent later"\n');
    expect(await waiting.exited).toBe(0);
    await served.stderr.written('[registered]', 2);
    served.kill();
    expect(await served.exited).toBe(0);
  });

  test('does not wait for an answer that was sent while it was disconnected', async () => {
    const gate = dictatedModel();
    const behind = await startTestServer(gate.settings);
    const proxy = await cuttingProxy(behind.http);
    cleanups.push(gate.stop, behind.stop, proxy.stop);
    const asked = gate.asked();
    const chat = start(client, ['-u', proxy.http, '-s', 'missed', 'chat', 'Hello']);
    await asked;
    proxy.cut();
    await chat.stderr.written('[error]');
    gate.say('An answer.');
    gate.end();
    await followed(behind, 'missed', (events) => events.some(({ type }) => type === 'turn.ended'));
    proxy.restore();
    expect(await chat.exited).toBe(1);
    expect(await chat.stderr.all()).toContain('the turn ended while there was no connection');
  });

  test('continues a running answer after a reconnect', async () => {
    const gate = dictatedModel();
    const behind = await startTestServer(gate.settings);
    const proxy = await cuttingProxy(behind.http);
    cleanups.push(gate.stop, behind.stop, proxy.stop);
    const asked = gate.asked();
    const chat = start(client, ['-u', proxy.http, '-s', 'kept', 'chat', 'Hello']);
    await asked;
    proxy.cut();
    await chat.stderr.written('[error]');
    proxy.restore();
    await chat.stderr.written('[registered]', 2);
    gate.say('An answer.');
    gate.end();
    expect(await chat.stdout).toBe('An answer.\n');
    expect(await chat.exited).toBe(0);
  });

  test('is clean under valgrind', async () => {
    const options = ['--quiet', '--error-exitcode=99', '--leak-check=full'];
    const valgrind = ['valgrind', ...options, join(plain, 'parlance-c')];
    const [chat, summary] = await Promise.all([
      run(['-u', server.http, '-f', 'missing.txt', 'chat'], 'one\nread the selection\n', valgrind),
      run(['-u', server.http, 'summarize'], 'Bees.', valgrind),
    ]);
    expect(chat).toMatchObject({ code: 0, out: expect.stringContaining('re: "one"') });
    expect(summary.code).toBe(0);
  });

  test('survives fuzzed frames', async () => {
    const corpus = mkdtempSync(join(folder, 'corpus-'));
    for (const [number, frame] of FRAMES.entries())
      writeFileSync(join(corpus, String(number)), JSON.stringify(frame));
    const fuzzer = [join(fuzzed, 'fuzz_frames'), '-runs=50000', '-seed=1', '-max_len=4096', corpus];
    const { code, err } = await run([], '', fuzzer);
    expect(code === 0 ? '' : err).toBe('');
  });
});

const REQUEST = {
  id: 'msg_1_abcdefghi',
  type: 'tool_execution_request',
  timestamp: 1,
  executionId: 'exec_1_abcdefghi',
  toolName: 'echo',
  parameters: { url: 'https://example.com/page' },
  timeout: 30_000,
  securityContext: { allowedOrigins: ['https://example.com'], permissions: ['page_access'] },
};

const FRAMES = [
  REQUEST,
  { ...REQUEST, toolName: 'free', parameters: { url: 'https://user@evil.example' } },
  { ...REQUEST, securityContext: {} },
  { ...REQUEST, timeout: -1, securityContext: { allowedOrigins: [], permissions: ['page_access'] } },
  { id: 'a', type: 'agent_response', timestamp: 1, content: 'hello', sessionId: 's', toolsUsed: [] },
  { id: 'a', type: 'error', message: 'no', code: 'NO' },
];
