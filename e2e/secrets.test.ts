import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnParlance } from '../packages/cli/src/testing/run-parlance.ts';
import { TestClient } from '../packages/server/src/testing/client.ts';
import { scriptedModel } from './scripted-model.ts';

const KEY = 'sk-very-secret-key';
const PASSWORD = 'a-very-secret-password';

test('a refused key is reported in the log, without any secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-secrets-'));
  const model = scriptedModel(() => ({ status: 401 }));
  const child = spawnParlance(['serve'], {
    cwd: folder,
    env: {
      PORT: '0',
      PARLANCE_DATA: join(folder, 'data'),
      AUTH_USERS: `dev:${PASSWORD}:developer`,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: KEY,
      MODEL: 'fake',
      LOG_LEVEL: 'trace',
    },
  });
  const reader = child.stdout.getReader();
  let line = '';
  while (!line.includes('\n')) line += new TextDecoder().decode((await reader.read()).value);
  const address = line.trim().replace('parlance listening on http', 'ws');
  const client = await TestClient.connect(`${address}/ws`);
  client.send({ type: 'chat', message: 'Hi' });
  const { error } = await client.next('error');
  const bad = await TestClient.connect(`${address}/ws?token=a-secret-token`);
  await bad.closed;
  client.close();
  child.kill('SIGTERM');
  await child.exited;
  model.stop();
  const log = await child.stderr.text();
  expect(log).toContain('turn failed');
  expect(log).toContain('provider_rejected');
  for (const secret of [KEY, PASSWORD, 'a-secret-token']) expect(`${log}${error}`).not.toContain(secret);
  rmSync(folder, { recursive: true });
});
