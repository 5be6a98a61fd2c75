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

describe('further folders of the operator', () => {
  const more = openFolders({
    root,
    more: [join(base, 'elsewhere'), join(base, 'gone'), join(base, 'link')],
    anywhere: false,
    guard,
  });

  test('are allowed with what is in them, and nothing beside them', async () => {
    mkdirSync(join(base, 'elsewhere/project/inner'), { recursive: true });
    mkdirSync(join(base, 'elsewhere-too'), { recursive: true });
    expect(await more.admit(join(base, 'elsewhere'))).toBe(join(base, 'elsewhere'));
    expect(await more.admit(join(base, 'elsewhere/project'))).toBe(join(base, 'elsewhere/project'));
    expect(await more.check(join(base, 'elsewhere/project'))).toBe('');
    expect(await more.check(join(root, 'sub'))).toBe('sub');
    for (const path of [base, join(base, 'elsewhere-too'), join(base, 'elsewhere/../elsewhere-too'), '/'])
      await expect(more.admit(path)).rejects.toMatchObject({ code: 'invalid' });
    symlinkSync(join(base, 'elsewhere-too'), join(base, 'elsewhere/escape'));
    await expect(more.admit(join(base, 'elsewhere/escape'))).rejects.toMatchObject({ code: 'invalid' });
  });

  test('are listed once and if they exist, the working directory of the server first', async () => {
    expect(await more.list(null)).toEqual({
      ...{ path: null, parent: null, cut: false },
      folders: [root, join(base, 'elsewhere')],
    });
  });
});

describe('the list of a folder', () => {
  test('has the folders in which sessions may work, and the way up to the topmost one', async () => {
    mkdirSync(join(root, 'sub/.hidden'));
    // Links, files, the data folder and those of git are left out.
    expect(await folders.list(join(base, 'link'))).toEqual({
      ...{ path: root, parent: null, cut: false },
      folders: expect.arrayContaining([join(root, 'sub')]),
    });
    const listed = (await folders.list(root)).folders.map((path) => path.slice(root.length + 1));
    for (const name of ['data', '.git', 'bare', 'file', 'out', 'alias']) expect(listed).not.toContain(name);
    expect(await folders.list(join(root, 'alias'))).toEqual({
      ...{ path: join(root, 'sub'), parent: root, cut: false },
      folders: [join(root, 'sub/deep')],
    });
  });

  test('is refused where sessions may not work', async () => {
    for (const path of [base, '/', 'sub', join(root, 'data'), join(root, 'out'), join(root, '..')])
      await expect(folders.list(path)).rejects.toMatchObject({ code: 'invalid' });
  });
});
