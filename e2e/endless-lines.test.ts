/** A line on standard input that does not end: its bytes are dropped, it is answered with an error, and the next line is read. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARLANCE } from '../packages/cli/src/testing/run-parlance.ts';
import { outputOf } from './output.ts';

const MEGABYTES = 600;

const INITIALIZE = {
  acp: { protocolVersion: 1, clientCapabilities: {} },
  mcp: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

for (const [name, params] of Object.entries(INITIALIZE)) {
  test(`parlance ${name}: is refused in bounded memory, and the next is answered`, async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'parlance-line-'));
    const child = Bun.spawn(['sh', PARLANCE, name], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: cwd, LOG_LEVEL: 'silent' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const output = outputOf(child.stdout);
    const request = (id: number) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params })}\n`;
    const peakMegabytes = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    try {
      child.stdin.write(request(1));
      await child.stdin.flush();
      await output.written('"id":1');
      const megabyte = Buffer.alloc(1 << 20, 'x');
      for (let count = 0; count < MEGABYTES; count++) {
        child.stdin.write(megabyte);
        await child.stdin.flush();
      }
      child.stdin.write(`\n${request(2)}`);
      await child.stdin.flush();
      await output.written('"id":2');
      // Garbage of reading, but not the line.
      expect(peakMegabytes()).toBeLessThan(MEGABYTES);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
      rmSync(cwd, { recursive: true, force: true });
    }
    expect(await output.all()).toMatch(
      /"id":null,"error":\{"code":-32[67]00,"message":"[^"]*too l(?:ong|arge)/,
    );
  });
}
