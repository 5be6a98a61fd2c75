/** The installed packages `@parlance/sdk` and `@parlance/protocol`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { publint } from 'publint';
import { build as vite } from 'vite';
import { version } from '../../package.json' with { type: 'json' };
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { emptyFolder, install, packLibrary, ROOT, run } from './install.ts';

const folder = emptyFolder();
const project = emptyFolder();
const tarballs = new Map<string, string>();
let server: TestServer;

const READ = `import { connect } from '@parlance/sdk';
const session = connect({ url: process.env.PARLANCE_URL }).session();
const { text } = await session.ask('count to 3', { onApproval: () => 'deny' });
console.log(text);
`;

beforeAll(async () => {
  const packed = await Promise.all(
    (['sdk', 'protocol'] as const).map(async (name) => [name, await packLibrary(name, folder)] as const),
  );
  for (const [name, path] of packed) tarballs.set(name, path);
  const react = ['react@19.3.1', 'react-dom@19.3.1', '@types/react@19.3.0', '@types/react-dom@19.3.0'];
  await install(project, [...tarballs.values(), ...react]);
  writeFileSync(join(project, 'read.mjs'), READ);
  cpSync(join(ROOT, 'packages/sdk/examples/react.tsx'), join(project, 'page.tsx'));
  server = await startTestServer();
});
afterAll(async () => {
  await server?.stop();
  for (const path of [folder, project]) rmSync(path, { recursive: true, force: true });
});

const answers = (command: string[], cwd = project) => run(command, cwd, { PARLANCE_URL: server.http });

describe.each(['sdk', 'protocol'])('@parlance/%s', (name) => {
  const installed = () => join(project, 'node_modules/@parlance', name);

  test('passes publint', async () => {
    const { messages } = await publint({ pkgDir: installed(), strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  test.concurrent('has types for every module resolution', async () => {
    const attw = join(ROOT, 'node_modules/.bin/attw');
    const options = ['--profile', 'esm-only', '--no-emoji', '--no-color'];
    expect(await run([attw, tarballs.get(name) ?? '', ...options], folder)).toContain('OK (ESM)');
  });

  test('imports files with their extension, and no built-in modules', () => {
    const files = readdirSync(join(installed(), 'dist'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((path) => /\.(js|d\.ts)$/.test(path));
    expect(sources.length).toBeGreaterThan(2);
    for (const path of sources) {
      const written = readFileSync(join(installed(), 'dist', path), 'utf8');
      const text = written.replace(/\/\*\*[\s\S]*?\*\//g, ''); // comments have examples
      const imported = [...text.matchAll(/(?<!['"])\b(?:from|import)\s*\(?['"]([^'"]+)['"]/g)].map(
        ([, from]) => from,
      );
      for (const from of imported) expect(from).toMatch(/^(\.{1,2}\/[\w./-]+\.js|zod|react)$/);
    }
  });

  test('has the version of the release, and the licence', () => {
    expect(readFileSync(join(installed(), 'LICENSE'), 'utf8')).toStartWith('MIT License');
    expect(JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')).version).toBe(version);
  });
});

test.concurrent('the SDK answers in Node and Bun', async () => {
  expect(await answers(['node', 'read.mjs'])).toContain('1 2 3');
  expect(await answers([process.execPath, 'read.mjs'])).toContain('1 2 3');
});

test.concurrent('the SDK can be installed alone', async () => {
  const alone = emptyFolder();
  await install(alone, [tarballs.get('sdk') ?? '']);
  writeFileSync(join(alone, 'read.mjs'), READ);
  expect(await answers(['node', 'read.mjs'], alone)).toContain('1 2 3');
  rmSync(alone, { recursive: true });
});

test.concurrent('the protocol parses events in Node', async () => {
  writeFileSync(
    join(project, 'parse.mjs'),
    `import { EVENTS, parseDurableEvent } from '@parlance/protocol';
     import { ServerSentEventParser } from '@parlance/protocol/server-sent-events';
     const event = { type: 'turn.resumed', turn: 't', session: 's', id: 'i', at: 1, seq: 1 };
     console.log(parseDurableEvent(event).turn, 'text.delta' in EVENTS, new ServerSentEventParser().read('data: 1\\n\\n').length);`,
  );
  expect(await run(['node', 'parse.mjs'], project)).toBe('t true 1\n');
});

test.concurrent('the types compile in a separate project', async () => {
  writeFileSync(
    join(project, 'typed.ts'),
    `import { type Answer, connect, type DurableEvent } from '@parlance/sdk';
     import type { DurableEvent as Stored } from '@parlance/protocol';
     const answer: Answer = await connect().session().ask('Hello', { onApproval: ({ ask }) => (ask.kind === 'edit' ? 'once' : 'deny') });
     export const text: string = answer.text;
     export const same = (event: DurableEvent): Stored => event;
     // @ts-expect-error: the published types must reject an unknown answer
     await connect().session().ask('Hello', { onApproval: () => 'perhaps' });`,
  );
  const options = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, jsx: 'react-jsx' };
  const compilerOptions = { ...options, lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: [] };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['typed.ts', 'page.tsx'] }),
  );
  await run([join(ROOT, 'node_modules/.bin/tsc'), '-p', '.'], project);
});

test.concurrent('bundlers build it, and leave out unused code', async () => {
  const outfile = join(project, 'esbuild.mjs');
  const entry = join(project, 'read.mjs');
  await esbuild({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'browser', outfile });
  expect(await answers(['node', 'esbuild.mjs'])).toContain('1 2 3');
  expect(readFileSync(outfile, 'utf8')).not.toMatch(/ZodType|react/i);
  await vite({
    root: project,
    logLevel: 'silent',
    build: {
      outDir: 'vite',
      lib: { entry, formats: ['es'], fileName: 'read' },
      rolldownOptions: { external: [/^node:/] },
    },
  });
  expect(await answers(['node', 'vite/read.js'])).toContain('1 2 3');
  await esbuild({
    entryPoints: [join(project, 'page.tsx')],
    bundle: true,
    format: 'esm',
    outfile: join(project, 'page.js'),
  });
});
