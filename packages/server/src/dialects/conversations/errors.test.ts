import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestClient } from '../../testing/client.ts';
import { answer, connectAs, errorOf, next, say, settled, started } from '../../testing/conversations.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_MAX_FRAME: '2000' });
  client = await connectAs(server, 'dev');
});
afterAll(() => server.stop());

const bad = (message: string, conversationId?: string) => errorOf('bad_request', message, conversationId);
/** The only answer to the frame; the socket must stay open. */
async function answerTo(frame: unknown): Promise<unknown> {
  const raw = typeof frame === 'string' || frame instanceof Uint8Array;
  client.socket.send(raw ? (frame as string) : JSON.stringify(frame));
  const frames = await settled(client);
  expect(frames).toHaveLength(2);
  return frames[0];
}

describe('an unreadable frame is bad_request, and the socket stays open', () => {
  test.each([
    ['malformed JSON', '{"type":', 'Invalid message: the message is not valid JSON'],
    ['no JSON at all', 'hello', 'Invalid message: the message is not valid JSON'],
    ['an empty frame', '', 'Invalid message: the message is not valid JSON'],
    ['an array', '[{"type":"PING"}]', 'A message must be a JSON object'],
    ['a string', '"PING"', 'A message must be a JSON object'],
    ['a number', '1', 'A message must be a JSON object'],
    ['null', 'null', 'A message must be a JSON object'],
    ['no type', '{}', 'type is required'],
    ['a type that is not a string', '{"type":1}', 'type is required'],
    [
      'bytes that are not UTF-8',
      new Uint8Array([0x7b, 0xff, 0x7d]),
      'Invalid message: the message is not valid UTF-8',
    ],
    [
      'a frame that is too large',
      JSON.stringify({ type: 'PING', x: 'x'.repeat(2000) }),
      'Invalid message: the message is larger than 2000 bytes',
    ],
  ])('%s', async (_, frame, message) => {
    expect(await answerTo(frame)).toEqual(bad(message));
  });

  test('a binary frame with UTF-8 is read', async () => {
    client.socket.send(new TextEncoder().encode('{"type":"PING"}'));
    await client.next('PONG');
  });
});

test.each(['NOPE', 'ping', 'conversation_started', '__proto__', 'toString', ''])(
  'an unknown type %p is named',
  async (type) => {
    expect(await answerTo({ type })).toEqual(bad(`Unknown event type: ${type}`));
  },
);

describe('missing fields and fields of the wrong type', () => {
  test.each([
    [{}],
    [{ payload: null }],
    [{ payload: [] }],
    [{ payload: {} }],
    [{ payload: { domainId: '' } }],
    [{ payload: { domainId: null } }],
    [{ payload: { domainId: 7 } }],
    [{ domainId: 'software_development' }],
  ])('start_conversation %j', async (frame) => {
    expect(await answerTo({ type: 'start_conversation', ...frame })).toEqual(bad('domainId is required'));
  });

  test.each(['nowhere', '__proto__', ' software_development'])(
    'the domain %p is unknown',
    async (domainId) => {
      expect(await answerTo({ type: 'start_conversation', payload: { domainId } })).toEqual(
        errorOf('not_found', 'Unknown domainId'),
      );
    },
  );

  test.each<[{ conversationId?: unknown; payload?: unknown }]>([
    [{}],
    [{ payload: { content: 'x' } }],
    [{ conversationId: 1, payload: { content: 'x' } }],
    [{ conversationId: '', payload: { content: 'x' } }],
    [{ conversationId: 'temp-1' }],
    [{ conversationId: 'temp-1', payload: 'x' }],
    [{ conversationId: 'temp-1', payload: {} }],
    [{ conversationId: 'temp-1', payload: { content: 1 } }],
    [{ conversationId: 'temp-1', payload: { content: '' } }],
    [{ conversationId: 'temp-1', payload: { content: ' \n\t ' } }],
  ])('send_message %j', async (frame) => {
    const id = typeof frame.conversationId === 'string' ? frame.conversationId : undefined;
    expect(await answerTo({ type: 'send_message', ...frame })).toEqual(
      bad('conversationId and payload.content are required', id),
    );
  });

  test.each(['nothing', crypto.randomUUID(), 'tem-1', '\u0000'])(
    'the conversation %j is unknown',
    async (conversationId) => {
      const payload = { content: 'hello' };
      expect(await answerTo({ type: 'send_message', conversationId, payload })).toEqual(
        errorOf('not_found', 'Unknown conversationId', conversationId),
      );
    },
  );

  test('an id that cannot be a session id is refused', async () => {
    const conversationId = `temp-${'x'.repeat(300)}`;
    expect(await answerTo({ type: 'send_message', conversationId, payload: { content: 'hello' } })).toEqual(
      bad('The session id must have 1 to 200 printable characters.', conversationId),
    );
  });

  test.each([[{}], [{ conversationId: '' }], [{ conversationId: null }]])(
    'cancel_stream %j',
    async (frame: { conversationId?: unknown }) => {
      const id = typeof frame.conversationId === 'string' ? frame.conversationId : undefined;
      expect(await answerTo({ type: 'cancel_stream', ...frame })).toEqual(
        bad('conversationId is required', id),
      );
    },
  );

  test.each<[{ conversationId?: string; requestId?: unknown; payload?: unknown }]>([
    [{ conversationId: 'c', payload: { approved: true } }],
    [{ conversationId: 'c', requestId: 5, payload: { approved: true } }],
    [{ conversationId: 'c', requestId: '', payload: { approved: true } }],
    [{ conversationId: 'c', requestId: 'r' }],
    [{ conversationId: 'c', requestId: 'r', payload: {} }],
    [{ conversationId: 'c', requestId: 'r', payload: { approved: 'yes' } }],
    [{ conversationId: 'c', requestId: 'r', payload: { approved: false, reason: 3 } }],
  ])('approve_tool %j', async (frame) => {
    expect(await answerTo({ type: 'approve_tool', ...frame })).toEqual(
      bad('requestId and payload.approved are required', frame.conversationId),
    );
  });
});

describe('missing things', () => {
  test('cancel_stream without a stream', async () => {
    const conversationId = await started(client);
    for (const id of [conversationId, 'nothing']) {
      expect(await answerTo({ type: 'cancel_stream', conversationId: id })).toEqual(
        errorOf('not_found', 'No active stream', id),
      );
    }
  });

  test('approve_tool with an unknown request', async () => {
    const conversationId = await started(client);
    for (const id of [conversationId, 'nothing']) {
      const frame = { type: 'approve_tool', conversationId: id, requestId: 'r', payload: { approved: true } };
      expect(await answerTo(frame)).toEqual(errorOf('not_found', 'Unknown requestId', id));
    }
  });

  test('the conversation of another user behaves as if it did not exist', async () => {
    const uma = await connectAs(server, 'uma');
    const conversationId = await started(uma);
    say(uma, conversationId, 'run touch foreign');
    const { payload } = await next(uma, 'tool_approval_required');
    say(client, conversationId, 'hello');
    expect(await client.next('error')).toEqual(
      errorOf('not_found', 'Unknown conversationId', conversationId),
    );
    client.send({ type: 'cancel_stream', conversationId });
    expect(await client.next('error')).toEqual(errorOf('not_found', 'No active stream', conversationId));
    answer(client, { conversationId, requestId: payload.requestId, approved: true });
    expect(await client.next('error')).toEqual(errorOf('not_found', 'Unknown requestId', conversationId));
    const watcher = await connectAs(server, 'dev', `&session=${conversationId}`);
    expect(await settled(watcher)).toEqual([{ type: 'PONG' }]);
    expect(await settled(uma)).toEqual([{ type: 'PONG' }]);
  });
});
