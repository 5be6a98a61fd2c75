/**
 * Measures how long `parlance chat` takes until its first prompt, with a running server and in a real
 * terminal. Prints the median and the range. `bun bench/first-prompt.ts [STARTS]`; build first (`npm run
 * build`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../e2e/server-process.ts';

const PARLANCE = join(import.meta.dir, '../packages/cli/bin/parlance');
const starts = Number(process.argv[2] ?? 20);
const folder = mkdtempSync(join(tmpdir(), 'parlance-prompt-'));
const server = await startProcess(folder);

async function once(): Promise<number> {
  const shown = Promise.withResolvers<number>();
  const decoder = new TextDecoder();
  let screen = '';
  const from = performance.now();
  const child = Bun.spawn(['sh', PARLANCE, 'chat', '--url', server.http], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, TERM: 'xterm-256color' },
    terminal: {
      cols: 80,
      rows: 24,
      data(_terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        if (screen.includes('Send a message')) shown.resolve(performance.now() - from);
      },
    },
  });
  const time = await shown.promise;
  child.terminal?.write('\x04');
  await child.exited;
  return time;
}

const times: number[] = [];
for (let index = 0; index < starts; index++) times.push(await once());
times.sort((a, b) => a - b);
const at = (share: number) =>
  Math.round(times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0);
console.log(`first prompt: median ${at(0.5)} ms, ${at(0)} to ${at(1)} ms, ${starts} starts`);
await server.kill();
rmSync(folder, { recursive: true, force: true });
