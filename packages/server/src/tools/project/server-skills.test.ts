import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverSkills } from './server-skills.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'server-skills-'));
  for (const folder of ['data', 'work', 'installed']) mkdirSync(join(top, folder));
});
afterEach(() => rmSync(top, { recursive: true }));

const open = () =>
  serverSkills({
    data: join(top, 'data'),
    folders: [join(top, 'installed')],
    root: join(top, 'work'),
    guard: { hide: [join(top, 'data')] },
  });

const text = (name: string, description = 'Does it.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`;
const file = (path: string, content: string) => ({
  path,
  content: Buffer.from(content).toString('base64'),
});
const write = (folder: string, name: string, content: string) => {
  mkdirSync(join(top, folder, name), { recursive: true });
  writeFileSync(join(top, folder, name, 'SKILL.md'), content);
};

test('skills are uploaded, replaced, shown and removed', async () => {
  const skills = open();
  const added = await skills.add({
    files: [file('SKILL.md', text('release')), file('scripts/run.sh', 'true\n')],
  });
  expect(added).toEqual({
    name: 'release',
    description: 'Does it.',
    folder: join(top, 'data/skills/release'),
    source: 'data',
    files: ['scripts/run.sh'],
    problem: null,
  });
  await skills.add({ files: [file('SKILL.md', text('release', 'Better.'))] });
  expect(await skills.list()).toMatchObject([{ name: 'release', description: 'Better.', files: [] }]);
  expect((await skills.read('release')).text).toContain('Do it.');
  await skills.remove('release');
  expect(await skills.list()).toEqual([]);
  await expect(skills.remove('release')).rejects.toMatchObject({ code: 'not_found' });
});

test('those of configured folders are listed, with the reason why one is not offered, and cannot be removed', async () => {
  write('installed', 'review', text('review'));
  write('installed', 'wrong', text('other'));
  const skills = open();
  expect(await skills.list()).toMatchObject([
    { name: 'review', source: 'configured', problem: null },
    { name: 'wrong', problem: 'its name is other, but its folder is called wrong' },
  ]);
  await expect(skills.remove('review')).rejects.toMatchObject({ code: 'not_found' });
  expect(existsSync(join(top, 'installed/review'))).toBe(true);
  await skills.add({ files: [file('SKILL.md', text('review', 'Mine.'))] });
  expect(await skills.list()).toMatchObject([
    { name: 'review', description: 'Mine.', problem: null },
    { name: 'review', problem: 'another skill has this name' },
    { name: 'wrong' },
  ]);
});

test('a folder of the working directory is copied, and no other', async () => {
  write('work', '.agents/skills/release', text('release'));
  writeFileSync(join(top, 'secret'), 'secret');
  symlinkSync(join(top, 'secret'), join(top, 'work/.agents/skills/release/secret'));
  const skills = open();
  expect(await skills.add({ path: '.agents/skills/release' })).toMatchObject({ name: 'release', files: [] });
  write('outside', 'evil', text('evil'));
  write('data', 'skills/hidden', text('hidden'));
  symlinkSync(join(top, 'outside/evil'), join(top, 'work/evil'));
  for (const path of [
    '../outside/evil',
    join(top, 'outside/evil'),
    'evil',
    '../data/skills/hidden',
    'missing',
  ])
    await expect(skills.add({ path })).rejects.toMatchObject({ code: 'invalid' });
});

test.each([
  ['no SKILL.md', [file('readme.md', 'x')]],
  ['no front matter', [file('SKILL.md', 'x')]],
  ['a name that is a path', [file('SKILL.md', text('../../evil'))]],
  ['a path that leads out', [file('SKILL.md', text('release')), file('../evil', 'x')]],
  ['an absolute path', [file('SKILL.md', text('release')), file('/tmp/evil', 'x')]],
  ['a hidden file', [file('SKILL.md', text('release')), file('.git/config', 'x')]],
  ['a text that is too long', [file('SKILL.md', `${text('release')}${'x'.repeat(40_000)}`)]],
])('%s is refused, and nothing is left', async (_name, files) => {
  await expect(open().add({ files })).rejects.toMatchObject({ code: 'invalid' });
  const own = join(top, 'data/skills');
  expect(existsSync(own) ? readdirSync(own) : []).toEqual([]);
  expect(existsSync(join(top, 'data/evil'))).toBe(false);
});
