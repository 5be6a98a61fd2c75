/** What the tests of this folder say to the server, and how they read its answers. */
import { expect } from 'bun:test';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import type { TestServer } from '../../testing/server.ts';

export type Told = AnyFrame & { conversationId: string; payload: Record<string, unknown> };

const tokens = new WeakMap<TestServer, Map<string, Promise<string>>>();

/** Asked for once: hashing a password takes longer than some of the streams that a socket is to join. */
export function tokenOf(server: TestServer, name: string): Promise<string> {
  const known = tokens.get(server) ?? new Map<string, Promise<string>>();
  tokens.set(server, known);
  const token = known.get(name) ?? server.login(name, `${name}-password`);
  known.set(name, token);
  return token;
}

export const connectAs = async (server: TestServer, name: string, query = ''): Promise<TestClient> =>
  server.connect(`/ws?token=${await tokenOf(server, name)}${query}`);

/** The id of a new conversation. */
export async function started(client: TestClient, domainId = 'software_development'): Promise<string> {
  client.send({ type: 'start_conversation', payload: { domainId } });
  const { payload } = (await client.next('conversation_started')) as Told;
  return String(payload.conversationId);
}

export const say = (client: TestClient, conversationId: string, content: unknown): void =>
  client.send({ type: 'send_message', conversationId, payload: { content } });

type Answer = { conversationId: string; requestId: unknown; approved: unknown; reason?: unknown };

export const answer = (client: TestClient, { conversationId, requestId, approved, reason }: Answer): void =>
  client.send({ type: 'approve_tool', conversationId, requestId, payload: { approved, reason } });

export const next = async (client: TestClient, type: string): Promise<Told> =>
  (await client.next(type)) as Told;

/** Frames up to the end of a turn that was answered, in this conversation or in whichever ends first. */
export const turn = async (client: TestClient, conversationId?: string): Promise<Told[]> =>
  (await client.until(
    (frame) =>
      frame.type === 'workflow_step_complete' &&
      (conversationId === undefined || frame.conversationId === conversationId),
  )) as Told[];

export const errorOf = (code: string, message: string, conversationId?: string) => ({
  type: 'error',
  ...(conversationId === undefined ? {} : { conversationId }),
  error: message,
  payload: { code, message, error: message },
});

export const typesOf = (frames: readonly AnyFrame[]): string[] =>
  frames.map((frame) => frame.type).filter((type, index, all) => type !== all[index - 1]);

export const of = (frames: readonly AnyFrame[], type: string): Told[] =>
  frames.filter((frame): frame is Told => frame.type === type);

export const joinedChunks = (frames: readonly AnyFrame[], conversationId?: string): string =>
  of(frames, 'message_chunk')
    .filter((frame) => conversationId === undefined || frame.conversationId === conversationId)
    .map((frame) => frame.payload.chunk)
    .join('');

/** Everything that was sent before is handled: the server answers in order. */
export async function settled(client: TestClient): Promise<AnyFrame[]> {
  client.send({ type: 'PING' });
  return client.until('PONG');
}

export const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
