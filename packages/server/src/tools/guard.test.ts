import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  contextIn,
  faultOf,
  type ToolFixture,
  textFrom,
  toolFixture,
  use,
} from '../testing/tools/tool-context.ts';
import { type Guard, openGuard, withGuard } from './guard.ts';
import { listFiles } from './list-files.ts';
import { applyPatchTool } from './patch/tool.ts';
import { readFile } from './read-file.ts';
import { saveFile } from './save-file.ts';
import { searchFiles } from './search/tool.ts';
import { findSandbox } from './shell/sandbox.ts';
import { shell } from './shell/tool.ts';

const sandbox = await findSandbox();
// In CI the sandbox must be available: a skipped escape attempt proves nothing.
const skipped = !sandbox && !process.env.CI;

const guarded = (place: ToolFixture, guard: ReturnType<typeof openGuard>) => ({
  place,
  guard,
  async [Symbol.asyncDispose]() {
    guard.close();
    await place[Symbol.asyncDispose]();
  },
});

/** Everything that tools can read in the folder, to search for a secret. */
async function allThatIsSeen(place: ToolFixture, guard: Guard, path: string): Promise<string> {
  const context = contextIn(place.root);
  const looks = [
    textFrom(readFile(guard), { path }, context),
    textFrom(searchFiles(withGuard(guard, { ripgrep: null })), { query: 'secret' }, context),
    textFrom(searchFiles(withGuard(guard, { ripgrep: Bun.which('rg') })), { query: 'secret' }, context),
    textFrom(listFiles(guard), { depth: 10 }, context),
  ];
  const said = await Promise.all(looks.map((look) => look.catch((thrown: Error) => thrown.message)));
  return said.join('\n');
}

async function inSandbox(place: ToolFixture, guard: Guard, script: string) {
  const tool = shell('shell', withGuard(guard, { sandbox }));
  const result = await use(tool, { command: ['bash', '-c', script] }, contextIn(place.root));
  return { output: String(result.data?.output), exitCode: Number(result.data?.exit_code) };
}

describe('a hidden folder', () => {
  async function withData() {
    const place = await toolFixture();
    await place.write('var/data/key', 'secret of the server\n');
    await place.write('var/log', 'harmless\n');
    const guard = openGuard({ hide: [join(place.root, 'var/data')] });
    return guarded(place, guard);
  }

  test('stays hidden from file tools if it or its parent is moved', async () => {
    await using made = await withData();
    const { place, guard } = made;
    expect(await allThatIsSeen(place, guard, 'var/data/key')).not.toContain('of the server\n');
    await rename(join(place.root, 'var'), join(place.root, 'moved'));
    expect(await allThatIsSeen(place, guard, 'moved/data/key')).not.toMatch(/secret of|key$/m);
    await rename(join(place.root, 'moved/data'), join(place.root, 'other'));
    expect(await allThatIsSeen(place, guard, 'other/key')).not.toMatch(/secret of|key$/m);
    expect(await textFrom(readFile(guard), { path: 'moved/log' }, contextIn(place.root))).toBe('harmless\n');
  });

  test.skipIf(skipped)(
    'cannot be moved away in the sandbox, and is hidden there wherever it was moved',
    async () => {
      await using made = await withData();
      const { place, guard } = made;
      for (const attempt of ['mv var moved', 'mv var/data moved', 'mv var .hidden; cat .hidden/data/key'])
        expect((await inSandbox(place, guard, attempt)).exitCode).not.toBe(0);
      expect(await place.read('var/data/key')).toBe('secret of the server\n');
      await rename(join(place.root, 'var'), join(place.root, 'moved'));
      const { output } = await inSandbox(place, guard, 'cat moved/data/key; ls -A moved/data; cat moved/log');
      expect(output).not.toContain('secret');
      expect(output).toEndWith('harmless\n');
    },
  );

  test.skipIf(skipped)('does not prevent other folders from being moved', async () => {
    await using made = await withData();
    const { place, guard } = made;
    await place.write('src/a', 'a');
    expect((await inSandbox(place, guard, 'mv src lib && mv lib/a lib/b && mv var/log l')).exitCode).toBe(0);
    expect(await place.read('lib/b')).toBe('a');
  });
});

describe('a hidden file', () => {
  async function withConfig() {
    const place = await toolFixture();
    await place.write('conf/settings.json', '{ "openaiKey": "secret" }\n');
    await place.write('conf/tsconfig.json', '{}\n');
    const guard = openGuard({ hide: [join(place.root, 'conf/settings.json')] });
    return guarded(place, guard);
  }

  test('is closed to file tools, through a hard link too, and its neighbours are not', async () => {
    await using made = await withConfig();
    const { place, guard } = made;
    expect(await allThatIsSeen(place, guard, 'conf/settings.json')).not.toContain('openaiKey');
    await link(join(place.root, 'conf/settings.json'), join(place.root, 'twin'));
    expect(await allThatIsSeen(place, guard, 'twin')).not.toContain('openaiKey');
    const saving = use(saveFile(guard), { path: 'conf/settings.json', content: '{}' }, contextIn(place.root));
    expect((await faultOf(saving)).code).toBe('tool_invalid');
    const read = textFrom(readFile(guard), { path: 'conf/tsconfig.json' }, contextIn(place.root));
    expect(await read).toBe('{}\n');
  });

  test('stays hidden after an editor replaced it', async () => {
    await using made = await withConfig();
    const { place, guard } = made;
    await place.write('draft', '{ "openaiKey": "another secret" }\n');
    await rename(join(place.root, 'draft'), join(place.root, 'conf/settings.json'));
    expect(await allThatIsSeen(place, guard, 'conf/settings.json')).not.toContain('openaiKey');
  });

  test.skipIf(skipped)('is empty in the sandbox and can be neither replaced nor moved', async () => {
    await using made = await withConfig();
    const { place, guard } = made;
    const attempts = [
      'cat conf/settings.json',
      'mv conf c',
      'rm conf/settings.json',
      'echo x > conf/settings.json',
    ];
    for (const attempt of [
      ...attempts,
      'ln conf/settings.json twin && cat twin',
      'cp conf/settings.json copy; cat copy',
    ])
      expect((await inSandbox(place, guard, attempt)).output).not.toContain('secret');
    expect(await place.read('conf/settings.json')).toContain('secret');
    expect((await inSandbox(place, guard, 'cat conf/tsconfig.json && touch conf/new')).exitCode).toBe(0);
  });
});

describe("the server's code in the working directory", () => {
  async function withCode() {
    const place = await toolFixture();
    await place.write('server/packages/main.ts', 'code');
    await mkdir(join(place.root, 'server/workspace'));
    const guard = openGuard({
      hide: [],
      readOnly: [join(place.root, 'server')],
      writable: [join(place.root, 'server/workspace')],
    });
    return guarded(place, guard);
  }

  const patch = (text: string) => ({ patch: `*** Begin Patch\n${text}\n*** End Patch` });

  test('is readable and not writable for file tools; the workspace inside is writable', async () => {
    await using made = await withCode();
    const { place, guard } = made;
    for (const root of [place.root, join(place.root, 'server'), join(place.root, 'server/packages')]) {
      const path = join(place.root, 'server/packages/main.ts').slice(root.length + 1);
      const context = contextIn(root, { permission: 'approved' });
      expect(await textFrom(readFile(guard), { path }, context)).toBe('code\n');
      expect((await faultOf(use(saveFile(guard), { path, content: 'x' }, context))).code).toBe(
        'tool_invalid',
      );
      const changed = await textFrom(applyPatchTool(guard), patch(`*** Delete File: ${path}`), context);
      expect(changed).toContain('cannot be changed');
    }
    const context = contextIn(place.root);
    await use(saveFile(guard), { path: 'server/workspace/a', content: 'x' }, context);
    await use(saveFile(guard), { path: 'beside', content: 'x' }, context);
    expect(await readdir(join(place.root, 'server/workspace'))).toEqual(['a']);
  });

  test.skipIf(skipped)('is read-only in the sandbox; the workspace inside is not', async () => {
    await using made = await withCode();
    const { place, guard } = made;
    for (const root of [place.root, join(place.root, 'server')]) {
      const at = { ...place, root };
      const code = join(place.root, 'server');
      const attempts = [
        `echo x > ${code}/packages/main.ts`,
        `echo x > ${code}/bunfig.toml`,
        `mv ${code} ${root}/x`,
      ];
      for (const attempt of attempts)
        expect([attempt, (await inSandbox(at, guard, attempt)).exitCode]).not.toEqual([attempt, 0]);
      expect((await inSandbox(at, guard, `echo x > ${code}/workspace/a`)).exitCode).toBe(0);
    }
    expect((await inSandbox(place, guard, 'echo x > beside && cat server/packages/main.ts')).output).toBe(
      'code',
    );
    expect(existsSync(join(place.root, 'server/bunfig.toml'))).toBe(false);
  });
});

test('a missing path is hidden by its name, and a deleted one hides nothing else', async () => {
  await using place = await toolFixture();
  const guard = openGuard({ hide: [join(place.root, 'later')] });
  await place.write('later/key', 'secret');
  expect(await allThatIsSeen(place, guard, 'later/key')).not.toMatch(/secret$|key$/m);
  guard.close();
  await place.write('gone/key', 'x');
  const other = openGuard({ hide: [join(place.root, 'gone')] });
  await rm(join(place.root, 'gone'), { recursive: true });
  expect(other.hide).toEqual([join(place.root, 'gone')]);
  other.close();
});
