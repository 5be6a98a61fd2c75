import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('broadcast', () => {
  test('a chat is echoed, answered once, and the answer ends the turn', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'chat', message: '  Hello agent ' });
    const frames = await client.until('agent_message');
    expect(frames[0]).toEqual({ type: 'user_message', message: 'Hello agent' });
    expect(frames.filter((frame) => frame.type === 'agent_message')).toHaveLength(1);
  });
});
