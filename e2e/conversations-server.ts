/** A server and clients of `conversations`, for tests of inherited conversations. */
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { until } from '../packages/server/src/testing/until.ts';

type Payload = Record<string, string>;
export const payloadOf = (frame: AnyFrame | undefined) => (frame?.payload ?? {}) as Payload;

export const textOf = (frames: readonly AnyFrame[], conversationId?: string): string =>
  frames
    .filter(({ type }) => type === 'message_chunk')
    .filter((frame) => conversationId === undefined || frame.conversationId === conversationId)
    .map((frame) => payloadOf(frame).chunk)
    .join('');

/**
 * Resolves when everything that the client has sent is handled; returns the frames received in the meantime.
 */
export async function settled(client: TestClient): Promise<AnyFrame[]> {
  client.send({ type: 'PING' });
  return (await client.until('PONG')).slice(0, -1);
}

export async function started(client: TestClient): Promise<string> {
  client.send({ type: 'start_conversation', payload: { domainId: 'software_development' } });
  return String(payloadOf(await client.next('conversation_started')).conversationId);
}

export const write = (client: TestClient, conversationId: string, content = 'tell me') =>
  client.send({ type: 'send_message', conversationId, payload: { content } });

/** Waits until the received chunks form this text. */
export async function reads(client: TestClient, text: string): Promise<void> {
  for (let read = ''; read !== text; ) read += payloadOf(await client.next('message_chunk')).chunk;
}

export type ConversationsServer = {
  open(name: string, query?: string): Promise<TestClient>;
  /** Terminates the socket without a closing handshake. Resolves when the server has noticed. */
  cut(client: TestClient, conversationId: string): Promise<void>;
  /** Terminates sockets one after the other. Resolves when the server has noticed. */
  cutAll(clients: readonly TestClient[]): Promise<void>;
  /** Resolves when no turn runs in the conversation. */
  idle(name: string, conversationId: string): Promise<void>;
  stop(): Promise<void>;
};

export async function serveConversations(settings: Record<string, string>): Promise<ConversationsServer> {
  const server: TestServer = await startTestServer(settings);
  const tokens = new Map<string, string>();
  for (const name of ['ada', 'dev', 'uma']) tokens.set(name, await server.login(name, `${name}-password`));

  async function attached(conversationId: string): Promise<number> {
    const headers = { authorization: `Bearer ${tokens.get('ada')}` };
    const response = await fetch(`${server.http}/v1/sessions/${conversationId}`, { headers });
    const { attached } = (await response.json()) as { attached: Record<string, number> };
    return attached.conversations ?? 0;
  }

  /** the number of open sockets */
  async function sockets(): Promise<number> {
    const headers = { authorization: `Bearer ${tokens.get('ada')}` };
    const response = await fetch(`${server.http}/v1/metrics`, { headers });
    const figures = (await response.json()) as { parlance_sockets: Record<string, number> };
    return figures.parlance_sockets.conversations ?? 0;
  }

  return {
    open: (name, query = '') => server.connect(`/ws?token=${tokens.get(name)}${query}`),
    async cut(client, conversationId) {
      const before = await attached(conversationId);
      client.socket.terminate();
      await until(async () => (await attached(conversationId)) !== before);
    },
    async cutAll(clients) {
      for (const client of clients) {
        const before = await sockets();
        client.socket.terminate();
        await until(async () => (await sockets()) < before);
      }
    },
    async idle(name, conversationId) {
      const headers = { authorization: `Bearer ${tokens.get(name)}` };
      const url = `${server.http}/v1/conversations/${conversationId}`;
      const status = async () =>
        ((await (await fetch(url, { headers })).json()) as { status: string }).status;
      await until(async () => (await status()) === 'idle');
    },
    stop: () => server.stop(),
  };
}
