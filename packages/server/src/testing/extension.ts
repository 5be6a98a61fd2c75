/** Clients of the contract over real sockets, for the tests in this folder. */
import type { AnyFrame, TestClient } from './client.ts';
import type { TestServer } from './server.ts';

export const MESSAGE_ID = /^msg_\d+_[0-9a-z]{9}$/;

/** The example of the contract, with these capabilities. */
export const registration = (capabilities: readonly string[] = [], more: object = {}) => ({
  id: 'msg_1234567890_abcdef123',
  type: 'client_registration',
  timestamp: 1234567890000,
  clientType: 'browser_extension',
  capabilities,
  userAgent: 'a browser',
  metadata: { extensionVersion: '1.0.0', browserName: 'Chrome' },
  ...more,
});

export async function registered(
  server: TestServer,
  capabilities: readonly string[] = [],
  { path = '/', ...more }: { readonly path?: string } & Readonly<Record<string, unknown>> = {},
): Promise<TestClient> {
  const client = await server.connect(path);
  client.send(registration(capabilities, more));
  await client.next('registration_confirmed');
  return client;
}

export function say(client: TestClient, content: string, sessionId?: string): void {
  client.send({
    id: 'msg_1234567890_abcdef123',
    type: 'chat_message',
    timestamp: 1234567890000,
    content,
    sessionId,
  });
}

/** All frames sent to the client so far: frames are answered in order, so the pong is the last. */
export async function soFar(client: TestClient): Promise<AnyFrame[]> {
  const id = crypto.randomUUID();
  client.send({ id, type: 'ping', timestamp: 1 });
  const frames = await client.until((frame) => frame.type === 'pong' && frame.id === id);
  return frames.slice(0, -1);
}

export const page = {
  title: 'Page Title',
  content: 'Page content.',
  url: 'https://example.com',
  isSelection: false,
};

export const response = (request: AnyFrame, more: object = {}) => ({
  id: 'msg_1234567890_abcdef123',
  type: 'tool_execution_response',
  timestamp: 1234567890000,
  executionId: request.executionId,
  success: true,
  result: page,
  executionTime: 1500,
  ...more,
});

export const isStatus = (status: string) => (frame: AnyFrame) =>
  frame.type === 'agent_status' && frame.status === status;

export const isWaiting = (frame: AnyFrame) =>
  isStatus('using_tool')(frame) && String(frame.message).startsWith('Waiting for approval: ');

export const isQuestion = (frame: AnyFrame) =>
  frame.type === 'agent_response' && String(frame.content).endsWith(' Allow it? Answer yes or no.');

export const isAnswer = (frame: AnyFrame) => frame.type === 'agent_response' && !isQuestion(frame);
