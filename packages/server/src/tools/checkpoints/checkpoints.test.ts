import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CallId, ChangedFiles, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import type { CheckpointedSession } from '../../core/ports/checkpoints.ts';
import { sha256 } from '../seen.ts';
import { type CheckpointOptions, LocalCheckpoints, takeBack } from './checkpoints.ts';
import { CheckpointDatabase } from './database.ts';
import { type Manifest, scan } from './scan.ts';

const ignore = () => undefined;

const session = (id: string): CheckpointedSession => ({
  owner: 'ada' as PrincipalId,
  id: id as SessionId,
  createdAt: 1,
});
const ONE = session('one');
const TWO = session('two');

let top: string;
let root: string;
let data: string;
let checkpoints: LocalCheckpoints;
let count = 0;

const open = (options: Partial<CheckpointOptions> = {}) =>
  new LocalCheckpoints({
    data,
    guard: { hide: [data] },
    space: 64 * 1024 * 1024,
    maxEntries: 20_000,
    exists: async () => true,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    ...options,
  });

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'checkpoints-'));
  root = join(top, 'work');
  data = join(top, 'data');
  mkdirSync(root);
  mkdirSync(data);
  count = 0;
  checkpoints = open();
});

afterEach(async () => {
  checkpoints.close();
  await rm(top, { recursive: true, force: true });
});

const at = (path: string) => join(root, path);
const write = (path: string, text: string | Uint8Array) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const read = (path: string) => readFileSync(at(path), 'utf8');

async function begin(of: CheckpointedSession, what: 'folder' | string[] = 'folder', seq = 10) {
  const call = `call-${++count}` as CallId;
  const { signal } = new AbortController();
  return checkpoints.before(
    { session: of, ephemeral: false, turn: 't' as TurnId, call, seq, root, signal },
    what,
  );
}

async function command(of: CheckpointedSession, run: () => unknown, seq = 10): Promise<ChangedFiles> {
  const ended = await begin(of, 'folder', seq);
  await run();
  return ended();
}

const rewind = (of: CheckpointedSession, rewind = 'r1', overwrite: string[] = [], from = 1) =>
  checkpoints.restore({ session: of, root, rewind, from, overwrite });
const undo = (of: CheckpointedSession, undoes: string, rewind = `undo-${undoes}`) =>
  checkpoints.restore({ session: of, root, rewind, undoes, overwrite: [] });
const preview = (of: CheckpointedSession, from = 1) => checkpoints.preview({ session: of, root, from });

/** Everything below the folder. */
function tree(folder = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const shown = path.slice(root.length + 1);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found[shown] = `→ ${readlinkSync(path)}`;
    else if (stat.isDirectory()) Object.assign(found, { [`${shown}/`]: mode }, tree(path));
    else found[shown] = stat.isFile() ? `${mode} ${readFileSync(path).toString('latin1')}` : 'other';
  }
  return found;
}

describe('a rewind', () => {
  test('restores files, links, modes and folders that a command has changed, and can be undone and made again', async () => {
    write('a.txt', 'one\n');
    write('gone/deep/b.bin', new Uint8Array([0, 255, 10, 13]));
    write('run.sh', '#!/bin/sh\n');
    chmodSync(at('run.sh'), 0o755);
    write('new\nline.txt', 'with a line break in its name');
    symlinkSync('a.txt', at('link'));
    write('kind', 'a file');
    mkdirSync(at('empty'));
    const before = tree();
    const changed = await command(ONE, () => {
      write('a.txt', 'two\n');
      rmSync(at('gone'), { recursive: true });
      chmodSync(at('run.sh'), 0o600);
      write('new\nline.txt', 'changed');
      unlinkSync(at('link'));
      symlinkSync('run.sh', at('link'));
      unlinkSync(at('kind'));
      write('kind/inner.txt', 'a folder now');
      rmSync(at('empty'), { recursive: true });
      mkdirSync(at('made/inside'), { recursive: true });
      write('A.txt', 'differs in case');
    });
    expect(changed.changed).toContainEqual({ path: 'a.txt', change: 'modified' });
    expect(changed.changed).toContainEqual({ path: 'gone/deep/b.bin', change: 'deleted' });
    const after = tree();
    const { restored, kept } = await rewind(ONE);
    expect(kept).toEqual([]);
    expect(restored).toContainEqual({ path: 'gone/deep/b.bin', change: 'added' });
    expect(tree()).toEqual(before);
    expect((await undo(ONE, 'r1')).kept).toEqual([]);
    expect(tree()).toEqual(after);
    expect((await undo(ONE, 'undo-r1')).kept).toEqual([]);
    expect(tree()).toEqual(before);
    expect((await undo(ONE, 'undo-undo-r1')).kept).toEqual([]);
    expect((await rewind(ONE, 'r2')).kept).toEqual([]);
    expect(tree()).toEqual(before);
  });

  test('keeps what somebody else has changed since, unless it is named', async () => {
    write('mine', '1');
    write('both', '1');
    await command(ONE, () => {
      write('mine', '2');
      write('both', '2');
    });
    write('both', 'by hand');
    const { files } = await preview(ONE);
    expect(files.map(({ path, kept, canOverwrite }) => ({ path, kept, canOverwrite }))).toEqual([
      { path: 'both', kept: 'it was changed since by somebody else', canOverwrite: true },
      { path: 'mine', kept: undefined, canOverwrite: undefined },
    ]);
    expect(await rewind(ONE)).toMatchObject({ restored: [{ path: 'mine' }], kept: [{ path: 'both' }] });
    expect([read('mine'), read('both')]).toEqual(['1', 'by hand']);
    expect(await rewind(ONE, 'r2', ['both'])).toMatchObject({ restored: [{ path: 'both' }], kept: [] });
    expect(read('both')).toBe('1');
    await undo(ONE, 'r2');
    expect(read('both')).toBe('by hand');
  });

  test('takes back only from the given event on', async () => {
    write('a', '0');
    await command(ONE, () => write('a', '1'), 10);
    await command(ONE, () => write('a', '2'), 20);
    await command(ONE, () => write('a', '3'), 30);
    await rewind(ONE, 'r1', [], 20);
    expect(read('a')).toBe('1');
    await rewind(ONE, 'r2', [], 1);
    expect(read('a')).toBe('0');
  });

  test('of one session does not take back the work of another', async () => {
    write('shared', '0');
    write('two', '0');
    await command(ONE, () => write('shared', '1'));
    await command(TWO, () => {
      write('shared', '2');
      write('two', '2');
    });
    await command(ONE, () => write('one', '1'));
    expect(await rewind(ONE)).toMatchObject({ restored: [{ path: 'one' }], kept: [{ path: 'shared' }] });
    expect([read('shared'), read('two'), existsSync(at('one'))]).toEqual(['2', '2', false]);
    expect((await rewind(TWO, 'r2')).kept).toEqual([]);
    expect([read('shared'), read('two')]).toEqual(['1', '0']);
    expect((await rewind(ONE, 'r3')).kept).toEqual([]);
    expect(read('shared')).toBe('0');
  });

  test('keeps what commands of two sessions may have changed at the same time', async () => {
    write('a', '0');
    const one = await begin(ONE);
    const two = await begin(TWO);
    write('a', '1');
    await one();
    await two();
    for (const of of [ONE, TWO]) {
      expect((await rewind(of, `r-${of.id}`)).kept).toEqual([
        { path: 'a', reason: 'a command of another session ran in the folder at the same time' },
      ]);
    }
  });

  test('does not count a file that a file tool of another session saves during a command', async () => {
    write('a', '0');
    const running = await begin(ONE);
    const saving = await begin(TWO, ['b.txt']);
    write('b.txt', 'saved');
    await saving();
    write('a', '1');
    await running();
    expect(await rewind(ONE)).toEqual({ restored: [{ path: 'a', change: 'modified' }], kept: [] });
    expect(read('b.txt')).toBe('saved');
  });

  test('removes the folders that a file tool has made', async () => {
    const saved = await begin(ONE, ['deep/er/file.txt']);
    write('deep/er/file.txt', 'new');
    expect((await saved()).changed.map(({ path }) => path)).toEqual([
      'deep/',
      'deep/er/',
      'deep/er/file.txt',
    ]);
    await rewind(ONE);
    expect(tree()).toEqual({});
  });

  test('completes what a crash has interrupted, at every file', async () => {
    const paths = ['a', 'b', 'c', 'd'];
    for (const path of paths) write(path, '0');
    await command(ONE, () => {
      for (const path of paths) write(path, '1');
      write('made/new', '1');
    });
    for (let done = 0; done <= paths.length; done++) {
      const id = `r${done}`;
      await crashAfter(id, done);
      checkpoints.close();
      checkpoints = open();
      expect((await rewind(ONE, id)).kept).toEqual([]);
      expect(tree()).toEqual({ a: '644 0', b: '644 0', c: '644 0', d: '644 0' });
      // Asked again, it tells the same and changes nothing.
      write('a', 'later');
      expect((await rewind(ONE, id)).restored).toHaveLength(6);
      expect(read('a')).toBe('later');
      write('a', '0');
      await undo(ONE, id);
      expect(read('a')).toBe('1');
    }
  });
});

/** Begins the rewind, restores `done` files by hand as it would, and stops. */
async function crashAfter(id: string, done: number): Promise<void> {
  const database = new CheckpointDatabase(join(data, 'checkpoints.sqlite'));
  const files = takeBack(database.changes(ONE, 1)).map(({ path, expected, after, changes, active }) => ({
    path,
    before: expected,
    after,
    changes,
    active,
    kept: null,
  }));
  database.beginRewind(ONE, id, root, files);
  for (const { path } of files.filter(({ after }) => after !== null).slice(0, done)) write(path, '0');
  database.close();
}

describe('what is hostile', () => {
  test('rules of attributes, filters and a hostile git folder are not read, and git folders are not touched', async () => {
    write('.gitattributes', '* filter=evil diff=evil text eol=crlf\n');
    write(
      '.git/config',
      `[core]\n\tfsmonitor = touch ${join(top, 'owned')}\n[filter "evil"]\n\tsmudge = touch ${join(top, 'owned')}\n`,
    );
    write('.git/hooks/post-checkout', `#!/bin/sh\ntouch ${join(top, 'owned')}\n`);
    write('bare.git/HEAD', 'ref: refs/heads/main');
    mkdirSync(at('bare.git/objects'));
    write('a.txt', 'lf\n');
    const changed = await command(ONE, () => {
      write('a.txt', 'changed\n');
      write('.git/index', 'written by the command');
      write('bare.git/config', 'written by the command');
    });
    expect(changed.changed).toEqual([{ path: 'a.txt', change: 'modified' }]);
    await rewind(ONE);
    expect(read('a.txt')).toBe('lf\n');
    expect(read('.git/index')).toBe('written by the command');
    expect(existsSync(join(top, 'owned'))).toBe(false);
  });

  test('a folder that was swapped for a link to outside is not written through', async () => {
    mkdirSync(join(top, 'outside'));
    writeFileSync(join(top, 'outside', 'file'), 'outside');
    write('folder/file', '0');
    await command(ONE, () => write('folder/file', 'outside'));
    rmSync(at('folder'), { recursive: true });
    symlinkSync(join(top, 'outside'), at('folder'));
    expect((await rewind(ONE, 'r1', ['folder/file'])).restored).toEqual([]);
    expect(readFileSync(join(top, 'outside', 'file'), 'utf8')).toBe('outside');
  });

  test('a file that was swapped for a link is kept, and its target is not written when it is named', async () => {
    writeFileSync(join(top, 'target'), '1');
    write('file', '0');
    await command(ONE, () => write('file', '1'));
    unlinkSync(at('file'));
    symlinkSync(join(top, 'target'), at('file'));
    expect((await rewind(ONE)).kept).toHaveLength(1);
    await rewind(ONE, 'r2', ['file']);
    expect(read('file')).toBe('0');
    expect(lstatSync(at('file')).isFile()).toBe(true);
    expect(readFileSync(join(top, 'target'), 'utf8')).toBe('1');
  });

  test('a working folder that was replaced by a link to another folder is not that folder', async () => {
    write('file', '0');
    await command(ONE, () => write('file', '1'));
    await rename(root, join(top, 'moved'));
    mkdirSync(join(top, 'other'));
    writeFileSync(join(top, 'other', 'file'), '1');
    symlinkSync(join(top, 'other'), root);
    expect(await rewind(ONE)).toMatchObject({ restored: [] });
    expect(readFileSync(join(top, 'other', 'file'), 'utf8')).toBe('1');
    unlinkSync(root);
    await rename(join(top, 'moved'), root);
    await rewind(ONE, 'r2');
    expect(read('file')).toBe('0');
  });

  test('names that escape are refused: nothing is read or recorded', async () => {
    writeFileSync(join(top, 'secret'), 'secret');
    symlinkSync(join(top, 'secret'), at('way-out'));
    const ended = await begin(ONE, [
      '../secret',
      join(top, 'secret'),
      'x\0y',
      'way-out',
      '../work/../secret',
    ]);
    writeFileSync(join(top, 'secret'), 'changed');
    expect(await ended()).toEqual({ changed: [] });
    expect((await rewind(ONE)).restored).toEqual([]);
    expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('changed');
  });

  test('sockets, pipes and devices are neither opened nor restored', async () => {
    Bun.spawnSync(['mkfifo', at('pipe')]);
    const server = createServer().listen(at('socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    write('file', '0');
    await command(ONE, () => {
      unlinkSync(at('pipe'));
      unlinkSync(at('file'));
      Bun.spawnSync(['mkfifo', at('file')]);
    });
    server.close();
    const { restored, kept } = await rewind(ONE);
    expect(restored).toEqual([{ path: 'file', change: 'modified' }]);
    expect(kept).toContainEqual({ path: 'pipe', reason: 'its earlier content is not stored' });
    expect(read('file')).toBe('0');
  });

  test('a huge file is compared, not stored, and a command that changes it says so', async () => {
    write('sparse', '');
    Bun.spawnSync(['truncate', '-s', '1T', at('sparse')]);
    const { changed } = await command(ONE, () => Bun.spawnSync(['truncate', '-s', '5', at('sparse')]));
    expect(changed).toEqual([{ path: 'sparse', change: 'modified' }]);
    expect((await rewind(ONE, 'r1', ['sparse'])).kept).toEqual([
      { path: 'sparse', reason: 'its earlier content is not stored' },
    ]);
  });

  test('a file that grows without end while it is read is not stored', async () => {
    write('endless', 'x'.repeat(1_000_000));
    const writing = Bun.spawn(['sh', '-c', `while :; do echo more >> ${at('endless')}; done`]);
    const ended = await begin(ONE);
    writing.kill();
    await writing.exited;
    await ended();
    expect((await rewind(ONE)).restored.filter(({ path }) => path !== 'endless')).toEqual([]);
  });

  test("files of the server are not read, under their own name or another one's", async () => {
    writeFileSync(join(data, 'secret.key'), 'key of the server');
    checkpoints.close();
    const inside = join(root, '.data');
    await rename(data, inside);
    data = inside;
    checkpoints = open({ guard: { hide: [data, join(data, 'secret.key')] } });
    linkSync(join(data, 'secret.key'), at('innocent.txt'));
    const { changed } = await command(ONE, () => writeFileSync(join(data, 'other'), 'written'));
    expect(changed).toEqual([]);
    checkpoints.close();
    const database = new CheckpointDatabase(join(data, 'checkpoints.sqlite'));
    expect(database.has(sha256('key of the server'))).toBe(false);
    database.close();
  });

  test('a write that keeps size and time of a file is seen', async () => {
    write('file', 'aaaa');
    await command(ONE, () => write('other', '1'));
    const { atime, mtime } = statSync(at('file'));
    const { changed } = await command(ONE, () => {
      write('file', 'bbbb');
      utimesSync(at('file'), atime, mtime);
    });
    expect(changed).toEqual([{ path: 'file', change: 'modified' }]);
    await rewind(ONE);
    expect(read('file')).toBe('aaaa');
  });

  test('rules to ignore apply to new files only: what was kept cannot be hidden by a rule', async () => {
    write('.gitignore', 'dist/\n*.log\n');
    write('dist/out.js', 'built');
    write('src/a.ts', '0');
    write('debug.log', 'log');
    const { changed } = await command(ONE, () => {
      write('.gitignore', '*\n');
      write('dist/out.js', 'built again');
    });
    expect(changed).toEqual([{ path: '.gitignore', change: 'modified' }]);
    const next = await command(ONE, () => write('src/a.ts', 'hidden?'));
    expect(next.changed).toEqual([{ path: 'src/a.ts', change: 'modified' }]);
    await rewind(ONE);
    expect([read('.gitignore'), read('src/a.ts'), read('dist/out.js')]).toEqual([
      'dist/\n*.log\n',
      '0',
      'built again',
    ]);
  });

  test('another user of the same session name finds nothing, nor does a new session of that name', async () => {
    write('file', '0');
    await command(ONE, () => write('file', '1'));
    for (const other of [
      { ...ONE, owner: 'eve' as PrincipalId },
      { ...ONE, createdAt: 2 },
    ]) {
      expect(await checkpoints.knows(other)).toBe(false);
      expect((await preview(other)).files).toEqual([]);
      expect((await rewind(other, `r-${++count}`)).restored).toEqual([]);
    }
    await rewind(ONE);
    await expect(undo({ ...ONE, owner: 'eve' as PrincipalId }, 'r1')).rejects.toThrow('no such rewind');
    expect(read('file')).toBe('0');
  });
});

describe('limits', () => {
  test('a folder above the limit has no checkpoint for commands, but for file tools', async () => {
    checkpoints.close();
    checkpoints = open({ maxEntries: 5 });
    for (let index = 0; index < 10; index++) write(`file-${index}`, '0');
    const { unprotected } = await command(ONE, () => write('file-1', '1'));
    expect(unprotected).toBe('the folder has more than 5 files');
    const saved = await begin(ONE, ['file-2']);
    write('file-2', '1');
    await saved();
    expect((await rewind(ONE)).restored).toEqual([{ path: 'file-2', change: 'modified' }]);
  });

  test('an ephemeral session has none', async () => {
    const { signal } = new AbortController();
    const ended = await checkpoints.before(
      { session: ONE, ephemeral: true, turn: 't' as TurnId, call: 'c' as CallId, seq: 1, root, signal },
      'folder',
    );
    expect(await ended()).toEqual({ changed: [], unprotected: 'the session is ephemeral' });
    expect(existsSync(join(data, 'checkpoints.sqlite'))).toBe(false);
  });

  test('the oldest checkpoints are removed when the space is used up, and erased sessions free theirs', async () => {
    checkpoints.close();
    checkpoints = open({ space: 300_000 });
    const noise = () => crypto.getRandomValues(new Uint8Array(60_000));
    write('file', noise());
    for (let turn = 1; turn <= 10; turn++) await command(ONE, () => write('file', noise()), turn * 10);
    const { kept, restored } = await rewind(ONE, 'r1', [], 100);
    expect([restored.length, kept.length]).toEqual([1, 0]);
    await checkpoints.forget(ONE);
    expect(await checkpoints.knows(ONE)).toBe(false);
    checkpoints.close();
    const database = new CheckpointDatabase(join(data, 'checkpoints.sqlite'));
    expect(database.bytes).toBeLessThan(300_000);
    database.close();
  });

  test('what a crash interrupted during a command is shown, and kept unless it is named', async () => {
    write('file', '0');
    await begin(ONE);
    write('file', '1');
    checkpoints.close();
    checkpoints = open();
    expect((await preview(ONE)).files).toMatchObject([
      { path: 'file', kept: 'the server ended while the call ran', canOverwrite: true },
    ]);
    expect((await rewind(ONE, 'r1', ['file'])).restored).toHaveLength(1);
    expect(read('file')).toBe('0');
  });

  test('the second look reads only what has changed', async () => {
    for (let index = 0; index < 200; index++) write(`src/${index % 50}/file-${index}.ts`, `${index}\n`);
    const look = async (known: Manifest) => {
      const read: string[] = [];
      const keep = (_: string, bytes: Uint8Array) => read.push(new TextDecoder().decode(bytes));
      const limits = { maxEntries: 1_000, maxBytes: 1_000_000 };
      return {
        read,
        manifest: await scan({ root, hide: [] }, { known, isKept: () => true, keep, ...limits }),
      };
    };
    const first = await look(new Map());
    expect(first.read).toHaveLength(200);
    // Files that were written shortly before a look are read again by the next one.
    const settled = new Map([...first.manifest].map(([path, seen]) => [path, { ...seen, isSettled: true }]));
    write('src/1/file-1.ts', 'changed');
    expect((await look(settled)).read).toEqual(['changed']);
  });
});
