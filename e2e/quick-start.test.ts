/** The commands of the quick start. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../packages/sdk/src/index.ts';
import { startTestServer } from '../packages/server/src/testing/server.ts';
import { postJson } from './server-process.ts';

const PAGE = readFileSync(join(import.meta.dir, '../docs/guides/quick-start.md'), 'utf8');

test('the request with curl is answered, and the session is listed', async () => {
  const [, path = '', body = ''] =
    /^curl http:\/\/127\.0\.0\.1:3000(\S+)[\s\S]*?-d '(.+)'$/m.exec(PAGE) ?? [];
  const server = await startTestServer();
  expect(await postJson(server.http + path, JSON.parse(body))).toMatchObject({
    status: 200,
    body: { choices: [{ message: { role: 'assistant' } }] },
  });
  const sessions = await Array.fromAsync(connect({ url: server.http }).sessions.all());
  expect(sessions.map(({ title }) => title)).toEqual(['Hello']);
  await server.stop();
});
