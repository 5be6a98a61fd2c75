import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../testing/free-port.ts';
import { startTestServer } from '../testing/server.ts';

test('a failed start of an extra listener leaves neither its port nor its data folder open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-listen-'));
  const settings = { PORT: String(freePort()), PARLANCE_DATA: join(folder, 'data') };
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const failed = startTestServer({ ...settings, PARLANCE_LISTEN: `broadcast=${other.port}` });
  await expect(failed).rejects.toThrow(
    `port ${other.port} on 127.0.0.1 is in use: choose another with --listen broadcast=PORT`,
  );
  await expect(fetch(`http://127.0.0.1:${settings.PORT}/health`)).rejects.toThrow('ECONNREFUSED');
  const server = await startTestServer(settings);
  expect((await fetch(`${server.http}/health`)).status).toBe(200);
  await server.stop();
  other.stop(true);
  rmSync(folder, { recursive: true });
});
