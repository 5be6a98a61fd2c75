/** Agents try to change what the operator's modules import, with every tool that writes. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { contextIn, faultOf, type ToolFixture, toolFixture, use } from '../../testing/tools/tool-context.ts';
import { openGuard } from '../guard.ts';
import { applyPatchTool } from '../patch/tool.ts';
import { saveFile } from '../save-file.ts';
import { findSandbox } from '../shell/sandbox.ts';
import { shell } from '../shell/tool.ts';
import { findImports } from './imports.ts';
import { loadCustomTools } from './load.ts';

const sandbox = await findSandbox();

const TOOL =
  "export const a = { name: 'a', description: 'A.', parameters: { type: 'object' }, run: () => 1 };";

async function project(files: Record<string, string>): Promise<ToolFixture> {
  const place = await toolFixture();
  for (const [path, content] of Object.entries(files)) await place.write(path, content);
  return place;
}

const FILES = {
  'own.ts': `import './helpers.ts'; import './lib/deep'; import 'pkg'; import { z } from '@parlance/sdk/tools'; void z; ${TOOL}`,
  'helpers.ts': "void import('./lib/late.ts');",
  'lib/deep.ts': '',
  'lib/late.ts': '',
  'lib/other.ts': '',
  'node_modules/pkg/package.json': '{"name":"pkg","main":"main.js"}',
  'node_modules/pkg/main.js': "try { require('optional'); } catch {} require('./part');",
  'node_modules/pkg/part.js': '',
  'node_modules/.cache/old': '',
};

function agentIn(place: ToolFixture, module: string) {
  const guard = openGuard({ hide: [], ...findImports([join(place.root, module)], place.root) });
  const run = shell('shell', { sandbox, ...guard });
  const context = contextIn(place.root, { permission: 'approved' });
  return {
    save: (path: string) => use(saveFile(guard), { path, content: 'changed' }, context),
    patch: (patch: string) =>
      use(applyPatchTool(guard), { patch: `*** Begin Patch\n${patch}\n*** End Patch` }, context),
    run: async (script: string) => (await use(run, { command: ['bash', '-c', script] }, context)).data,
  };
}

describe('what a module in the working directory imports', () => {
  const CLOSED = [
    ...['own.ts', 'helpers.ts', 'lib/deep.ts', 'lib/late.ts', 'lib/deep.tsx', 'lib/deep.json'],
    ...['node_modules/pkg/part.js', 'node_modules/pkg/part.ts', 'node_modules/optional/index.js'],
  ];
  test.each(CLOSED)('cannot be changed by file tools: %s', async (path) => {
    await using place = await project(FILES);
    const agent = agentIn(place, 'own.ts');
    expect((await faultOf(agent.save(path))).message).toContain('belongs to the server');
    const patch = existsSync(join(place.root, path))
      ? `*** Delete File: ${path}`
      : `*** Add File: ${path}\n+x`;
    expect((await agent.patch(patch)).failed).toBe(true);
  });

  const ATTACKS = [
    ...CLOSED.filter((path) => !path.startsWith('lib/deep.') || path === 'lib/deep.ts').map(
      (path) => `mkdir -p $(dirname ${path}) && echo changed > ${path}`,
    ),
    ...['rm helpers.ts', 'mv lib away', 'mv node_modules away', 'rm -r node_modules/pkg'],
    ...['ln -sf /etc/hostname own.ts', 'echo x > new && mv new helpers.ts', 'cp -r lib l2 && mv -T l2 lib'],
  ];
  test.skipIf(!sandbox).each(ATTACKS)('cannot be changed by commands: %s', async (script) => {
    await using place = await project(FILES);
    const agent = agentIn(place, 'own.ts');
    expect(await agent.run(script)).not.toMatchObject({ exit_code: 0 });
    for (const [path, content] of Object.entries(FILES)) expect(await place.read(path)).toBe(content);
    expect(readdirSync(join(place.root, 'node_modules')).sort()).toEqual(['.cache', 'pkg']);
  });

  test('is loaded, and other files can be changed', async () => {
    await using place = await project(FILES);
    const agent = agentIn(place, 'own.ts');
    expect(await loadCustomTools([join(place.root, 'own.ts')], [])).toHaveLength(1);
    for (const path of ['lib/other.ts', 'lib/new.ts', 'package.json', 'src/a.ts', 'node_modules/.cache/a'])
      await agent.save(path);
    const script =
      'echo b > lib/other.ts && echo b > new.ts && rm new.ts && echo b > node_modules/.cache/b && mkdir more';
    expect(await agent.run(script)).toMatchObject({ exit_code: 0 });
  });

  test('in a folder of its own, that folder is closed, and a missing folder for packages above it', async () => {
    await using place = await project({
      'tools/own.ts': `import 'pkg'; ${TOOL}`,
      'tools/node_modules/pkg/index.js': '',
    });
    const agent = agentIn(place, 'tools/own.ts');
    await faultOf(agent.save('tools/new.ts'));
    await faultOf(agent.save('node_modules/optional/index.js'));
    if (sandbox) expect(await agent.run('mkdir node_modules/optional')).not.toMatchObject({ exit_code: 0 });
    await agent.save('new.ts');
  });

  test('packages of a folder above: none can be put before them', async () => {
    await using place = await project({
      'own.ts': `import 'pkg'; ${TOOL}`,
      '../node_modules/pkg/index.js': '',
    });
    const agent = agentIn(place, 'own.ts');
    await faultOf(agent.save('node_modules/pkg/index.js'));
    if (sandbox) expect(await agent.run('mkdir -p node_modules/pkg')).not.toMatchObject({ exit_code: 0 });
  });

  test('a module without packages creates no folder for them', async () => {
    await using place = await project({
      'own.ts': `import 'node:fs'; import 'bun'; import '@parlance/sdk/tools'; ${TOOL}`,
    });
    agentIn(place, 'own.ts');
    expect(readdirSync(place.root)).toEqual(['own.ts']);
  });
});

describe('a start is refused if what a module imports could be something that an agent made:', () => {
  const REFUSED: [name: string, files: Record<string, string>, reason: string][] = [
    [
      'a second file for a name without extension',
      { 'own.ts': "import './dep'", 'dep.ts': '', 'dep.tsx': '' },
      'write the extension',
    ],
    [
      'a folder for a name without extension',
      { 'own.ts': "import './dep'", 'dep.ts': '', 'dep/index.ts': '' },
      'write the extension',
    ],
    ['a missing file', { 'own.ts': "import('./dep.ts').catch(() => 0)" }, 'agents could create it'],
    [
      'paths of a tsconfig.json',
      {
        ...{ 'own.ts': "import 'pkg'", 'evil.ts': '', 'node_modules/pkg/index.js': '' },
        'tsconfig.json': '{"compilerOptions":{"paths":{"pkg":["./evil.ts"]}}}',
      },
      'a tsconfig.json or package.json leads to',
    ],
    [
      'a package that is the project itself',
      { 'own.ts': "import 'pkg'", 'evil.ts': '', 'package.json': '{"name":"pkg","exports":"./evil.ts"}' },
      'a tsconfig.json or package.json leads to',
    ],
    [
      'a mapped name',
      { 'own.ts': "import '#a'", 'a.ts': '', 'package.json': '{"imports":{"#a":"./a.ts"}}' },
      'agents could change it',
    ],
  ];
  test.each(REFUSED)('%s', async (_, files, reason) => {
    await using place = await project(files);
    const module = join(place.root, 'own.ts');
    expect(() => findImports([module], place.root)).toThrow(reason);
    // Elsewhere, where no agent works, the same module is fine.
    await mkdir(join(place.outside, 'work'));
    expect(findImports([module], join(place.outside, 'work')).readOnly).toContain(place.root);
  });

  test('a link', async () => {
    await using place = await project({
      'real/own.ts': TOOL,
      'own.ts': "import './link/dep.ts'",
      'real/dep.ts': '',
    });
    await symlink('real', join(place.root, 'link'));
    for (const module of ['link/own.ts', 'own.ts'])
      expect(() => findImports([join(place.root, module)], place.root)).toThrow('through the link');
  });
});
