/** Sends messages to the server and reads its answers, for the tests in this folder. */
import { expect } from 'bun:test';
import type { AnyFrame, TestClient } from './client.ts';
import type { TestServer } from './server.ts';

export type ServerFrame = AnyFrame & { conversationId: string; payload: Record<string, unknown> };

const tokens = new WeakMap<TestServer, Map<string, Promise<string>>>();

/** One login per user: hashing a password takes longer than some of the streams that a test joins. */
export function tokenOf(server: TestServer, name: string): Promise<string> {
  const known = tokens.get(server) ?? new Map<string, Promise<string>>();
  tokens.set(server, known);
  const token = known.get(name) ?? server.login(name, `${name}-password`);
  known.set(name, token);
  return token;
}

export const connectAs = async (server: TestServer, name: string, query = ''): Promise<TestClient> =>
  server.connect(`/ws?token=${await tokenOf(server, name)}${query}`);

/** Starts a conversation and returns its id. */
export async function started(client: TestClient, domainId = 'software_development'): Promise<string> {
  client.send({ type: 'start_conversation', payload: { domainId } });
  const { payload } = (await client.next('conversation_started')) as ServerFrame;
  return String(payload.conversationId);
}

export const say = (client: TestClient, conversationId: string, content: unknown): void =>
  client.send({ type: 'send_message', conversationId, payload: { content } });

type Answer = { conversationId: string; requestId: unknown; approved: unknown; reason?: unknown };

export const answer = (client: TestClient, { conversationId, requestId, approved, reason }: Answer): void =>
  client.send({ type: 'approve_tool', conversationId, requestId, payload: { approved, reason } });

export const next = async (client: TestClient, type: string): Promise<ServerFrame> =>
  (await client.next(type)) as ServerFrame;

/** Frames up to the end of an answered turn, in this conversation or in the first that ends. */
export const turn = async (client: TestClient, conversationId?: string): Promise<ServerFrame[]> =>
  (await client.until(
    (frame) =>
      frame.type === 'workflow_step_complete' &&
      (conversationId === undefined || frame.conversationId === conversationId),
  )) as ServerFrame[];

export const errorOf = (code: string, message: string, conversationId?: string) => ({
  type: 'error',
  ...(conversationId === undefined ? {} : { conversationId }),
  error: message,
  payload: { code, message, error: message },
});

export const typesOf = (frames: readonly AnyFrame[]): string[] =>
  frames.map((frame) => frame.type).filter((type, index, all) => type !== all[index - 1]);

export const of = (frames: readonly AnyFrame[], type: string): ServerFrame[] =>
  frames.filter((frame): frame is ServerFrame => frame.type === type);

export const joinedChunks = (frames: readonly AnyFrame[], conversationId?: string): string =>
  of(frames, 'message_chunk')
    .filter((frame) => conversationId === undefined || frame.conversationId === conversationId)
    .map((frame) => frame.payload.chunk)
    .join('');

/** Resolves when all earlier frames are handled: the server answers in order. */
export async function settled(client: TestClient): Promise<AnyFrame[]> {
  client.send({ type: 'PING' });
  return client.until('PONG');
}

export const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
