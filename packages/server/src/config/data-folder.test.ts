import { describe, expect, test } from 'bun:test';
import { copyFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { configFolders } from '../testing/config.ts';
import { loadConfig } from './config.ts';

const { env, errorOf, folder, folderWith, folderWithData, registered } = configFolders();

describe('the default data folder', () => {
  const cwd = registered(folderWith('', 'x'));
  writeFileSync(join(cwd, '.parlance/config.json'), '{}');

  test('a data folder tracked by a repository is refused unless it is named', () => {
    const clone = folderWithData({ port: 6666 });
    const git = (...args: string[]) => Bun.spawnSync(['git', ...args], { cwd: clone });
    git('init', '-q');
    expect(errorOf([], {}, clone)).toContain('is not known to be yours');
    writeFileSync(join(clone, '.git/index'), 'junk');
    expect(errorOf([], {}, clone)).toContain('is part of a git repository');
    rmSync(join(clone, '.git/index'));
    git('add', '-f', '.parlance/config.json');
    expect(errorOf([], {}, clone)).toBe(
      `the data folder ${join(clone, '.parlance')} is part of a git repository and may come from somebody else: name it with --data if you trust it`,
    );
    expect(loadConfig(['--data', '.parlance'], {}, clone).port).toBe(6666);
  });

  test('a default data folder that no server of this user created is refused, whatever it contains', () => {
    const archive = folderWithData({ port: 6666 });
    const data = join(archive, '.parlance');
    const origin = '(made by an earlier version, by hand, or by somebody else)';
    const line = (start: string) =>
      `the data folder ${data} is not known to be yours ${origin}: ${start} with --data .parlance if you trust it`;
    for (const argv of [[], ['--config', join(data, 'config.json')]]) {
      expect(errorOf(argv, env, archive)).toBe(line('start once'));
      expect(errorOf(argv, {}, archive)).toBe(line('start'));
    }
    expect(loadConfig(['--data', '.parlance'], {}, archive).port).toBe(6666);
    rmSync(join(data, 'config.json'));
    expect(loadConfig([], env, archive).registration).toMatchObject({ isNamed: false });
    writeFileSync(join(data, 'parlance.db'), '');
    expect(errorOf([], env, archive)).toBe(line('start once'));
  });

  test('a copied id or one that points outside of the registry does not register a folder', () => {
    const archive = folderWithData({ port: 6666 });
    const id = join(archive, '.parlance/id');
    copyFileSync(join(cwd, '.parlance/id'), id);
    expect(errorOf([], env, archive)).toContain('is not known to be yours');
    writeFileSync(join(archive, 'path'), join(archive, '.parlance'));
    writeFileSync(id, relative(join(folder, 'state/parlance/data-folders'), join(archive, 'path')));
    expect(errorOf([], env, archive)).toContain('is not known to be yours');
    const linked = folderWith('', 'x');
    symlinkSync(join(cwd, '.parlance'), join(linked, '.parlance'));
    expect(errorOf([], env, linked)).toContain('is a link: name it with --data .parlance');
  });

  test('a data folder is registered if the environment names a registry, whether the folder is named or not', () => {
    const registry = join(folder, 'state/parlance/data-folders');
    expect(loadConfig(['--data', 'new'], env, folder).registration).toEqual({ registry, isNamed: true });
    expect(loadConfig([], env, folder).registration).toEqual({ registry, isNamed: false });
    expect(loadConfig(['--data', 'new'], {}, folder).registration).toEqual({ registry: null, isNamed: true });
    expect(loadConfig([], env, cwd).registration).toBeNull();
  });

  test('a folder with the id of another folder gets a new id', () => {
    const copy = folderWithData({ port: 6666 });
    copyFileSync(join(cwd, '.parlance/id'), join(copy, '.parlance/id'));
    registered(copy);
    expect(loadConfig([], env, copy).port).toBe(6666);
    expect(loadConfig([], env, cwd).registration).toBeNull();
  });
});
