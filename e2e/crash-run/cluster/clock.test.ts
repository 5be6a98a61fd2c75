import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noFakeClock, openClock } from './clock.ts';

test.skipIf(noFakeClock !== null)(
  `a clock changes while its process runs, and timers do not${noFakeClock ? ` (${noFakeClock})` : ''}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-clock-'));
    const clock = openClock(join(folder, 'clock'));
    const script = `
      const began = Date.now();
      console.log('started');
      while (Math.abs(Date.now() - began) < 1_800_000) await Bun.sleep(10);
      console.log(Math.round((Date.now() - began) / 3_600_000), performance.now() < 1_800_000);`;
    await using child = Bun.spawn([process.execPath, '-e', script], {
      env: { PATH: process.env.PATH ?? '', ...clock.settings },
      stdout: 'pipe',
    });
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('started\n');
    clock.set(-7_200);
    expect((await reader.read()).value).toBe('-2 true\n');
    rmSync(folder, { recursive: true });
  },
);
