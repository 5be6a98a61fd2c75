/** Parallel calls of one answer in a server that is killed with SIGKILL. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { scriptedModel } from './scripted-model.ts';
import { followed, getJson, postJson, startProcess, submit } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-parallel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const count = (events: readonly DurableEvent[], type: DurableEvent['type']): number =>
  events.filter((event) => event.type === type).length;

type Approvals = { approvals: { id: string; ask: { command: string[] } }[] };

/** A search service that answers the second request and never the first. */
function slowSearch() {
  const asked = Promise.withResolvers<void>();
  let requests = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      asked.resolve();
      if (++requests === 1) return new Promise<Response>(() => undefined);
      return Response.json({ organic: [{ title: 'Found', link: 'https://example.com/', snippet: 'it' }] });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked: asked.promise,
    requests: () => requests,
    stop: () => server.stop(true),
  };
}

test('after SIGKILL each call is handled on its own: repeated, unknown, or still pending', async () => {
  writeFileSync(join(folder, 'log.txt'), 'a line\n');
  const search = slowSearch();
  const model = scriptedModel((_request, nth) =>
    nth === 1
      ? {
          calls: [
            ['shell', { command: ['touch', 'made.txt'] }],
            ['web_search', { query: 'parlance' }],
            ['shell', { command: ['tail', '-f', 'log.txt'] }],
          ],
        }
      : { say: 'All done.' },
  );
  const settings = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    SERPER_API_KEY: 'key',
    SERPER_BASE_URL: search.url,
  };
  try {
    await using first = await startProcess(folder, settings);
    expect(await submit(first, 'many', 'Do all of it')).toBe(true);
    const before = await followed(
      first,
      'many',
      (events) => count(events, 'tool.started') === 2 && count(events, 'approval.requested') === 1,
    );
    expect(count(before, 'tool.ended')).toBe(0);
    await search.asked;
    const { approvals: waiting } = await getJson<Approvals>(`${first.http}/v1/approvals`);
    expect(waiting.map(({ ask }) => ask.command)).toEqual([['touch', 'made.txt']]);
    await first.kill();

    await using second = await startProcess(folder, settings);
    const resumed = await followed(second, 'many', (events) => count(events, 'tool.ended') === 2);
    const calls = resumed.flatMap((event) => (event.type === 'call.requested' ? [event.call] : []));
    const outcomes = new Map(
      resumed.flatMap((event) => (event.type === 'tool.ended' ? [[event.call, event.outcome] as const] : [])),
    );
    expect(calls.map((call) => outcomes.get(call))).toEqual([undefined, 'ok', 'unknown']);
    expect(search.requests()).toBe(2);
    expect((await getJson<Approvals>(`${second.http}/v1/approvals`)).approvals).toEqual(waiting);
    expect(existsSync(join(folder, 'made.txt'))).toBe(false);
    expect(model.requests).toHaveLength(1);

    await postJson(`${second.http}/v1/approvals/${waiting[0]?.id}`, { answer: 'once' });
    await followed(second, 'many', (events) => count(events, 'turn.ended') === 1);
    expect(existsSync(join(folder, 'made.txt'))).toBe(true);
    const results = model.requests[1]?.messages.flatMap(({ role, content }) =>
      role === 'tool' ? [JSON.stringify(content)] : [],
    );
    expect(results).toEqual([
      expect.any(String),
      expect.stringContaining('example.com'),
      expect.stringContaining('The outcome is unknown'),
    ]);
  } finally {
    search.stop();
    model.stop();
  }
});
