import { afterEach, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';
import { within } from '../../testing/until.ts';

let server: TestServer;
afterEach(() => server.stop());

const command = (session: string, body: object) =>
  fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const ids = async (query: string): Promise<string[]> => {
  const response = await fetch(`${server.http}/v1/sessions${query}`);
  const { sessions } = (await response.json()) as { sessions: { id: string }[] };
  return sessions.map(({ id }) => id).sort();
};

/** Resolves with the text of the stream once it contains `words`. */
async function until(stream: Response, words: string): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  // Not `for await`, which would close the stream.
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  while (!text.includes(words)) {
    const { value, done } = await within(reader.read(), `${words} is not in ${text}`);
    if (done) throw new Error(`the stream ended without ${words}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

/** A session that a client watches. It is created again if it was erased before. */
async function watched(signal: AbortSignal): Promise<void> {
  const headers = { accept: 'text/event-stream' };
  const create = () => command('watched', { type: 'session.create', ephemeral: true });
  let stream: Response;
  do {
    await create();
    stream = await fetch(`${server.http}/v1/sessions/watched/events`, { headers, signal });
  } while (stream.status !== 200);
  await until(stream, 'event: snapshot');
  await create();
}

describe('an ephemeral session', () => {
  test('is left out of lists unless requested, and otherwise behaves like any session', async () => {
    server = await startTestServer();
    await command('brief', { type: 'session.create', ephemeral: true, title: 'Brief' });
    await command('kept', { type: 'session.create', ephemeral: false });
    expect(await ids('')).toEqual(['kept']);
    expect(await ids('?ephemeral=included')).toEqual(['brief', 'kept']);
    expect(await ids('?ephemeral=only')).toEqual(['brief']);
    const [brief, kept] = await Promise.all(
      ['brief', 'kept'].map(async (id) => (await fetch(`${server.http}/v1/sessions/${id}`)).json()),
    );
    expect(brief).toMatchObject({ title: 'Brief', ephemeral: true });
    expect(kept).not.toHaveProperty('ephemeral');
    expect((await fetch(`${server.http}/v1/conversations/brief`)).status).toBe(200);
    const conversations = await (await fetch(`${server.http}/v1/conversations`)).text();
    expect(conversations).not.toContain('brief');
  });

  test('is erased after a period without use, and not while a client watches it', async () => {
    server = await startTestServer({ PARLANCE_EPHEMERAL_IDLE: '300' });
    const stop = new AbortController();
    await watched(stop.signal);
    const first = await fetch(`${server.http}/v1/activity`);
    await command('left', { type: 'session.create', ephemeral: true });
    expect(await until(first, 'event: session.erased')).toContain('"session":"left"');
    expect((await fetch(`${server.http}/v1/sessions/left`)).status).toBe(404);
    expect((await fetch(`${server.http}/v1/sessions/watched`)).status).toBe(200);
    const second = await fetch(`${server.http}/v1/activity`);
    stop.abort();
    await until(second, 'event: session.erased');
    expect((await fetch(`${server.http}/v1/sessions/watched`)).status).toBe(404);
  });
});
