import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';

/** size limit in bytes, gzipped */
const MAX_BYTES = 15 * 1024;

let folder: string;
let server: TestServer;
let code: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-sdk-'));
  server = await startTestServer({ PARLANCE_OFFLINE_DELAY: '1' });
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, 'index.ts')],
    target: 'browser',
    format: 'esm',
    minify: true,
    outdir: folder,
    naming: 'parlance.js',
  });
  code = (await built.outputs[0]?.text()) ?? '';
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('the bundle', () => {
  test('is small', () => {
    const bytes = Bun.gzipSync(code).byteLength;
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  test('has no dependencies: no zod, no Node, no Bun', () => {
    expect(code).not.toMatch(/\bimport\s*[{("']|\brequire\(|\bBun\.|\bprocess\.|node:|ZodType/);
  });

  test('works in Node: submits, reads the answer, continues after a position', async () => {
    const script = `
      import { connect, EMPTY, fold, ParlanceError } from ${JSON.stringify(join(folder, 'parlance.js'))};
      const parlance = connect({ url: process.argv[2] });
      const session = parlance.session('from-node');
      await session.submit('count to 5');
      let view = EMPTY, deltas = '';
      for await (const event of session.events()) {
        view = fold(view, event);
        if (event.type === 'text.delta') deltas += event.text;
        if (event.type === 'turn.ended') break;
      }
      const stop = new AbortController();
      let later = 0;
      for await (const event of session.events({ after: 3, signal: stop.signal })) {
        if (event.type === 'snapshot') stop.abort();
        else if ('seq' in event) later++;
      }
      const missing = await parlance.session('nowhere').get().catch((error) => error);
      const [turn] = view.entries;
      console.log(JSON.stringify({
        node: process.versions.node, status: view.status, text: turn.items.at(-1).text, deltas, seq: view.seq, later,
        code: missing instanceof ParlanceError && missing.code,
      }));
    `;
    await Bun.write(join(folder, 'script.mjs'), script);
    const child = Bun.spawn(['node', join(folder, 'script.mjs'), server.http], { stderr: 'pipe' });
    const [said, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(complained).toBe('');
    const { node, text, deltas, seq, later, ...rest } = JSON.parse(said);
    expect(Number.parseInt(node, 10)).toBeGreaterThanOrEqual(20);
    expect(rest).toEqual({ status: 'idle', code: 'not_found' });
    expect(text).toContain('5');
    expect(deltas).toBe(text);
    expect(later).toBe(seq - 3);
    expect(await child.exited).toBe(0);
  });
});
