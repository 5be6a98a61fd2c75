/**
 * Prism as a proxy between the documented requests and a server: it reports every answer that differs from `/openapi.json`. Installed into
 * a folder of its own, because it is larger than all other packages together.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { DESCRIPTIONS } from '../../packages/server/src/describe/descriptions.ts';
import { freePort } from '../../packages/server/src/testing/free-port.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { unusedIds } from '../isolation/private-data.ts';
import { creatingProbesOf, probesOf, routesOf } from '../isolation/probes.ts';
import { installed } from '../programs/install.ts';
import type { Figures, Suite } from './figures.ts';

const VERSION = '5.16.0';

/** Answers without an end, those that end the server's work for the others, and a redirect, which the proxy follows. */
const LEFT_OUT = /^GET \S*\/(?:events|activity|stream|signed-in)$|^DELETE |\/logout$/;

const ANSWER_MS = 10_000;

async function run(): Promise<Figures | null> {
  const folder = await installed('prism', [`@stoplight/prism-cli@${VERSION}`]);
  const scratch = await mkdtemp(join(tmpdir(), 'parlance-prism-'));
  const server = await startTestServer({ PARLANCE_API_REQUESTS_PER_MINUTE: '100000' });
  const document = join(scratch, 'openapi.json');
  await Bun.write(document, await (await fetch(`${server.http}/openapi.json`)).bytes());
  const port = await freePort();
  const prism = Bun.spawn(
    ['node', join(folder, 'node_modules/.bin/prism'), 'proxy', document, server.http, '-p', String(port)],
    { stdout: 'pipe', stderr: 'inherit', env: { ...process.env, NO_COLOR: '1' } },
  );
  try {
    const proxy = `http://127.0.0.1:${port}`;
    await listening(prism.stdout);
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${await server.login('dev', 'dev-password')}`,
    };
    const session = crypto.randomUUID();
    await fetch(`${server.http}/v1/sessions/${session}/commands`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ type: 'input.submit', parts: [{ type: 'text', text: 'hello' }] }),
    });
    const ids = { ...unusedIds(), session };
    const failures: string[] = [];
    const routes = Object.entries(routesOf(DESCRIPTIONS)).filter(([name]) => !LEFT_OUT.test(name));
    for (const [name, route] of routes) {
      const differences = new Set<string>();
      for (const { path, body } of [...creatingProbesOf(route, ids), ...probesOf(route, ids)]) {
        const response = await fetch(proxy + path, {
          method: route.method.toUpperCase(),
          headers,
          body: body && JSON.stringify(body),
          signal: AbortSignal.timeout(ANSWER_MS),
        }).catch(() => null);
        // Violations of requests are wanted: examples have ids that do not exist.
        for (const { location, message } of violations(response))
          if (location[0] === 'response')
            differences.add(`${response?.status} ${location.join('.')}: ${message}`);
        await response?.body?.cancel();
      }
      if (differences.size > 0) failures.push(`${name}: ${[...differences].join('; ')}`);
    }
    return { passed: routes.length - failures.length, total: routes.length, failures };
  } finally {
    prism.kill();
    await prism.exited;
    await server.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

type Violation = { readonly location: readonly string[]; readonly message: string };

function violations(response: Response | null): readonly Violation[] {
  const text = response?.headers.get('sl-violations') ?? '[]';
  return text.startsWith('[') ? JSON.parse(text) : [{ location: ['response'], message: text }];
}

/** Resolves when the proxy accepts requests. What it prints later is dropped. */
async function listening(output: ReadableStream<Uint8Array>): Promise<void> {
  const lines = createInterface({ input: Readable.fromWeb(output as never) });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  lines.on('line', (line) => line.includes('Prism is listening') && resolve());
  lines.on('close', () => reject(new Error('Prism did not start')));
  await promise;
}

export const openApi: Suite = { name: 'Prism', version: VERSION, run };
