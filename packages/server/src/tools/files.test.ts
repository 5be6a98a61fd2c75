import { describe, expect, test } from 'bun:test';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  contextIn,
  faultOf,
  type ToolFixture,
  textFrom,
  toolFixture,
} from '../testing/tools/tool-context.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { matchesOf } from './search/matches.ts';
import { searchFiles } from './search/tool.ts';

const ripgrep = Bun.which('rg');

async function withEscapes(): Promise<ToolFixture> {
  const place = await toolFixture();
  await Bun.write(join(place.outside, 'secret.txt'), 'secret outside\n');
  await symlink(place.outside, join(place.root, 'up'));
  await symlink(join(place.outside, 'secret.txt'), join(place.root, 'secret-link'));
  await place.write('.data/key', 'secret of the server\n');
  return place;
}

describe('every reading tool', () => {
  const tools = (hide: string[]) => [
    readFile({ hide }),
    listFiles({ hide }),
    searchFiles({ hide, ripgrep: null }),
    ...(ripgrep ? [searchFiles({ hide, ripgrep })] : []),
  ];

  test('stays inside the root, links included, and out of the hidden folder', async () => {
    await using place = await withEscapes();
    for (const tool of tools([join(place.root, '.data')])) {
      for (const path of [
        '..',
        '/etc/passwd',
        '../secret.txt',
        'up/secret.txt',
        'secret-link',
        'up',
        '.data',
        '.data/key',
      ]) {
        const fault = await faultOf(textFrom(tool, { path, query: 'secret' }, contextIn(place.root)));
        expect([tool.name, path, fault.code]).toEqual([tool.name, path, 'tool_invalid']);
      }
    }
  });

  test('reports missing files', async () => {
    await using place = await toolFixture();
    for (const tool of tools([])) {
      const fault = await faultOf(textFrom(tool, { path: 'none', query: 'x' }, contextIn(place.root)));
      expect(fault.message).toContain('There is no');
    }
  });

  test('needs no approval', async () => {
    for (const tool of tools([])) expect(await tool.approval({}, { root: '/' })).toBeNull();
  });
});

describe('read_file', () => {
  const read = (place: ToolFixture, input: object) =>
    textFrom(readFile({ hide: [] }), input, contextIn(place.root));

  test('returns the text', async () => {
    await using place = await toolFixture();
    await place.write('a.txt', 'one\ntwo ä\n');
    await place.write('b.txt', 'no newline');
    await place.write('empty', '');
    expect(await read(place, { path: 'a.txt' })).toBe('one\ntwo ä\n');
    expect(await read(place, { path: join(place.root, 'a.txt') })).toBe('one\ntwo ä\n');
    expect(await read(place, { path: 'b.txt' })).toBe('no newline\n');
    expect(await read(place, { path: 'empty' })).toBe('empty is empty.');
  });

  test('returns pages of lines and the offset of the next page', async () => {
    await using place = await toolFixture();
    await place.write('a.txt', Array.from({ length: 3_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect(await read(place, { path: 'a.txt', offset: 2, limit: 2 })).toBe(
      '2\n3\n[… more lines follow; go on with offset 4 …]\n',
    );
    expect(await read(place, { path: 'a.txt' })).toEndWith(
      '2000\n[… more lines follow; go on with offset 2001 …]\n',
    );
    expect(await read(place, { path: 'a.txt', offset: 2_999 })).toBe('2999\n3000\n');
    expect(await read(place, { path: 'a.txt', offset: 3_001 })).toBe('a.txt has no line 3001.');
  });

  test('is bounded for large files, and every line is reachable', async () => {
    await using place = await toolFixture();
    await place.write('large.txt', `${'x'.repeat(99)}\n`.repeat(20_000));
    const page = await read(place, { path: 'large.txt' });
    expect(page.length).toBeLessThan(61_000);
    const next = Number(/offset (\d+)/.exec(page)?.[1]);
    expect(page.split('\n').length - 2).toBe(next - 1);
  });

  test('cuts a line of 1 MB without splitting a character', async () => {
    await using place = await toolFixture();
    await place.write('long.txt', `x${'😀'.repeat(250_000)}\nend\n`);
    const page = await read(place, { path: 'long.txt' });
    expect(page.length).toBeLessThan(3_000);
    expect(page).toContain('characters left out');
    expect(page).toEndWith('\nend\n');
    expect(page.isWellFormed()).toBe(true);
    expect(page).not.toContain('\ufffd');
  });

  test('joins characters that are split between chunks', async () => {
    await using place = await toolFixture();
    const line = `${'€'.repeat(500)}\n`;
    await place.write('wide.txt', `x\n${line.repeat(100)}`);
    expect(await read(place, { path: 'wide.txt' })).toBe(`x\n${line.repeat(100)}`);
  });

  test('reports binary files', async () => {
    await using place = await toolFixture();
    await place.write('image.png', new Uint8Array([0x89, 0x50, 0, 1, 2]));
    expect(await read(place, { path: 'image.png' })).toBe('image.png is a binary file of 5 bytes.');
  });

  test('refuses folders and pipes', async () => {
    await using place = await toolFixture();
    Bun.spawnSync(['mkfifo', join(place.root, 'pipe')]);
    expect((await faultOf(read(place, { path: '.' }))).message).toContain('is a folder');
    expect((await faultOf(read(place, { path: 'pipe' }))).message).toContain('not a regular file');
  });
});

describe('list_files', () => {
  const list = (place: ToolFixture, input: object, hide: string[] = []) =>
    textFrom(listFiles({ hide }), input, contextIn(place.root));

  test('lists one level, or as many as requested', async () => {
    await using place = await toolFixture();
    await place.write('src/deep/a.ts', '');
    await place.write('b.md', '');
    await place.write('node_modules/x/y.js', '');
    await symlink('b.md', join(place.root, 'link'));
    expect(await list(place, {})).toBe('b.md\nlink@\nnode_modules/\nsrc/');
    expect(await list(place, { depth: 3 })).toBe(
      'b.md\nlink@\nnode_modules/\nsrc/\nsrc/deep/\nsrc/deep/a.ts',
    );
    expect(await list(place, { path: 'src' })).toBe('src/deep/');
  });

  test('leaves the hidden folder out and does not follow links', async () => {
    await using place = await withEscapes();
    expect(await list(place, { depth: 5 }, [join(place.root, '.data')])).toBe('secret-link@\nup@');
  });

  test('returns pages', async () => {
    await using place = await toolFixture();
    for (let index = 0; index < 1_005; index++) await place.write(`f${String(index).padStart(4, '0')}`, '');
    const page = await list(place, {});
    expect(page).toEndWith('f0999\n[… more entries follow; go on with offset 1001 …]');
    expect(await list(place, { offset: 1_001 })).toBe('f1000\nf1001\nf1002\nf1003\nf1004');
  });

  test('reports an empty folder', async () => {
    await using place = await toolFixture();
    expect(await list(place, {})).toBe('The folder is empty.');
  });
});

for (const program of ripgrep ? [null, ripgrep] : [null]) {
  describe(program ? 'search_files with ripgrep' : 'search_files without ripgrep', () => {
    const search = (place: ToolFixture, input: object, hide: string[] = []) =>
      textFrom(searchFiles({ hide, ripgrep: program }), input, contextIn(place.root));

    test('finds literal text, and patterns if requested', async () => {
      await using place = await toolFixture();
      await place.write('src/a.ts', 'const a = f(x);\nconst b = 2;\n');
      await place.write('b.md', 'f(x) explained\n');
      await place.write('.git/config', 'f(x)');
      await place.write('-e', 'dash f(x)\n');
      expect(await search(place, { query: 'f(x)' })).toBe(
        '-e:1:dash f(x)\nb.md:1:f(x) explained\nsrc/a.ts:1:const a = f(x);',
      );
      expect(await search(place, { query: 'const [ab] = \\d', regex: true })).toBe('src/a.ts:2:const b = 2;');
      expect(await search(place, { query: 'const', path: 'src' })).toContain('src/a.ts:1:');
      expect(await search(place, { query: 'const', path: 'src/a.ts' })).toContain('src/a.ts:2:');
      expect(await search(place, { query: '--files' })).toBe('No match.');
    });

    test('an invalid pattern is a fault', async () => {
      await using place = await toolFixture();
      await place.write('a', 'x');
      expect((await faultOf(search(place, { query: '(', regex: true }))).code).toBe('tool_invalid');
    });

    test('skips binary files, the hidden folder and targets of links', async () => {
      await using place = await withEscapes();
      await place.write('binary', new Uint8Array([...Buffer.from('secret'), 0, 1]));
      await place.write('a.txt', 'secret word\n');
      expect(await search(place, { query: 'secret' }, [join(place.root, '.data')])).toBe(
        'a.txt:1:secret word',
      );
    });

    test('returns pages', async () => {
      await using place = await toolFixture();
      await place.write('a.txt', 'word\n'.repeat(205));
      const page = await search(place, { query: 'word' });
      expect(page.split('\n').length).toBe(201);
      expect(page).toEndWith('[… more matches follow; go on with offset 201 …]');
      expect((await search(place, { query: 'word', offset: 201 })).split('\n').length).toBe(5);
    });

    test('cuts a line of 1 MB', async () => {
      await using place = await toolFixture();
      await place.write('a.txt', `word ${'x'.repeat(1_000_000)}\n`);
      expect((await search(place, { query: 'word' })).length).toBeLessThan(500);
    });

    test('stops on abort', async () => {
      await using place = await toolFixture();
      await place.write('a.txt', 'word\n');
      const tool = searchFiles({ hide: [], ripgrep: program });
      const aborted = contextIn(place.root, { signal: AbortSignal.abort() });
      expect((await faultOf(textFrom(tool, { query: 'word' }, aborted))).code).toBe('cancelled');
    });
  });
}

test('the plain search does not run code named by a configuration file in the working directory', async () => {
  await using place = await toolFixture();
  await place.write('bunfig.toml', 'preload = ["./evil.ts"]\n');
  await place.write('evil.ts', `await Bun.write(${JSON.stringify(join(place.root, 'ran'))}, 'x');\n`);
  await textFrom(searchFiles({ hide: [], ripgrep: null }), { query: 'preload' }, contextIn(place.root));
  expect(await Bun.file(join(place.root, 'ran')).exists()).toBe(false);
});

describe('the search process', () => {
  const script = (text: string) => ({
    argv: ['sh', '-c', text],
    folder: '/',
    env: { PATH: process.env.PATH ?? '' },
  });

  test('is stopped on timeout', async () => {
    const search = Array.fromAsync(matchesOf(script('exec sleep 600'), new AbortController().signal, 50));
    expect((await faultOf(search)).message).toBe('The search took longer than 0.05 s.');
  });

  test('is stopped on abort', async () => {
    const abort = new AbortController();
    const search = matchesOf(script("printf 'a\\0001:x\\n'; exec sleep 600"), abort.signal, 60_000);
    expect((await search.next()).value).toEqual({ path: 'a', line: '1:x' });
    abort.abort();
    expect((await faultOf(search.next())).code).toBe('cancelled');
  });
});
