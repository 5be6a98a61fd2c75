/** A client of `extension` whose server is killed during its turn. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAnswer, registration, say } from '../packages/server/src/testing/extension.ts';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { getJson, type ServerProcess, startProcess } from './server-process.ts';

const SESSION = 'session_1234567890_abcdef123';

async function registered(server: ServerProcess, deviceId: string) {
  const client = await server.connect('/');
  client.send(registration([], { metadata: { deviceId } }));
  await client.next('registration_confirmed');
  return client;
}

/** `settings` of the server after it was killed. */
async function killedDuringTurn(
  settings: Record<string, string>,
  after: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-extension-'));
  const PORT = String(freePort());
  try {
    const first = await startProcess(folder, { PORT, PARLANCE_OFFLINE_DELAY: '60000' });
    const client = await registered(first, 'one');
    say(client, 'tell me a story', SESSION);
    await client.next('agent_status');
    await first.kill();
    await using second = await startProcess(folder, { PORT, ...settings });
    await after(second);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the device that registers again receives the turn that is resumed', () =>
  killedDuringTurn({ PARLANCE_OFFLINE_DELAY: '20' }, async (server) => {
    const client = await registered(server, 'one');
    expect(await client.next('agent_status')).toMatchObject({ sessionId: SESSION });
    expect(await client.next(isAnswer)).toMatchObject({ sessionId: SESSION });
  }));

test('the device receives the answer that was given before it registers again', () =>
  killedDuringTurn({ PARLANCE_OFFLINE_DELAY: '0' }, async (server) => {
    const status = () => getJson<{ status: string }>(`${server.http}/v1/sessions/${SESSION}`, {});
    await until(async () => (await status()).status === 'idle');
    const other = await registered(server, 'another');
    const client = await registered(server, 'one');
    expect(await client.next(isAnswer)).toMatchObject({ sessionId: SESSION });
    expect(other.frames.map(({ type }) => type)).toEqual(['registration_confirmed']);
  }));
