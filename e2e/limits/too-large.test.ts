/**
 * Bodies over the limit are refused in the format of each dialect, with or without a declared length, and use
 * no memory.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DESCRIPTIONS } from '../../packages/server/src/describe/descriptions.ts';
import type { Endpoint } from '../../packages/server/src/dialects/kit/description.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { unusedIds } from '../isolation/private-data.ts';
import { probesOf, routesOf } from '../isolation/probes.ts';
import { startProcess } from '../server-process.ts';

const LIMIT = 100_000;
const ids = unusedIds();

let server: TestServer;
let token: string;
beforeAll(async () => {
  const settings = { PARLANCE_MAX_BODY: String(LIMIT), PARLANCE_API_REQUESTS_PER_MINUTE: '100000' };
  server = await startTestServer(settings, {
    listeners: [
      { dialect: 'openai', port: 0 },
      { dialect: 'anthropic', port: 0 },
    ],
  });
  token = await server.login('ada', 'ada-password');
});
afterAll(() => server.stop());

const withBody = Object.entries(routesOf(DESCRIPTIONS)).filter(
  ([, { body, security }]) => body && security !== 'signed',
);

const body = 'x'.repeat(LIMIT + 1);
const KINDS = [
  ['declared', () => body],
  ['of unknown length', () => new Blob([body]).stream()],
] as const;

const pathOf = (endpoint: Endpoint): string =>
  probesOf(endpoint, ids)[0]?.path ?? endpoint.path.replace(/\{\w+\}/g, 'none');

describe.each(KINDS)('a body that is too large, %s', (_, content) => {
  test.each(withBody)('%s', async (_name, endpoint) => {
    const response = await fetch(server.http + pathOf(endpoint), {
      method: endpoint.method.toUpperCase(),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        // Some answer only the console.
        origin: server.http,
        'sec-fetch-site': 'same-origin',
      },
      body: content(),
    });
    const text = await response.text();
    // The resource in the path may be looked up first.
    const isMissing = endpoint.path.includes('{') && [400, 404].includes(response.status);
    expect([isMissing ? 413 : response.status, text]).toEqual([413, expect.stringMatching(/\S/)]);
    // All errors of an endpoint have the same schema.
    const errors = Object.entries(endpoint.answers).filter(([status]) => Number(status) >= 400);
    const [described] = errors.flatMap(([, answer]) => answer);
    if (described?.schema && described.type !== 'text/plain')
      expect(described.schema.parse(JSON.parse(text))).toEqual(JSON.parse(text));
  });
});

test('on an extra listener errors have the format of its dialect, including a refused origin', async () => {
  const SHAPES = {
    openai: { error: { type: 'invalid_request_error', message: expect.any(String) } },
    anthropic: { type: 'error', error: { message: expect.any(String) } },
  };
  for (const { dialect, port } of server.running.listeners) {
    const shape = SHAPES[dialect as keyof typeof SHAPES];
    if (!shape) continue;
    const path = dialect === 'openai' ? '/v1/conversations' : '/v1/messages';
    const post = (headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
    const large = await post({ 'content-type': 'application/json' });
    expect([large.status, await large.json()]).toMatchObject([413, shape]);
    const foreign = await post({ origin: 'https://elsewhere.example' });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, shape]);
  }
});

test('data that a client keeps sending is not buffered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-large-'));
  const started = await startProcess(folder, { PARLANCE_AUTH: 'required' });
  try {
    const peak = async () =>
      Number(/VmHWM:\s+(\d+)/.exec(await Bun.file(`/proc/${started.pid}/status`).text())?.[1]) / 1_000;
    const before = await peak();
    const piece = new Uint8Array(1_000_000);
    let left = 200;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    });
    const declared = new Blob(Array.from({ length: 200 }, () => piece));
    for (const content of [endless, declared]) {
      const answer = await fetch(`${started.http}/v1/messages`, { method: 'POST', body: content }).catch(
        () => null,
      );
      expect([401, undefined]).toContain(answer?.status);
    }
    expect((await peak()) - before).toBeLessThan(60);
  } finally {
    await started.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
