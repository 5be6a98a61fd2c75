/**
 * The streams beside a session's events: frames of its sockets, and the activity in all sessions of the caller.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { within } from '../../testing/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

type StreamedEvent = { readonly event: string; readonly data: Record<string, unknown> };

/** Reads until an event matches, and returns all events up to it. */
async function listen(path: string, token?: string) {
  const stop = new AbortController();
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(server.http + path, { headers, signal: stop.signal });
  if (response.status !== 200) throw new Error(String(response.status));
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as never)
    .getReader();
  const received: StreamedEvent[] = [];
  let buffer = '';
  return {
    stop: () => stop.abort(),
    async until(fits: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]> {
      for (;;) {
        const found = received.findIndex(fits);
        if (found >= 0) return received.splice(0, found + 1);
        const { value, done } = await within(reader.read(), `no event for which ${fits}`);
        if (done) throw new Error('the stream ended');
        const parts = (buffer + value).split('\n\n');
        buffer = parts.pop() ?? '';
        for (const part of parts) {
          const [, event, data] = /event: (.*)\ndata: (.*)/.exec(part) ?? [];
          if (event) received.push({ event, data: JSON.parse(data ?? 'null') });
        }
      }
    },
  };
}

const command = async (session: string, body: object, token?: string) =>
  fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
const submit = (session: string, text: string, token?: string) =>
  command(session, { type: 'input.submit', parts: [{ type: 'text', text }] }, token);

const userInput = (text: string) => ({
  id: crypto.randomUUID(),
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
});

test('frames of attached sockets are streamed in both directions, with the identity of their sockets', async () => {
  await command('watched', { type: 'session.create' });
  const before = await server.connect('/agentloop?session=watched');
  const elsewhere = await server.connect('/agentloop?session=another');
  elsewhere.send(userInput('echo elsewhere'));
  await elsewhere.next('agent_finished');
  const frames = await listen('/v1/sessions/watched/frames');
  expect(await frames.until(({ event }) => event === 'attached')).toHaveLength(1);
  const late = await server.connect('/agentloop?session=watched');
  const sent = userInput('echo hello');
  before.send(sent);
  elsewhere.send(userInput('echo nothing of this'));
  const ended = ({ data }: StreamedEvent) => String(data.text).includes('context_info');
  const seen = [...(await frames.until(ended)), ...(await frames.until(ended))];
  const of = (direction: string) => seen.filter(({ data }) => data.direction === direction);
  expect(of('in').map(({ data }) => data.text)).toEqual([JSON.stringify(sent)]);
  expect(new Set(of('out').map(({ data }) => data.connection)).size).toBe(2);
  expect(JSON.stringify(seen)).not.toContain('nothing of this');
  await late.next('context_info');
  const texts = of('out').map(({ data }) => String(data.text));
  for (const frame of late.frames) expect(texts).toContain(JSON.stringify(frame));
  frames.stop();
});

test('a session lists the attached dialects', async () => {
  await command('attached', { type: 'session.create' });
  const attached = async () =>
    ((await (await fetch(`${server.http}/v1/sessions/attached`)).json()) as { attached: object }).attached;
  expect(await attached()).toEqual({});
  const client = await server.connect('/agentloop?session=attached');
  client.send({ id: '1', type: 'get_context_info', payload: {} });
  await client.next('context_info');
  const events = await listen('/v1/sessions/attached/frames');
  await events.until(({ event }) => event === 'attached');
  expect(await attached()).toEqual({ agentloop: 1 });
  events.stop();
  client.close();
  await client.closed;
});

test('activity has the events of all sessions of the caller; for an admin those of all users', async () => {
  const [dev, admin] = [await server.login('dev', 'dev-password'), await server.login('ada', 'ada-password')];
  const [mine, all] = [await listen('/v1/activity'), await listen('/v1/activity', admin)];
  for (const stream of [mine, all]) await stream.until(({ event }) => event === 'ready');
  await submit('of-dev', 'echo secret of dev', dev);
  await submit('of-local', 'echo for local');
  const ends = ({ event, data }: StreamedEvent) => event === 'turn.ended' && data.session === 'of-local';
  const seen = await mine.until(ends);
  expect(new Set(seen.map(({ data }) => `${data.owner} ${data.session}`))).toEqual(
    new Set(['local of-local']),
  );
  expect(seen.some(({ event }) => event === 'text.delta')).toBe(false);
  await all.until(({ data }) => data.owner === 'dev');
  for (const stream of [mine, all]) stream.stop();
});

test('activity says that the settings have changed, without their content', async () => {
  const admin = await server.login('ada', 'ada-password');
  const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
  const activity = await listen('/v1/activity', await server.login('dev', 'dev-password'));
  await activity.until(({ event }) => event === 'ready');
  const { version } = (await (await fetch(`${server.http}/v1/admin/settings`, { headers })).json()) as {
    version: number;
  };
  const body = JSON.stringify({ version, values: { allowedOrigins: ['https://chat.example.com'] } });
  await fetch(`${server.http}/v1/admin/settings`, { method: 'PATCH', headers, body });
  const seen = await activity.until(({ event }) => event === 'settings.changed');
  expect(seen.at(-1)?.data).toEqual({});
  activity.stop();
});

test('a deleted session is gone for every client, and its id can be used for a new one', async () => {
  const erase = (id: string) => fetch(`${server.http}/v1/sessions/${id}`, { method: 'DELETE' });
  expect((await erase('nowhere')).status).toBe(404);
  const client = await server.connect('/agentloop?session=doomed');
  client.send(userInput('run touch never.txt'));
  await client.next('approval_request');
  const activity = await listen('/v1/activity');
  expect((await erase('doomed')).status).toBe(204);
  await activity.until(({ event }) => event === 'session.erased');
  await client.next((frame) => JSON.stringify(frame).includes('The conversation was deleted.'));
  expect((await fetch(`${server.http}/v1/sessions/doomed`)).status).toBe(404);
  const approvals = await (await fetch(`${server.http}/v1/approvals`)).json();
  expect(JSON.stringify(approvals)).not.toContain('doomed');
  client.send(userInput('echo anew'));
  await client.next('agent_finished');
  const { events } = (await (await fetch(`${server.http}/v1/sessions/doomed/events`)).json()) as {
    events: { seq: number; type: string }[];
  };
  expect(events[0]).toMatchObject({ seq: 1, type: 'session.created' });
  expect(JSON.stringify(events)).not.toContain('never.txt');
  activity.stop();
});

test('sessions are found by part of their title', async () => {
  await command('find-me', { type: 'session.create', title: 'Quarterly report' });
  const { sessions } = (await (await fetch(`${server.http}/v1/sessions?q=TERLY`)).json()) as {
    sessions: { id: string }[];
  };
  expect(sessions.map(({ id }) => id)).toEqual(['find-me']);
});

test('attaching and detaching is reported to the owner of the session only', async () => {
  const dev = await server.login('dev', 'dev-password');
  await command('visited', { type: 'session.create' });
  const [mine, theirs] = [await listen('/v1/activity'), await listen('/v1/activity', dev)];
  const untilAttached = (count: number) =>
    mine.until(({ event, data }) => {
      const attached = data.attached as Record<string, number> | undefined;
      return (
        event === 'session.attached' && data.session === 'visited' && (attached?.agentloop ?? 0) === count
      );
    });
  await mine.until(({ event }) => event === 'ready');
  const visitor = await server.connect('/agentloop?session=visited');
  await untilAttached(1);
  visitor.close();
  await untilAttached(0);
  await command('visited-by-dev', { type: 'session.create' }, dev);
  const seen = await theirs.until(({ data }) => data.session === 'visited-by-dev');
  expect(seen.filter(({ data }) => data.session === 'visited')).toEqual([]);
  mine.stop();
  theirs.stop();
});
