import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../testing/server.ts';
import { metricRows } from './metric-list.ts';
import { openMetrics } from './metrics.ts';

/** Values by name and labels, as in `parlance_turns_total{outcome="ended"}`. */
function figuresIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function figuresOf(server: TestServer): Promise<Map<string, number>> {
  return figuresIn(await (await fetch(`${server.http}/metrics`)).text());
}

describe('the meter', () => {
  test('counts, measures and reads; known label values start at zero', async () => {
    const metrics = openMetrics();
    metrics.add('tokens', 'input', 12);
    metrics.add('tokens', 'input', 3);
    metrics.add('refusals', 'turns_waiting');
    metrics.observe('append_seconds', 0.004);
    metrics.gauge('queue_depth', () => ({ turns: 2 }));
    metrics.gauge('queue_depth', async () => ({ appends: 5 }));
    metrics.gauge('turns_running', () => 3);
    for (let time = 0; time < 2; time++) {
      const figures = figuresIn(await metrics.text());
      expect(figures.get('parlance_tokens_total{direction="input"}')).toBe(15);
      expect(figures.get('parlance_tokens_total{direction="output"}')).toBe(0);
      expect(figures.get('parlance_refusals_total{limit="turns_waiting"}')).toBe(1);
      expect(figures.get('parlance_append_seconds_bucket{le="0.0025"}')).toBe(0);
      expect(figures.get('parlance_append_seconds_bucket{le="0.005"}')).toBe(1);
      expect(figures.get('parlance_queue_depth{queue="turns"}')).toBe(2);
      expect(figures.get('parlance_queue_depth{queue="appends"}')).toBe(5);
      expect(figures.get('parlance_turns_running')).toBe(3);
      expect(figures.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
      expect(figures.get('process_cpu_seconds_total')).toBeGreaterThan(0);
    }
  });

  test('a gauge that cannot be read does not prevent the others from being served', async () => {
    const metrics = openMetrics();
    metrics.gauge('sessions_waiting', () => Promise.reject(new Error('the disk is full')));
    metrics.gauge('queue_depth', () => {
      throw new Error('the disk is full');
    });
    metrics.gauge('queue_depth', () => ({ appends: 5 }));
    const figures = figuresIn(await metrics.text());
    expect(figures.get('parlance_queue_depth{queue="appends"}')).toBe(5);
    expect(figures.has('parlance_sessions_waiting')).toBe(false);
  });

  test('the guide lists exactly the metrics that are served', async () => {
    const guide = await Bun.file(join(import.meta.dir, '../../../..', 'docs/guides/operations.md')).text();
    const served = [...(await openMetrics().text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const told = [...guide.matchAll(/^\| `((?:parlance|process)_\w+)` \| (\w+) \|/gm)];
    const pairs = (found: RegExpExecArray[]) => found.map(([, name, type]) => `${name} ${type}`).sort();
    expect(pairs(told)).toEqual(pairs(served));
    expect(pairs(served)).toEqual(
      metricRows()
        .map(({ name, type }) => `${name} ${type}`)
        .sort(),
    );
  });
});

describe('a server in open mode', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  test('session events are counted', async () => {
    const before = await figuresOf(server);
    const client = await server.connect('/agentloop?session=counted');
    const text = 'run touch counted.txt';
    const content = [{ type: 'input_text', text }];
    client.send({
      id: crypto.randomUUID(),
      type: 'user_input',
      payload: { input: [{ type: 'message', role: 'user', content }] },
    });
    await client.next('approval_request');
    const waiting = await figuresOf(server);
    expect(waiting.get('parlance_sessions_waiting')).toBe(1);
    expect(waiting.get('parlance_sockets{dialect="agentloop"}')).toBe(1);
    expect(waiting.get('parlance_sessions_in_memory')).toBe(1);
    client.send({ id: crypto.randomUUID(), type: 'approval_response', payload: { review: 'yes' } });
    await client.next('agent_finished');
    const after = await figuresOf(server);
    const grown = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? 0);
    expect(after.get('parlance_sessions_waiting')).toBe(0);
    expect(grown('parlance_turns_total{outcome="ended"}')).toBe(1);
    expect(grown('parlance_turn_seconds_count{outcome="ended"}')).toBe(1);
    expect(grown('parlance_tool_calls_total{outcome="ok"}')).toBe(1);
    expect(grown('parlance_approvals_answered_total{answer="once"}')).toBe(1);
    expect(grown('parlance_tokens_total{direction="output"}')).toBeGreaterThan(0);
    expect(grown('parlance_append_seconds_count')).toBeGreaterThan(3);
  });

  test('a bad token is still refused', async () => {
    const answer = await fetch(`${server.http}/metrics`, { headers: { authorization: 'Bearer nonsense' } });
    expect(answer.status).toBe(401);
  });
});

test('approvals that were open before the start are counted', async () => {
  const first = await startTestServer({ LOG_LEVEL: 'silent' });
  const chat = await first.connect('/ws');
  chat.send({ type: 'chat', message: 'run touch made.txt', session_id: 'asks' });
  await chat.next((frame) => String(frame.reasoning).startsWith('Waiting for approval: '));
  const folder = join(first.data, '..', 'copy');
  await first.running.stop();
  await Bun.$`cp -r ${first.data} ${folder}`.quiet();
  const second = await startTestServer({ PARLANCE_DATA: folder });
  expect((await figuresOf(second)).get('parlance_sessions_waiting')).toBe(1);
  const { approvals } = (await (await fetch(`${second.http}/v1/approvals`)).json()) as {
    approvals: { id: string }[];
  };
  await fetch(`${second.http}/v1/approvals/${approvals[0]?.id}`, {
    method: 'POST',
    body: JSON.stringify({ answer: 'deny' }),
  });
  expect((await figuresOf(second)).get('parlance_sessions_waiting')).toBe(0);
  await second.stop();
  await first.stop();
});

describe('if a token is required', () => {
  const metricsToken = 'a-token-that-is-kept-for-the-scraper';
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ PARLANCE_AUTH: 'required', PARLANCE_METRICS_TOKEN: metricsToken });
  });
  afterAll(() => server.stop());
  const status = async (path: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(server.http + path, { headers })).status;
  };

  test('metrics need the permission or the metrics token', async () => {
    expect(await status('/metrics')).toBe(401);
    expect(await status('/metrics', await server.login('uma', 'uma-password'))).toBe(403);
    expect(await status('/metrics', await server.login('ada', 'ada-password'))).toBe(200);
    expect(await status('/metrics', metricsToken)).toBe(200);
    expect(await status('/metrics', `${metricsToken}x`)).toBe(401);
  });

  test('the metrics token opens nothing else', async () => {
    expect(await status('/v1/sessions', metricsToken)).toBe(401);
  });

  test('readiness and health need no token', async () => {
    expect([await status('/ready'), await status('/health')]).toEqual([200, 200]);
  });
});
