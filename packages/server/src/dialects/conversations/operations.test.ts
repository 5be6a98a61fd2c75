/** The REST endpoints for history, health and metrics. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { version } from '../../../package.json' with { type: 'json' };
import type { TestClient } from '../../testing/client.ts';
import {
  answer,
  connectAs,
  next,
  of,
  type ServerFrame,
  say,
  started,
  tokenOf,
  turn,
} from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

type Json = Record<string, unknown>;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function get<Body = Json>(name: string, path: string): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${await tokenOf(server, name)}` };
  const response = await fetch(server.http + path, { headers });
  return { status: response.status, body: (await response.json()) as Body };
}

const runs = async (name: string, query = ''): Promise<Json[]> =>
  (await get<Json[]>(name, `/v1/tool-runs${query}`)).body;

const run = (name: string, id: unknown) => get(name, `/v1/tool-runs/${encodeURIComponent(String(id))}`);

describe('tool runs', () => {
  test('a direct call is in the list and found by the requestId of its frame', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, '/tool echo {"value":"hi"}');
    const { requestId } = (await next(client, 'tool_executed')).payload;
    await client.next('message_complete');
    const expected = {
      id: requestId,
      tool_id: 'echo',
      status: 'completed',
      requested_by: 'dev',
      parameters: { value: 'hi' },
      result: { value: 'hi' },
      created_at: ISO,
      conversation_id: id,
    };
    expect((await runs('dev'))[0]).toEqual(expected);
    expect(await run('dev', requestId)).toEqual({ status: 200, body: expected });
  });

  test('a call of the model is found by its id in the list', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, 'echo hello');
    await turn(client);
    const [first] = await runs('dev', '?limit=1');
    expect(first).toMatchObject({ tool_id: 'echo', conversation_id: id, status: 'completed' });
    expect((await run('dev', first?.id)).body).toEqual(first as Json);
  });

  /** A conversation with a pending approval. */
  async function asking(client: TestClient, content: string): Promise<{ id: string; requestId: unknown }> {
    const id = await started(client);
    say(client, id, content);
    return { id, requestId: (await next(client, 'tool_approval_required')).payload.requestId };
  }

  test('a call that is pending, rejected, approved, cancelled', async () => {
    const client = await connectAs(server, 'dev');
    const statusOf = async (requestId: unknown) => (await run('dev', requestId)).body.status;
    const rejected = await asking(client, 'run touch one');
    expect((await run('dev', rejected.requestId)).body).toMatchObject({
      status: 'pending_approval',
      parameters: { command: ['touch', 'one'] },
      result: null,
    });
    answer(client, { conversationId: rejected.id, requestId: rejected.requestId, approved: false });
    await turn(client, rejected.id);
    expect(await statusOf(rejected.requestId)).toBe('rejected');
    const approved = await asking(client, 'run touch two');
    answer(client, { conversationId: approved.id, requestId: approved.requestId, approved: true });
    await turn(client, approved.id);
    expect(await statusOf(approved.requestId)).toBe('completed');
    const cancelled = await asking(client, 'run touch three');
    client.send({ type: 'cancel_stream', conversationId: cancelled.id });
    await client.next('error');
    expect(await statusOf(cancelled.requestId)).toBe('cancelled');
  });

  test('the newest come first, across conversations, up to the limit', async () => {
    const client = await connectAs(server, 'dev');
    const ids = [await started(client), await started(client)];
    for (const [index, id] of [ids[0], ids[1], ids[0]].entries()) {
      say(client, String(id), `/tool echo {"value":${index}}`);
      await client.next('message_complete');
    }
    const latest = (await runs('dev', '?limit=3')).map((one) => [one.conversation_id, one.parameters]);
    expect(latest).toEqual([
      [ids[0], { value: 2 }],
      [ids[1], { value: 1 }],
      [ids[0], { value: 0 }],
    ]);
    expect(await runs('dev', '?limit=2')).toHaveLength(2);
  });

  test('an old run in a long conversation is found', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, '/tool echo {"value":"early"}');
    const { requestId } = (await next(client, 'tool_executed')).payload;
    await client.next('message_complete');
    const turns = 120;
    for (let count = 0; count < turns; count++) {
      say(client, id, '/tool echo {"value":"late"}');
      await client.next('message_complete');
    }
    expect((await run('dev', requestId)).body).toMatchObject({ parameters: { value: 'early' } });
  });

  test('runs of another user are hidden; an admin sees them; the role user sees none', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    say(client, id, '/tool echo {"value":"secret of dev"}');
    const { requestId } = (await next(client, 'tool_executed')).payload;
    await client.next('message_complete');
    const open = await fetch(`${server.http}/v1/tool-runs/${requestId}`);
    expect([open.status, await open.json()]).toEqual([404, { detail: 'Unknown tool run' }]);
    expect(await (await fetch(`${server.http}/v1/tool-runs?limit=100`)).json()).toEqual([]);
    expect((await run('ada', requestId)).body).toMatchObject({ requested_by: 'dev' });
    expect(JSON.stringify(await runs('ada'))).toContain('secret of dev');
    for (const path of ['/v1/tool-runs', `/v1/tool-runs/${requestId}`])
      expect(await get('uma', path)).toEqual({
        status: 403,
        body: { detail: 'Missing permission: tool:read' },
      });
  });

  test.each(['nothing', 'call_nothing', 'a.b', crypto.randomUUID(), '.', '../x', 'call_'])(
    'the id %p is 404',
    async (id) => expect((await run('dev', id)).status).toBe(404),
  );

  test.each(['0', '101', 'x', '-1'])('limit=%s is 422', async (limit) =>
    expect((await get('dev', `/v1/tool-runs?limit=${limit}`)).status).toBe(422),
  );
});

describe('workflow logs', () => {
  const logs = async (id: string, query = '') =>
    (await get<Json[]>('dev', `/v1/conversations/${id}/workflow-logs${query}`)).body;
  const workflow = (frames: readonly ServerFrame[]) =>
    frames.filter(({ type }) => type.startsWith('workflow_'));

  test('are the workflow frames in the order they were sent', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    expect(await logs(id)).toEqual([]);
    say(client, id, 'hand off to the tester');
    await turn(client, id);
    await turn(client, id);
    say(client, id, '/tool echo {"value":"no workflow"}');
    await client.next('message_complete');
    say(client, id, 'think about lighthouses');
    await turn(client, id);
    const sent = workflow(client.frames as ServerFrame[]);
    expect(sent.map(({ type }) => type)).toEqual([
      'workflow_step_start',
      'workflow_step_complete',
      'workflow_handoff',
      'workflow_step_start',
      'workflow_step_complete',
      'workflow_step_start',
      'workflow_thought',
      'workflow_step_complete',
    ]);
    const stored = await logs(id);
    expect(stored.map(({ type, payload }) => ({ type, payload }))).toEqual(
      sent.map(({ type, payload }) => ({ type, payload })),
    );
    expect(stored[0]).toEqual({
      id: expect.any(String),
      conversation_id: id,
      type: 'workflow_step_start',
      payload: sent[0]?.payload,
      created_at: ISO,
    });
    expect(new Set(stored.map((log) => log.id)).size).toBe(stored.length);
    expect(await logs(id, '?limit=2')).toEqual(stored.slice(-2));
  });

  test('of a long conversation are the latest, complete', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    for (let count = 0; count < 60; count++) {
      say(client, id, '/tool echo {"value":"no workflow"}');
      await client.next('message_complete');
      say(client, id, 'count to 1');
      await turn(client, id);
    }
    const sent = of(client.frames, 'workflow_step_start').map(({ payload }) => payload.timestamp);
    const stored = await logs(id, '?limit=90');
    expect(stored).toHaveLength(90);
    const starts = stored.filter(({ type }) => type === 'workflow_step_start');
    expect(starts.map(({ payload }) => (payload as Json).timestamp)).toEqual(sent.slice(-45));
  });

  test.each(['0', '1001', 'x'])('limit=%s is 422', async (limit) => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    const path = `/v1/conversations/${id}/workflow-logs?limit=${limit}`;
    expect((await get('dev', path)).status).toBe(422);
  });
});

describe('health and metrics', () => {
  test('/v1/health is available to every caller', async () => {
    for (const name of ['uma', 'dev', 'ada'])
      expect(await get(name, '/v1/health')).toEqual({ status: 200, body: { status: 'ok', timestamp: ISO } });
  });

  test('/v1/health/details requires health:read', async () => {
    expect(await get('dev', '/v1/health/details')).toEqual({
      status: 200,
      body: {
        status: 'ok',
        reason: null,
        detail: null,
        timestamp: ISO,
        version,
        uptime_seconds: expect.any(Number),
        provider: 'offline',
        model: 'offline',
        sandbox: expect.any(Boolean),
        listeners: [{ dialect: 'all', port: server.running.port }],
      },
    });
    expect(await get('uma', '/v1/health/details')).toEqual({
      status: 403,
      body: { detail: 'Missing permission: health:read' },
    });
  });

  test('/v1/metrics has the counters of /metrics, and requires metrics:read', async () => {
    const client = await connectAs(server, 'dev');
    const id = await started(client);
    const before = (await get<Record<string, Record<string, number>>>('dev', '/v1/metrics')).body;
    say(client, id, '/tool echo {"value":1}');
    await client.next('message_complete');
    const after = (await get<Record<string, Record<string, number>>>('dev', '/v1/metrics')).body;
    const calls = (figures: typeof before) => figures.parlance_tool_calls_total?.ok;
    expect(calls(after)).toBe(Number(calls(before)) + 1);
    expect(after.parlance_sockets?.conversations).toBeGreaterThan(0);
    expect(after.parlance_sessions_waiting).toBeNumber();
    expect(await get('uma', '/v1/metrics')).toEqual({
      status: 403,
      body: { detail: 'Missing permission: metrics:read' },
    });
  });
});
