import { afterAll, describe, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolders } from './folders.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-folders-')));
const root = join(base, 'work');
for (const path of [
  'work/sub/deep',
  'work/data',
  'work/.git/hooks',
  'work/bare/objects',
  'elsewhere',
  'work/moved',
])
  mkdirSync(join(base, path), { recursive: true });
writeFileSync(join(root, 'bare/HEAD'), '');
writeFileSync(join(root, 'file'), '');
symlinkSync(join(base, 'elsewhere'), join(root, 'out'));
symlinkSync('sub', join(root, 'alias'));
symlinkSync('work', join(base, 'link'));
afterAll(() => rmSync(base, { recursive: true }));

const guard = { hide: [join(root, 'data')] };
const folders = openFolders({ root: join(base, 'link'), anywhere: false, guard });
const anywhere = openFolders({ root, anywhere: true, guard });

describe('a session may work', () => {
  test('in the working directory of the server and inside of it, links resolved', async () => {
    expect(await folders.admit(root)).toBe(root);
    expect(await folders.admit(join(base, 'link'))).toBe(root);
    expect(await folders.admit(join(root, 'sub/deep/'))).toBe(join(root, 'sub/deep'));
    expect(await folders.admit(join(root, 'alias'))).toBe(join(root, 'sub'));
  });

  test('anywhere, if the caller is the user of the process', async () => {
    expect(await anywhere.admit(join(root, 'out'))).toBe(join(base, 'elsewhere'));
    expect(await anywhere.check(join(base, 'elsewhere'))).toBe('');
  });
});

describe('a session may not work', () => {
  test.each([
    'sub',
    './sub',
    `${root}/\0`,
    join(base, 'elsewhere'),
    join(root, 'out'),
    join(root, 'sub/../..'),
    join(root, 'nothing'),
    join(root, 'file'),
    join(root, 'data'),
    join(root, '.git'),
    join(root, '.git/hooks'),
    join(root, 'bare'),
    join(root, 'bare/objects'),
    '/',
  ])('in %p', async (path) => {
    await expect(folders.admit(path)).rejects.toMatchObject({ code: 'invalid' });
  });

  test.each([join(root, 'nothing'), join(root, 'file'), join(root, 'data'), join(root, '.git/hooks')])(
    'in %p, even if it may work anywhere',
    async (path) => {
      await expect(anywhere.admit(path)).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  test('where the answer would say what is outside', async () => {
    const answers = await Promise.all(
      [join(base, 'elsewhere'), join(base, 'nothing'), '/etc/passwd'].map((path) =>
        folders.admit(path).catch(({ message }) => message),
      ),
    );
    expect(new Set(answers).size).toBe(1);
  });
});

describe('before each call', () => {
  test('the path from the working directory of the server is given', async () => {
    expect(await folders.check(join(root, 'sub/deep'))).toBe('sub/deep');
    expect(await folders.check(root)).toBe('');
  });

  test('a folder that was swapped for a link, moved or removed is refused', async () => {
    const moved = join(root, 'moved');
    expect(await folders.check(moved)).toBe('moved');
    renameSync(moved, join(root, 'gone'));
    await expect(folders.check(moved)).rejects.toMatchObject({ code: 'tool_failed' });
    symlinkSync(join(base, 'elsewhere'), moved);
    await expect(folders.check(moved)).rejects.toMatchObject({ code: 'tool_failed' });
  });

  test('a folder outside is refused: the session may come from another server', async () => {
    await expect(folders.check(join(base, 'elsewhere'))).rejects.toMatchObject({ code: 'tool_failed' });
  });
});
