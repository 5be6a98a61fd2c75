import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const DOM = '<html><body><h1>Contact</h1><button id="4">Submit</button></body></html>';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
type Body = Record<string, unknown> & {
  data: Record<string, unknown>;
  details?: { errors: { field: string }[] };
};

async function interact(request: unknown, bearer: string | null = token) {
  const response = await fetch(`${server.http}/api/agent/interact`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: typeof request === 'string' ? request : JSON.stringify(request),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const first = (query = 'click the Submit button', more: object = {}) =>
  interact({ url: 'https://shop.example/contact', query, dom: DOM, ...more });

describe('an answer', () => {
  test('has the format of the contract, in data and at the top level', async () => {
    const { status, body } = await first();
    expect(status).toBe(200);
    expect(body.success).toBe(true);
    for (const field of ['plan', 'status', 'currentStep', 'totalSteps', 'usage']) {
      expect(body[field]).toEqual(body.data[field]);
    }
    expect(body.data).toMatchObject({
      thought: expect.any(String),
      action: 'click(4)',
      taskId: expect.stringMatching(UUID),
      sessionId: expect.stringMatching(UUID),
      status: 'executing',
      currentStep: 0,
      totalSteps: 1,
      usage: { promptTokens: expect.any(Number), completionTokens: expect.any(Number) },
      metrics: { requestDuration: expect.any(Number), stepIndex: 0, actionCount: 1 },
      toolAction: { toolName: 'click', toolType: 'DOM', parameters: { id: 4 } },
    });
    expect(body.data.plan).toEqual({
      steps: [
        {
          id: 'step_0',
          index: 0,
          description: expect.any(String),
          status: 'active',
          reasoning: expect.any(String),
          toolType: 'DOM',
          expectedOutcome: expect.any(Object),
        },
      ],
      currentStepIndex: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test('that is a question has a body of its own', async () => {
    const { body } = await first('click the Rocket button');
    expect(body.userQuestion).toBe(body.data.userQuestion);
    expect(body.data).toMatchObject({
      status: 'needs_user_input',
      thought: expect.any(String),
      userQuestion: expect.any(String),
      missingInformation: expect.any(Array),
      context: { searchPerformed: false, reasoning: expect.any(String) },
    });
    expect(body.data.action).toBeUndefined();
  });

  test('plain chat needs neither URL nor page', async () => {
    const { status, body } = await interact({ query: 'go to example.com' });
    expect(status).toBe(200);
    expect(body.data.action).toBe('navigate("https://example.com/")');
  });

  test('other forms of the page are accepted, and unknown keys are ignored', async () => {
    const tree = [{ id: 4, role: 'button', name: 'Submit' }];
    for (const page of [{ interactiveTree: tree }, { semanticNodes: tree }, { skeletonDom: DOM }]) {
      const { body } = await interact({
        query: 'click the Submit button',
        url: 'https://a.example/',
        ...page,
        extra: 1,
      });
      expect(body.data.action).toBe('click(4)');
    }
  });
});

describe('a task', () => {
  test('continues under its id, verifies the action, and ends', async () => {
    const { body } = await first();
    const { taskId, sessionId } = body.data;
    const dom = '<html><body><h1>Thank you</h1></body></html>';
    const next = {
      taskId,
      sessionId,
      query: 'click the Submit button',
      url: 'https://shop.example/contact',
      dom,
    };
    const ended = await interact({ ...next, lastActionStatus: 'success' });
    expect(ended.body.data).toMatchObject({
      action: 'finish()',
      status: 'completed',
      taskId,
      sessionId,
      verification: { success: true, confidence: expect.any(Number), reason: expect.any(String) },
    });
    const again = await interact({ ...next, lastActionStatus: 'success' });
    expect(again).toMatchObject({ status: 200, body: { data: { action: 'finish()', status: 'completed' } } });
    expect(again.body.data.thought).toContain('finished');
  });

  test('that is unknown has ended, and is not a 404', async () => {
    const { status, body } = await first('go on', { taskId: crypto.randomUUID() });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'failed', action: 'finish()' });
  });

  test('is superseded by another query in the session', async () => {
    const { body } = await first();
    const { sessionId, taskId } = body.data;
    const second = await first('click the Submit button', { sessionId });
    expect(second.body.data.taskId).not.toBe(taskId);
    expect(second.body.data.action).toBe('click(4)');
  });

  test('creates a session with the id of the client, titled by site and query', async () => {
    const sessionId = crypto.randomUUID();
    await first('click the Submit button', { sessionId });
    const response = await fetch(`${server.http}/v1/sessions/${sessionId}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toMatchObject({
      id: sessionId,
      title: 'shop.example: click the Submit button',
      dialect: 'copilot',
      status: 'waiting',
    });
  });
});

describe('refused requests', () => {
  const url = 'https://shop.example/';
  const cases: [string, unknown, string][] = [
    ['no query', { url, dom: DOM }, 'query'],
    ['an empty query', { url, dom: DOM, query: '' }, 'query'],
    ['too long a query', { url, dom: DOM, query: 'x'.repeat(10_001) }, 'query'],
    ['a query that is not a string', { url, dom: DOM, query: 5 }, 'query'],
    ['an invalid URL', { url: 'not a url', dom: DOM, query: 'a' }, 'url'],
    ['a page of 1,000,001 characters', { url, dom: 'x'.repeat(1_000_001), query: 'a' }, 'dom'],
    ['a task id that is not a UUID', { url, dom: DOM, query: 'a', taskId: 'abc' }, 'taskId'],
    ['a session id that is not a UUID', { url, dom: DOM, query: 'a', sessionId: 'abc' }, 'sessionId'],
    ['an unknown status', { url, dom: DOM, query: 'a', lastActionStatus: 'perhaps' }, 'lastActionStatus'],
  ];
  for (const [name, request, field] of cases) {
    test(`${name}: 400 with the name of the field`, async () => {
      const { status, body } = await interact(request);
      expect(status).toBe(400);
      expect(body.error).toBe(body.message);
      expect(body).toMatchObject({ success: false, code: 'VALIDATION_ERROR', message: expect.any(String) });
      expect(body.details?.errors[0]).toMatchObject({
        field,
        message: expect.any(String),
        code: expect.any(String),
      });
    });
  }

  test('malformed JSON: 400', async () => {
    expect(await interact('{"query":')).toMatchObject({ status: 400, body: { success: false } });
  });

  test('no token, or an invalid one: 401', async () => {
    for (const bearer of [null, 'nonsense']) {
      expect(await interact({ query: 'a' }, bearer)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED' },
      });
    }
  });

  test("another user's session: 403", async () => {
    const { body } = await first();
    const other = await server.login('uma', 'uma-password');
    const refused = await interact({ query: 'a', sessionId: body.data.sessionId }, other);
    expect(refused).toMatchObject({ status: 403, body: { success: false, code: 'FORBIDDEN' } });
  });
});

test('a page of 1,000,000 characters is accepted', async () => {
  const dom = `<button id="4">Submit</button>${'<p>text</p>'.repeat(90_000)}`.slice(0, 1_000_000);
  const { status, body } = await interact({
    query: 'click the Submit button',
    url: 'https://a.example/',
    dom,
  });
  expect(status).toBe(200);
  expect(body.data.action).toBe('click(4)');
});

test('the rate limit is reported in every response, with a retry time when it is exceeded', async () => {
  const narrow = await startTestServer({ PARLANCE_REQUESTS_PER_MINUTE: '2' });
  const bearer = { authorization: `Bearer ${await narrow.login('dev', 'dev-password')}` };
  const ask = () => fetch(`${narrow.http}/api/session/latest`, { headers: bearer });
  const [one, two, three] = [await ask(), await ask(), await ask()];
  expect(one.headers.get('x-ratelimit-limit')).toBe('2');
  expect([one, two].map((response) => response.headers.get('x-ratelimit-remaining'))).toEqual(['1', '0']);
  expect(three.status).toBe(429);
  const wait = Number(three.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(Number(three.headers.get('x-ratelimit-reset'))).toBeGreaterThan(0);
  expect(await three.json()).toMatchObject({
    success: false,
    code: 'RATE_LIMIT',
    details: { retryAfter: wait },
  });
  expect((await fetch(`${narrow.http}/api/session/latest`)).status).toBe(401);
  await narrow.stop();
});
