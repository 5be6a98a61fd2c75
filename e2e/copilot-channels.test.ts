import { afterAll, beforeAll, expect, test } from 'bun:test';
import Pusher, { type Channel } from 'pusher-js';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { browse, post } from './fake-browser.ts';
import { form } from './sites.ts';

let server: TestServer;
let token: string;
const clients: Pusher[] = [];
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await server.stop();
});

type Pushed = {
  type: string;
  sessionId: string;
  message: Record<string, unknown>;
  data: Record<string, unknown>;
};

/** A side panel that subscribes to a session. */
async function panel(
  sessionId: string,
  bearer = token,
): Promise<{
  channel: Channel;
  pushed: Pushed[];
  /** Resolves when such an event was pushed: it arrives on another connection than the response. */
  untilPushed(wanted: (event: Pushed) => boolean): Promise<Pushed>;
}> {
  const client = new Pusher('app-key', {
    cluster: 'none',
    wsHost: '127.0.0.1',
    wsPort: server.running.port,
    forceTLS: false,
    enabledTransports: ['ws'],
    channelAuthorization: {
      endpoint: `${server.http}/api/pusher/auth`,
      transport: 'ajax',
      headers: { authorization: `Bearer ${bearer}` },
    },
  });
  clients.push(client);
  const channel = client.subscribe(`private-session-${sessionId}`);
  const pushed: Pushed[] = [];
  const listening = new Set<() => void>();
  for (const event of ['new_message', 'interact_response', 'plan_update', 'task_status']) {
    channel.bind(event, (data: Pushed) => {
      pushed.push(data);
      for (const look of listening) look();
    });
  }
  const untilPushed = (wanted: (event: Pushed) => boolean) =>
    new Promise<Pushed>((resolve) => {
      const look = () => {
        const found = pushed.find(wanted);
        if (found) resolve(found);
      };
      listening.add(look);
      look();
    });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  channel.bind('pusher:subscription_succeeded', () => resolve());
  channel.bind('pusher:subscription_error', (error: { status?: number }) =>
    reject(new Error(`refused: ${error.status}`)),
  );
  await promise;
  return { channel, pushed, untilPushed };
}

const messagesOf = async (sessionId: string) => {
  const response = await fetch(`${server.http}/api/session/${sessionId}/messages`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await response.json()) as { messages: Record<string, unknown>[] };
};

test('a side panel receives every stored message, and the end of each request', async () => {
  const first = await post(server, token, {
    query: 'click the Submit button',
    url: form.url,
    dom: '<button id="4">Submit</button>',
  });
  const sessionId = String(first.data.sessionId);
  const { untilPushed } = await panel(sessionId);
  const next = { taskId: first.data.taskId, sessionId, query: 'click the Submit button', url: form.url };
  const ended = await post(server, token, {
    ...next,
    dom: '<h1>Thank you</h1>',
    lastActionStatus: 'success',
  });
  expect(ended.data.action).toBe('finish()');
  expect(await untilPushed((event) => event.type === 'interact_response')).toMatchObject({
    sessionId,
    data: { taskId: first.data.taskId, action: 'finish()', status: 'completed' },
  });
  const { messages } = await messagesOf(sessionId);
  expect(messages.map((message) => message.sequenceNumber)).toEqual([0, 1, 2, 3, 4]);
  const last = await untilPushed(
    ({ type, message }) => type === 'new_message' && message.sequenceNumber === 4,
  );
  expect(last.message).toMatchObject({ role: 'assistant', messageId: messages.at(-1)?.messageId });
});

test('the plan of a task is a system message, stored, pushed and numbered like the others', async () => {
  const sessionId = crypto.randomUUID();
  const page = {
    url: form.url,
    dom: '<button id="4">Submit</button><button id="5">Reset</button>',
    sessionId,
  };
  await fetch(`${server.http}/api/session/init`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sessionId, url: form.url }),
  });
  const { pushed, untilPushed } = await panel(sessionId);
  const first = await post(server, token, { ...page, query: 'click Submit and then click Reset' });
  const report = { url: form.url, query: 'go on', taskId: first.data.taskId, lastActionStatus: 'success' };
  const dom = '<h1>Thanks</h1><button id="5">Reset</button>';
  const next = await post(server, token, { ...report, dom });
  const last = await post(server, token, { ...report, dom: '<h1>Gone</h1>' });
  expect([first, next, last].map(({ data }) => data.action)).toEqual(['click(4)', 'click(5)', 'finish()']);
  const second = await post(server, token, { ...page, query: 'click Reset' });
  await untilPushed(({ data }) => data?.taskId === second.data.taskId);
  const { messages } = await messagesOf(sessionId);
  expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(messages.map((_, index) => index));
  const plans = messages.filter(({ role }) => role === 'system');
  expect(plans.map(({ metadata }) => metadata)).toEqual([
    { taskId: first.data.taskId, messageType: 'plan_preview', plan: first.data.plan },
    { taskId: first.data.taskId, messageType: 'plan_update', plan: next.data.plan },
    { taskId: first.data.taskId, messageType: 'plan_update', plan: last.data.plan },
    { taskId: second.data.taskId, messageType: 'plan_preview', plan: second.data.plan },
  ]);
  // Clients that drop the metadata show these as messages.
  expect(plans.map(({ content }) => content)).toEqual([
    'Plan:\n1. Click Submit\n2. Click Reset',
    'Step 2 of 2: Click Reset',
    'Plan done: 2 steps.',
    'Plan: Click Reset',
  ]);
  expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(messages.length);
  const pushedMessages = pushed.filter(({ type }) => type === 'new_message').map(({ message }) => message);
  expect(pushedMessages.map(({ messageId }) => messageId)).toEqual(
    messages.map(({ messageId }) => messageId),
  );
  expect(pushedMessages.find(({ role }) => role === 'system')).toEqual(plans[0] as never);
});

test('messages of other dialects in the session are pushed as well, numbered without gaps', async () => {
  const { sessionId } = await browse(server, token, { site: form, query: 'click the Submit button' });
  const { pushed, untilPushed } = await panel(sessionId);
  const other = await server.connect(`/broadcast?token=${token}`);
  other.send({ type: 'chat', message: 'echo from elsewhere', session_id: sessionId });
  await other.next((frame) => frame.type === 'agent_message' && frame.session_id === sessionId);
  const { messages } = await messagesOf(sessionId);
  expect(messages.map((message) => message.sequenceNumber)).toEqual(messages.map((_, index) => index));
  await untilPushed(
    ({ type, message }) => type === 'new_message' && message.messageId === messages.at(-1)?.messageId,
  );
  const pushedIds = pushed
    .filter((event) => event.type === 'new_message')
    .map((event) => event.message.messageId);
  expect(pushedIds).toEqual(messages.slice(-pushedIds.length).map((message) => message.messageId));
  expect(pushedIds.length).toBeGreaterThanOrEqual(2);
});

test('a task is visible in the other dialects', async () => {
  const sessionId = crypto.randomUUID();
  const watcher = await server.connect(`/agentloop?token=${token}&session=${sessionId}`);
  await post(server, token, {
    sessionId,
    query: 'click the Submit button',
    url: form.url,
    dom: '<button id="4">Submit</button>',
  });
  const call = await watcher.next((frame) => {
    const item = frame.payload as { type?: string; name?: string };
    return item.type === 'function_call' && item.name === 'browser_act';
  });
  expect(JSON.stringify(call)).toContain('click(4)');
});

test('the channel of another user is refused', async () => {
  const { sessionId } = await browse(server, token, { site: form, query: 'click the Submit button' });
  const other = await server.login('uma', 'uma-password');
  await expect(panel(sessionId, other)).rejects.toThrow('refused: 403');
});

test('with an external server configured, events are triggered there, signed', async () => {
  const received: { path: string; body: Record<string, unknown> }[] = [];
  const arrived = Promise.withResolvers<void>();
  const external = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url);
      const body = (await request.json()) as Record<string, unknown>;
      received.push({ path: url.pathname, body });
      if (body.name === 'interact_response') arrived.resolve();
      return Response.json({ auth: url.searchParams.get('auth_signature') });
    },
  });
  const outward = await startTestServer({
    SOCKUDO_HOST: '127.0.0.1',
    SOCKUDO_PORT: String(external.port),
    SOCKUDO_USE_TLS: 'false',
  });
  const bearer = await outward.login('dev', 'dev-password');
  const { data } = await post(outward, bearer, { query: 'go to example.com' });
  await arrived.promise;
  expect(received.every(({ path }) => path === '/apps/app-id/events')).toBe(true);
  expect(received.map(({ body }) => body.name)).toContain('new_message');
  expect(JSON.stringify(received)).toContain(`private-session-${data.sessionId}`);
  await outward.stop();
  await external.stop(true);
});
