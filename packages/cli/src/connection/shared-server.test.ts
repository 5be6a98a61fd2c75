import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../../../e2e/server-process.ts';
import { runParlance } from '../testing/run-parlance.ts';
import { hasTmux, openTerminal } from '../testing/tmux.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-shared-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Nothing listens at the default address. */
const ENV = { PORT: '9', PARLANCE_OFFLINE_DELAY: '5' };
const place = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};
const run = (cwd: string, ...args: string[]) => runParlance(args, { cwd, env: ENV });
const chat = (cwd: string, ...args: string[]) => openTerminal({ args: ['chat', ...args], cwd, env: ENV });

describe('without a server', () => {
  test('an agent in this process works in the current folder, and its sessions stay', async () => {
    const cwd = place('alone');
    expect(
      await run(cwd, 'chat', '-p', 'create file a.txt with hi', '--approve', 'all', '--session', 'one'),
    ).toMatchObject({
      code: 0,
    });
    expect(existsSync(join(cwd, 'a.txt'))).toBeTrue();
    expect((await run(cwd, 'sessions')).stdout).toMatch(/^one +idle +just now +native +create file a\.txt/m);
    expect(existsSync(join(cwd, '.parlance/parlance.sock'))).toBeFalse();
    expect(existsSync(join(cwd, '.parlance/server.json'))).toBeFalse();
  });

  test.skipIf(!hasTmux)(
    'a second terminal shares the agent of the first, and takes over when it ends',
    async () => {
      const cwd = place('two');
      await using first = await chat(cwd, '--session', 'shared');
      await first.shows(/Send a message/);
      expect(statSync(join(cwd, '.parlance/parlance.sock')).mode & 0o777).toBe(0o600);
      await using second = await chat(cwd, '--session', 'shared');
      await second.shows(/Send a message/);
      await first.type('count to 3');
      await first.press('Enter');
      await second.shows(/❯ count to 3\n\n1 2 3/);
      expect((await run(cwd, 'sessions')).stdout).toContain('count to 3');
      await first.press('C-d');
      await first.shows(/exit 0/);
      await second.type('count to 4');
      await second.press('Enter');
      await second.shows(/1 2 3 4[\s\S]*Send a message/);
      await second.press('C-d');
      await second.shows(/exit 0/);
    },
  );

  test.skipIf(!hasTmux)('a terminal that was killed leaves nothing that hinders the next one', async () => {
    const cwd = place('killed');
    await using terminal = await chat(cwd);
    await terminal.shows(/Send a message/);
    const { pid } = JSON.parse(await Bun.file(join(cwd, '.parlance/server.json')).text());
    process.kill(pid, 'SIGKILL');
    await terminal.shows(/exit 137/);
    expect((await run(cwd, 'chat', '-p', 'count to 2')).stdout).toBe('1 2\n');
  });
});

describe('a server of the data folder', () => {
  test('is found by its file, which it removes', async () => {
    const cwd = place('served');
    const settings = { PARLANCE_DATA: join(cwd, '.parlance'), PORT: '0' };
    const server = await startProcess(cwd, settings);
    await using _ = server;
    const file = join(cwd, '.parlance/server.json');
    expect(JSON.parse(await Bun.file(file).text())).toEqual({
      pid: server.pid,
      url: server.http,
      socket: join(cwd, '.parlance/parlance.sock'),
    });
    const env = { ...ENV, PARLANCE_DATA: join(cwd, '.parlance') };
    await runParlance(['chat', '-p', 'count to 3', '--session', 'here'], { cwd, env });
    const { title } = (await (await fetch(`${server.http}/v1/sessions/here`)).json()) as { title: string };
    expect(title).toBe('count to 3');
    expect((await runParlance(['open', '--print', 'here'], { cwd, env })).stdout).toBe(
      `${server.http}/#/sessions/here\n`,
    );
    expect(await server.terminate()).toBe(0);
    expect(existsSync(file)).toBeFalse();
  });

  test('is ignored in a folder that came with foreign files', async () => {
    const cwd = place('foreign');
    const requests: string[] = [];
    using evil = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(request.url);
        return Response.json({ version: '1', principal: { id: 'x' } });
      },
    });
    mkdirSync(join(cwd, '.parlance'));
    const claim = { pid: process.pid, url: `http://127.0.0.1:${evil.port}` };
    writeFileSync(join(cwd, '.parlance/server.json'), JSON.stringify(claim));
    const { code, stderr } = await run(cwd, 'chat', '-p', 'secret plans');
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not known to be yours')]);
    expect(requests).toEqual([]);
  });

  test.skipIf(!hasTmux)('may restart while a terminal is open: nothing is lost', async () => {
    const cwd = place('restarted');
    const settings = { PARLANCE_DATA: join(cwd, '.parlance') };
    // The answer lasts longer than what follows.
    let server = await startProcess(cwd, { ...settings, PARLANCE_OFFLINE_DELAY: '250' });
    const port = new URL(server.http).port;
    await using terminal = await openTerminal({
      args: ['chat', '--url', server.http, '--session', 'long'],
      cwd,
      env: ENV,
    });
    await terminal.shows(/Send a message/);
    await terminal.type('count to 40');
    await terminal.press('Enter');
    await terminal.shows(/1 2 3 4 5/);
    await server.kill();
    await terminal.shows(/Not connected|Reconnecting/);
    await terminal.type('count to 2');
    server = await startProcess(cwd, { ...settings, PORT: port });
    await terminal.press('Enter');
    await terminal.shows(/39 40[\s\S]*❯ count to 2\n\n1 2\n[\s\S]*Send a message/);
    const all = await terminal.everything();
    expect(all.match(/The server restarted and resumed the turn\./g)).toHaveLength(1);
    expect(all.match(/❯ count to 40/g)).toHaveLength(1);
    await server.kill();
  });
});
