import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { within } from '../../testing/until.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

type Json = Record<string, unknown>;

const callAt =
  (at: () => TestServer) =>
  async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(at().http + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };

const call = callAt(() => server);

const submit = (text: string) => ({ type: 'input.submit', parts: [{ type: 'text', text }] });

const command = (session: string, body: unknown, headers?: Record<string, string>) =>
  call(`/v1/sessions/${session}/commands`, body, headers);

/** Server-sent events of a session, one by one. */
async function follow(path: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(server.http + path, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const seen: { id?: string; event: string; data: Json }[] = [];
  let buffer = '';
  const decoder = new TextDecoder();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  async function until(event: string) {
    for (;;) {
      const found = seen.findIndex((one) => one.event === event);
      if (found >= 0) return seen.splice(0, found + 1);
      const { value, done } = await within(reader.read(), `no ${event}`);
      if (done) throw new Error(`the stream ended before ${event}`);
      buffer += decoder.decode(value, { stream: true });
      for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
        const lines = buffer.slice(0, end).split('\n');
        buffer = buffer.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        if (field('event'))
          seen.push({
            id: field('id'),
            event: field('event') ?? '',
            data: JSON.parse(field('data') ?? 'null'),
          });
      }
    }
  }
  return { until, stop: () => stop.abort() };
}

describe('commands', () => {
  test('an input is accepted durably, and its events are sent', async () => {
    const { status, body } = await command('n-input', submit('Hello'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ session: 'n-input', seq: 3 });
    expect((body.facts as { type: string }[]).map((durable) => durable.type)).toEqual([
      'session.created',
      'input.accepted',
      'turn.started',
    ]);
  });

  test('an input repeated with the same key is accepted once', async () => {
    const key = { 'idempotency-key': 'the-same' };
    await command('n-key', submit('Hello'), key);
    expect((await command('n-key', submit('Hello'), key)).body.facts).toEqual([]);
    const { body } = await call('/v1/sessions/n-key/events?limit=1000');
    const inputs = (body.events as { type: string }[]).filter((event) => event.type === 'input.accepted');
    expect(inputs).toHaveLength(1);
  });

  test('the key of an input is refused for another input, which is not stored', async () => {
    const key = { 'idempotency-key': 'one-input' };
    await command('n-other', submit('Hello'), key);
    const { status, body } = await command('n-other', submit('Something else'), key);
    expect([status, body.error]).toMatchObject([400, { code: 'invalid' }]);
    expect(body.detail).toContain('for another message');
    expect((await command('n-other', submit('Hello'), key)).body.facts).toEqual([]);
    expect((await command('n-elsewhere', submit('Something else'), key)).body.facts).toHaveLength(3);
  });

  test('a key that is empty or too long is refused, not truncated', async () => {
    const key = (text: string) => ({ 'idempotency-key': text });
    const longest = 'k'.repeat(200);
    for (const wrong of [`${longest}1`, `${longest}2`, '']) {
      const { status, body } = await command('n-long-key', submit('Hello'), key(wrong));
      expect([status, body.error]).toMatchObject([400, { code: 'invalid' }]);
      expect(body.detail).toContain('idempotency-key: ');
    }
    expect((await call('/v1/sessions/n-long-key')).status).toBe(404);
    const events = async () => (await command('n-long-key', submit('Hello'), key(longest))).body.facts;
    expect(await events()).toHaveLength(3);
    expect(await events()).toEqual([]);
  });

  describe('labels', () => {
    const labels = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`label-${from + index}`, 'x']));
    const label = (session: string, given: object) =>
      command(session, { type: 'session.label', labels: given });

    test('a session is not created with more than 50', async () => {
      const create = (session: string, given: object) =>
        command(session, { type: 'session.create', labels: given });
      const refused = await create('n-labels-new', labels(0, 51));
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { error: { code: 'invalid', message: 'A session may have at most 50 labels.' } },
      ]);
      expect((await call('/v1/sessions/n-labels-new')).status).toBe(404);
      expect((await create('n-labels-new', labels(0, 50))).status).toBe(200);
    });

    test('merging cannot exceed 50 but changes existing ones', async () => {
      await command('n-labels', { type: 'session.create', labels: labels(0, 30) });
      expect((await label('n-labels', labels(30, 50))).status).toBe(200);
      const refused = await label('n-labels', labels(50, 51));
      expect([refused.status, refused.body.detail]).toEqual([400, 'A session may have at most 50 labels.']);
      expect((await label('n-labels', { 'label-0': 'changed' })).status).toBe(200);
    });
  });

  const refused: [string, string, unknown, number, string][] = [
    ['malformed JSON', 'n-bad', '{"type":', 400, 'invalid'],
    ['an unknown command', 'n-bad', { type: 'dance' }, 400, 'invalid'],
    ['a missing field', 'n-bad', { type: 'input.submit' }, 400, 'invalid'],
    ['an empty input', 'n-bad', submit('  '), 400, 'empty'],
    ['a command to a missing session', 'n-nowhere', { type: 'turn.cancel' }, 404, 'not_found'],
    ['a cancel without a running turn', 'n-input', { type: 'turn.cancel' }, 409, 'no_turn'],
    [
      'an answer without a pending approval',
      'n-input',
      { type: 'approval.answer', answer: 'once' },
      409,
      'no_approval',
    ],
    [
      'an unknown tool',
      'n-bad',
      { ...submit('x'), call: { tool: 'nothing', input: {} } },
      422,
      'tool_invalid',
    ],
    ['an unknown domain', 'n-bad', { type: 'session.create', domain: 'nowhere' }, 404, 'not_found'],
  ];
  for (const [name, session, body, status, code] of refused) {
    test(`${name} is refused with ${status}, and nothing is stored`, async () => {
      const answer = await command(session, body);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ error: { code, message: expect.any(String) } });
      if (session === 'n-bad') expect((await call('/v1/sessions/n-bad')).status).toBe(404);
    });
  }
});

describe('sessions', () => {
  test('are listed page by page, the latest first, whatever dialect created them', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'chat', message: 'Hello', session_id: 'n-list' });
    await client.next((frame) => frame.session_id === 'n-list' && frame.type === 'agent_message');
    const { body } = await call('/v1/sessions?limit=1');
    expect(body.sessions).toMatchObject([
      { id: 'n-list', owner: 'local', status: 'idle', title: 'Hello', metadata: { dialect: 'broadcast' } },
    ]);
    const next = await call(`/v1/sessions?limit=1&cursor=${body.next}`);
    expect(JSON.stringify(next.body)).not.toContain('n-list');
    expect((await call('/v1/sessions?limit=0')).status).toBe(400);
    expect((await call('/v1/sessions?cursor=nonsense')).status).toBe(400);
  });

  test('are returned with their current state', async () => {
    await command('n-now', submit('run touch n-now.txt'));
    const events = await follow('/v1/sessions/n-now/events');
    await events.until('approval.requested');
    events.stop();
    const { body } = await call('/v1/sessions/n-now');
    expect(body).toMatchObject({ id: 'n-now', status: 'waiting', now: { approval: { tool: 'shell' } } });
  });

  test('of others are not found', async () => {
    const token = await server.login('uma', 'uma-password');
    const bearer = { authorization: `Bearer ${token}` };
    await command('n-secret', submit('Hello'));
    for (const path of ['/v1/sessions/n-secret', '/v1/sessions/n-secret/events']) {
      expect((await call(path, undefined, bearer)).status).toBe(404);
    }
    expect((await call('/v1/sessions', undefined, bearer)).body).toEqual({
      sessions: [],
      next: null,
    });
    expect((await call('/v1/sessions', undefined, { authorization: 'Bearer nonsense' })).status).toBe(401);
  });

  test('of everyone are available to an admin', async () => {
    const bearer = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
    await command('n-seen', submit('Hello'));
    expect((await call('/v1/sessions/n-seen', undefined, bearer)).body).toMatchObject({ owner: 'local' });
  });
});

describe('approvals', () => {
  async function waiting(session: string) {
    await command(session, submit(`run touch ${session}.txt`));
    const live = await follow(`/v1/sessions/${session}/events`);
    await live.until('approval.requested');
    live.stop();
    const { body } = await call('/v1/approvals');
    const found = (body.approvals as { id: string; session: string; hash: string }[]).find(
      (a) => a.session === session,
    );
    if (!found) throw new Error('the approval is not listed');
    return found;
  }

  test('are listed with their request, and answered once', async () => {
    const { id, hash } = await waiting('n-once');
    const other = { answer: 'once', hash: 'of something else' };
    expect((await call(`/v1/approvals/${id}`, other)).body).toMatchObject({ error: { code: 'invalid' } });
    expect((await call(`/v1/approvals/${id}`, { answer: 'once', hash })).status).toBe(200);
    expect((await call(`/v1/approvals/${id}`, { answer: 'deny' })).body).toMatchObject({
      error: { code: 'no_approval' },
    });
  });

  test('answered with always are listed as grants, and can be revoked', async () => {
    const { id } = await waiting('n-always');
    await call(`/v1/approvals/${id}`, { answer: 'always' });
    const { body } = await call('/v1/sessions/n-always/grants');
    expect(body).toEqual({ grants: ['shell:touch'] });
    const path = `${server.http}/v1/sessions/n-always/grants/${encodeURIComponent('shell:touch')}`;
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(200);
    expect((await call('/v1/sessions/n-always/grants')).body).toEqual({ grants: [] });
    expect((await fetch(path, { method: 'DELETE' })).status).toBe(404);
  });

  test('that are unknown, or of others, are refused', async () => {
    expect((await call('/v1/approvals/nothing', { answer: 'once' })).status).toBe(404);
    expect((await call('/v1/approvals/nothing', { answer: 'perhaps' })).status).toBe(400);
    const { id } = await waiting('n-others');
    const bearer = { authorization: `Bearer ${await server.login('dev', 'dev-password')}` };
    expect((await call(`/v1/approvals/${id}`, { answer: 'once' }, bearer)).status).toBe(404);
    const admin = { authorization: `Bearer ${await server.login('ada', 'ada-password')}` };
    expect((await call(`/v1/approvals/${id}`, { answer: 'deny', reason: 'no' }, admin)).status).toBe(200);
  });

  test('cannot be answered without the permission', async () => {
    const bearer = { authorization: `Bearer ${await server.login('uma', 'uma-password')}` };
    await command('n-uma', submit('run touch n-uma.txt'), bearer);
    const live = await follow('/v1/sessions/n-uma/events', bearer);
    await live.until('approval.requested');
    live.stop();
    const { body } = await call('/v1/approvals', undefined, bearer);
    const [approval] = body.approvals as { id: string }[];
    const answer = await call(`/v1/approvals/${approval?.id}`, { answer: 'once' }, bearer);
    expect(answer.body).toMatchObject({
      error: { code: 'forbidden', message: 'Missing permission: tool:approve' },
    });
  });
});

test('if a token is required, nothing is returned without one', async () => {
  const locked = await startTestServer({ PARLANCE_AUTH: 'required' });
  const callLocked = callAt(() => locked);
  for (const path of ['/v1/sessions', '/v1/sessions/a', '/v1/sessions/a/events', '/v1/approvals']) {
    expect((await callLocked(path)).status).toBe(401);
  }
  expect((await callLocked('/v1/sessions/a/commands', submit('Hi'))).status).toBe(401);
  expect((await callLocked('/v1/approvals/a', { answer: 'once' })).status).toBe(401);
  await locked.stop();
});
