/** Opens everything that depends on a token; each connection reports how it ended. */
import { registration } from '../../packages/server/src/testing/extension.ts';
import { APPLICATION, RawPusher } from '../../packages/server/src/testing/pusher.ts';
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import { within } from '../../packages/server/src/testing/until.ts';

export type EphemeralEvent = {
  readonly kind: string;
  /** how it ended for the client */
  readonly ended: Promise<string>;
  /** Resolves when the connection has proved to be alive. */
  alive(): Promise<unknown>;
};

/** A server in this process or another. */
type Server = Pick<TestServer, 'http' | 'ws' | 'connect' | 'login'>;

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const SOCKETS: Record<string, { path: string; ask: object; answer: string }> = {
  conversations: { path: '/ws', ask: { type: 'PING' }, answer: 'PONG' },
  broadcast: { path: '/broadcast', ask: { type: 'nonsense' }, answer: 'error' },
  agentloop: { path: '/agentloop', ask: { type: 'nonsense' }, answer: 'error' },
  extension: { path: '/extension', ask: { type: 'ping' }, answer: 'pong' },
  'the listener that comes first': { path: '/', ask: { type: 'ping' }, answer: 'pong' },
};

export async function openAll(server: Server, name: string, token: string): Promise<EphemeralEvent[]> {
  const session = crypto.randomUUID();
  await fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: bearer(token),
    body: JSON.stringify({ type: 'session.create' }),
  });
  const all: EphemeralEvent[] = [
    await registered(server, token),
    await streamed(server, token, session),
    await permitted(server, token, name),
  ];
  for (const [kind, { path, ask, answer }] of Object.entries(SOCKETS)) {
    const client = await server.connect(`${path}?token=${token}`);
    const alive = () => {
      client.send(ask);
      return client.next(answer);
    };
    all.push({ kind, alive, ended: client.closed.then(({ code, reason }) => `${code} ${reason}`) });
  }
  for (const live of all) await live.alive();
  return all;
}

/** A socket that sends its token later, in a frame. */
async function registered(server: Server, sessionToken: string): Promise<EphemeralEvent> {
  const client = await server.connect('/extension');
  client.send(registration([], { sessionToken }));
  await client.next('registration_confirmed');
  const alive = () => {
    client.send({ type: 'ping' });
    return client.next('pong');
  };
  const ended = client.closed.then(({ code, reason }) => `${code} ${reason}`);
  return { kind: 'extension, by a frame', alive, ended };
}

/** The events of a session over HTTP. */
async function streamed(server: Server, token: string, session: string): Promise<EphemeralEvent> {
  const events = `${server.http}/v1/sessions/${session}/events`;
  const response = await fetch(events, { headers: { accept: 'text/event-stream', ...bearer(token) } });
  let text = '';
  let waiting = Promise.withResolvers<void>();
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      waiting.resolve();
      waiting = Promise.withResolvers();
    }
    return 'the end';
  })();
  const seen = async (word: string) => {
    while (!text.includes(word)) {
      const next = Promise.race([waiting.promise, ended.then(() => fail(word))]);
      await within(next, `${word} is not in ${text}`);
    }
  };
  await seen('snapshot');
  const rename = async (title: string) => {
    // by an admin, to check the stream even if its own token has ended
    const admin = await server.login('ada', 'ada-password');
    await fetch(`${server.http}/v1/sessions/${session}/commands`, {
      method: 'POST',
      headers: bearer(admin),
      body: JSON.stringify({ type: 'session.rename', title }),
    });
    await seen(title);
  };
  return { kind: 'native events', alive: () => rename(`title ${crypto.randomUUID()}`), ended };
}

const fail = (word: string): never => {
  throw new Error(`the stream ended before ${word}`);
};

/** A Pusher socket with a private channel authorized by our own endpoint. */
async function permitted(server: Server, token: string, name: string): Promise<EphemeralEvent> {
  const one = await (await RawPusher.connect(server.ws, APPLICATION)).greeted();
  const channel = `private-user-${name}`;
  const response = await fetch(`${server.http}/api/pusher/auth`, {
    method: 'POST',
    headers: bearer(token),
    body: new URLSearchParams({ socket_id: one.socketId, channel_name: channel }),
  });
  const { auth } = (await response.json()) as { auth: string };
  one.send('pusher:subscribe', { channel, auth });
  await one.received('pusher_internal:subscription_succeeded');
  const ended = one.client.closed.then(({ code, reason }) => `${code} ${reason}`);
  return { kind: 'pusher', alive: () => one.settled(), ended };
}

/** How the client of each kind is disconnected when its token ends. */
export const endOf = (kind: string, reason: string): string =>
  kind === 'native events' ? 'the end' : `${kind === 'pusher' ? 4200 : 1008} ${reason}`;
