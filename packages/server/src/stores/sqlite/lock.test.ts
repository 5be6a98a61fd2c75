import { expect, test } from 'bun:test';
import { begin, newerUpcasts, refOf } from '../../testing/stores/contract/samples.ts';
import { scratchFolder } from '../../testing/stores/contract/scratch.ts';
import { openSqliteStore } from './open.ts';

test('a second server is refused until the first has closed', async () => {
  using scratch = scratchFolder();
  const first = openSqliteStore(scratch.path, { exclusive: true });
  const openSecond = () => openSqliteStore(scratch.path, { exclusive: true });
  expect(openSecond).toThrow(`another Parlance server is using ${scratch.path}`);
  expect(openSecond).toThrow(`another Parlance server is using ${scratch.path}`);
  await begin(first, refOf('ada', 'first'));
  await first.close();
  const second = openSecond();
  expect((await second.list({ limit: 5 })).sessions.length).toBe(1);
  await second.close();
});

test('a second process is refused', async () => {
  using scratch = scratchFolder();
  const first = openSqliteStore(scratch.path, { exclusive: true });
  const program = `
    import { openSqliteStore } from ${JSON.stringify(`${import.meta.dir}/open.ts`)};
    try {
      openSqliteStore(process.argv[1], { exclusive: true });
    } catch (error) {
      console.log(error.message);
    }`;
  const child = Bun.spawn([process.execPath, '-e', program, scratch.path], { stdout: 'pipe' });
  expect(await child.stdout.text()).toBe(`another Parlance server is using ${scratch.path}\n`);
  await first.close();
});

test('a running server notices changes of users by another process', async () => {
  using scratch = scratchFolder();
  const server = openSqliteStore(scratch.path, { exclusive: true });
  const command = openSqliteStore(scratch.path);
  const user = { name: 'ada', role: 'admin', passwordHash: 'hash', createdAt: 1 } as const;
  await command.put(user);
  await command.close();
  expect(await server.find('ada')).toMatchObject(user);
  await begin(server, refOf('ada', 'first'));
  await server.close();
});

test('many processes may open a new folder concurrently', async () => {
  using scratch = scratchFolder();
  const program = `
    import { openSqliteStore } from ${JSON.stringify(`${import.meta.dir}/open.ts`)};
    const store = openSqliteStore(process.argv[1]);
    await store.put({ name: process.argv[2], role: 'user', passwordHash: 'hash', createdAt: 1 });
    await store.close();`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const children = names.map((name) =>
    Bun.spawn([process.execPath, '-e', program, scratch.path, name], { stderr: 'inherit' }),
  );
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(names.map(() => 0));
  const store = openSqliteStore(scratch.path);
  expect((await store.everyone()).map(({ name }) => name)).toEqual(names);
  await store.close();
});

test('a command does not upgrade the database of a running server of an older version', async () => {
  using scratch = scratchFolder();
  const server = openSqliteStore(scratch.path, { exclusive: true });
  await begin(server, refOf('ada', 'first'));
  const openNewer = () => openSqliteStore(scratch.path, { upcasts: newerUpcasts() });
  expect(openNewer).toThrow(
    `${scratch.path} is used by a server of an older version of Parlance: restart the server with this version first`,
  );
  await begin(server, refOf('ada', 'second'));
  expect((await server.list({ limit: 5 })).sessions.length).toBe(2);
  await server.close();
  const newer = openNewer();
  expect((await newer.list({ limit: 5 })).sessions.length).toBe(2);
  // The folder is locked only for the upgrade.
  await openSqliteStore(scratch.path, { upcasts: newerUpcasts(), exclusive: true }).close();
  await newer.close();
});
