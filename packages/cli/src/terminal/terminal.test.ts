import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from '../../../server/src/testing/until.ts';

const PARLANCE = join(import.meta.dir, '../../bin/parlance');
const folder = mkdtempSync(join(tmpdir(), 'parlance-terminal-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The server in its own terminal. */
function started(env: Record<string, string> = {}) {
  let screen = '';
  let changed = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  const child = Bun.spawn(['sh', PARLANCE, 'serve', '--port', '0', '--data', join(folder, 'data')], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', ...env },
    terminal: {
      cols: 120,
      rows: 40,
      data(_terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        changed.resolve();
        changed = Promise.withResolvers();
      },
    },
  });
  const shows = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(screen);
      if (found) return found;
      const next = Promise.race([
        changed.promise,
        child.exited.then(() => Promise.reject(new Error(screen))),
      ]);
      await within(next, `${pattern} is not on the screen: ${screen}`);
    }
  };
  return { child, shows, screen: () => screen };
}

test('a person is shown where to open it, which model answers, and how to stop', async () => {
  const { child, shows, screen } = started();
  await shows(/Press Ctrl-C to stop\./);
  expect(screen()).toMatch(/^parlance listening on http:\/\/127\.0\.0\.1:\d+\r\n/m);
  expect(screen()).toMatch(/Open +http:\/\/127\.0\.0\.1:\d+\r\n/);
  expect(screen()).toContain('offline demo model: connect a real one with “Connect a model” on the page');
  expect(screen()).toContain(`Data       ${join(folder, 'data')}`);
  expect(screen()).toContain(`Workspace  ${folder}`);
  expect(screen()).toContain('Sign-in    not required on this machine');
  expect(screen()).toMatch(/Admin +user admin, password \S{20,} \(shown only this time\)\r\n/);
  child.terminal?.write('\x03');
  expect(await child.exited).toBe(0);
});

test('a model server of one’s own is shown with its address', async () => {
  const { child, shows } = started({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', MODEL: 'qwen3' });
  await shows(/Model +qwen3 at http:\/\/127\.0\.0\.1:9\/v1\r\n/);
  child.terminal?.write('\x03');
  expect(await child.exited).toBe(0);
});

test('log lines are readable', async () => {
  const { child, shows } = started({ LOG_LEVEL: 'debug' });
  const [, url] = await shows(/listening on (\S+)/);
  await fetch(`${url}/v1/sessions/none/events`);
  await shows(/\d\d:\d\d:\d\d debug message refused .*code=not_found/);
  child.terminal?.write('\x03');
  expect(await child.exited).toBe(0);
});

test('Ctrl-C reports what it waits for, and a second one stops immediately', async () => {
  const { child, shows } = started({ PARLANCE_OFFLINE_DELAY: '2000', PARLANCE_GRACE: '600000' });
  const [, url] = await shows(/listening on (\S+)/);
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'parlance',
      stream: true,
      messages: [{ role: 'user', content: 'Tell me a story.' }],
    }),
  });
  child.terminal?.write('\x03');
  await shows(/waiting up to 600 s for 1 running turn; .*Press Ctrl-C again to stop immediately\./);
  await Bun.sleep(250);
  child.terminal?.write('\x03');
  expect(await child.exited).toBe(1);
});
