import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

const chat = (message: unknown, session_id?: unknown) => ({ type: 'chat', message, session_id });

/** Frames of one session: a socket receives all sessions of its principal, including those of other tests. */
const of = (session: string) => (frame: AnyFrame) => frame.session_id === session;

async function turn(client: TestClient, message: string, session: string) {
  client.send(chat(message, session));
  const frames = await client.until((frame) => of(session)(frame) && /agent_message|error/.test(frame.type));
  return frames.filter(of(session));
}

describe('a chat', () => {
  test('is echoed trimmed and answered once, and the answer ends the turn', async () => {
    const alone = await startTestServer();
    const client = await alone.connect('/ws');
    client.send(chat('  Hello agent ', null));
    const frames = await client.until('agent_message');
    expect(frames[0]).toEqual({ type: 'user_message', message: 'Hello agent' });
    expect(frames.at(-1)).toEqual({ type: 'agent_message', message: expect.any(String) });
    await alone.stop();
  });

  test('in a named session has the name on every event', async () => {
    const client = await server.connect('/ws');
    const frames = await turn(client, 'think about tea', 'tea');
    expect(frames.map((frame) => frame.type)).toEqual(['user_message', 'agent_thinking', 'agent_message']);
    expect(frames[1]).toEqual({ type: 'agent_thinking', reasoning: expect.any(String), session_id: 'tea' });
  });

  test('shows calls and results, with arguments as a JSON string', async () => {
    const client = await server.connect('/ws');
    const frames = await turn(client, 'echo weather', 'weather');
    expect(frames.find((frame) => frame.type === 'tool_call')).toEqual({
      type: 'tool_call',
      tool_name: 'echo',
      tool_args: '{"value":"weather"}',
      session_id: 'weather',
    });
    expect(frames.find((frame) => frame.type === 'tool_result')).toEqual({
      type: 'tool_result',
      tool_name: 'echo',
      result: 'weather',
      tool_result: 'weather',
      success: true,
      session_id: 'weather',
    });
  });

  test('that fails ends with an error and no answer', async () => {
    const client = await server.connect('/ws');
    const frames = await turn(client, 'fail', 'failing');
    expect(frames.map((frame) => frame.type)).toEqual(['user_message', 'error']);
  });

  test('with a session id continues that session on another socket', async () => {
    const first = await server.connect('/ws');
    await turn(first, 'my name is Ada', 'remembered');
    first.close();
    const second = await server.connect('/ws');
    second.send(chat('what is my name?', '  remembered '));
    const answer = await second.next((frame) => of('remembered')(frame) && frame.type === 'agent_message');
    expect(answer.message).toContain('Ada');
  });

  test('without a session id keeps its context while the socket is open', async () => {
    const alone = await startTestServer();
    const client = await alone.connect('/ws');
    client.send(chat('my name is Ada', '  '));
    await client.next('agent_message');
    client.send(chat('what is my name?'));
    expect((await client.next('agent_message')).message).toContain('Ada');
    const other = await alone.connect('/ws');
    other.send(chat('what is my name?'));
    expect((await other.next('agent_message')).message).not.toContain('Ada');
    await alone.stop();
  });

  test('chats of one socket are answered in order, also those of different sessions', async () => {
    const client = await server.connect('/ws');
    client.send(chat('count to 20', 'first-of-socket'));
    client.send(chat('count to 3', 'second-of-socket'));
    const frames = await client.until(
      (frame) => of('second-of-socket')(frame) && frame.type === 'agent_message',
    );
    const mine = frames.filter((f) => of('first-of-socket')(f) || of('second-of-socket')(f));
    expect(mine.map((frame) => [frame.type, frame.session_id])).toEqual([
      ['user_message', 'first-of-socket'],
      ['agent_message', 'first-of-socket'],
      ['user_message', 'second-of-socket'],
      ['agent_message', 'second-of-socket'],
    ]);
  });

  test('chats of different sockets run concurrently; in one session they are queued', async () => {
    const slow = await startTestServer({ PARLANCE_OFFLINE_DELAY: '2' });
    const [one, two, three] = await Promise.all([
      slow.connect('/ws'),
      slow.connect('/ws'),
      slow.connect('/ws'),
    ]);
    one.send(chat('count to 500', 'long'));
    await one.next('user_message');
    two.send(chat('count to 2', 'short'));
    three.send(chat('count to 2', 'long'));
    const frames = await one.until((frame) => of('long')(frame) && frame.type === 'agent_message');
    expect(frames.filter(of('short')).map((frame) => frame.type)).toEqual(['user_message', 'agent_message']);
    expect(frames.filter(of('long')).map((frame) => frame.type)).toEqual(['agent_message']);
    await one.next((frame) => of('long')(frame) && frame.type === 'agent_message');
    await slow.stop();
  });

  test('reaches every socket of the principal, and no one else', async () => {
    const token = await server.login('uma', 'uma-password');
    const [speaker, listener, stranger] = await Promise.all([
      server.connect('/ws'),
      server.connect('/ws'),
      server.connect(`/broadcast?token=${token}`),
    ]);
    await turn(speaker, 'Hello all', 'everyone');
    await listener.next((frame) => of('everyone')(frame) && frame.type === 'agent_message');
    await turn(stranger, 'Hello me', 'mine');
    expect(stranger.frames.some(of('everyone'))).toBe(false);
  });

  test('continues after its socket is closed', async () => {
    const leaver = await server.connect('/ws');
    const listener = await server.connect('/ws');
    leaver.send(chat('count to 30', 'left-alone'));
    await listener.next(of('left-alone'));
    leaver.close();
    await listener.next((frame) => of('left-alone')(frame) && frame.type === 'agent_message');
  });
});

describe('invalid messages get an error, and the socket stays open', () => {
  const cases: [string, string, string][] = [
    ['an empty message', JSON.stringify(chat('')), 'Empty message received'],
    ['a blank message', JSON.stringify(chat(' \n ')), 'Empty message received'],
    ['no message', '{"type":"chat"}', 'Empty message received'],
    ['an unknown type', '{"type":"dance"}', 'Unknown message type: dance'],
    ['no type', '{"message":"hi"}', 'Unknown message type: None'],
    ['a type that is not a string', '{"type":5}', 'Unknown message type: 5'],
    [
      'a message that is not a string',
      '{"type":"chat","message":5}',
      'Server error: message must be a string',
    ],
    [
      'a name that is not a string',
      '{"type":"chat","message":"a","session_id":5}',
      'Server error: session_id must be a string',
    ],
    [
      'a name with control characters',
      '{"type":"chat","message":"a","session_id":"a\\u0000b"}',
      'Server error: ',
    ],
    ['malformed JSON', '{"type":', 'Server error: the message is not valid JSON'],
    ['an array', '[]', 'Server error: a message must be a JSON object'],
    ['a string', '"chat"', 'Server error: a message must be a JSON object'],
    ['null', 'null', 'Server error: a message must be a JSON object'],
  ];
  for (const [name, frame, error] of cases) {
    test(name, async () => {
      const client = await server.connect('/broadcast');
      client.socket.send(frame);
      const answer = await client.next('error');
      expect(Object.keys(answer).sort()).toEqual(['error', 'type']);
      expect(answer.error).toStartWith(error);
      client.send({ type: 'still here?' });
      await client.next('error');
    });
  }

  test('a frame that is too large or not UTF-8', async () => {
    const small = await startTestServer({ PARLANCE_MAX_FRAME: '1024' });
    const client = await small.connect('/ws');
    client.send(chat('x'.repeat(2000)));
    expect((await client.next('error')).error).toBe('Server error: the message is larger than 1024 bytes');
    client.socket.send(new Uint8Array([0xff]));
    expect((await client.next('error')).error).toBe('Server error: the message is not valid UTF-8');
    client.send(chat('Hello'));
    await client.next('agent_message');
    await small.stop();
  });
});

describe('endpoints', () => {
  test('/ws without a token refuses frames of conversations with 1008', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'PING' });
    expect((await client.closed).code).toBe(1008);
  });

  test('if a token is required, /ws without one is closed with 1008', async () => {
    const locked = await startTestServer({ PARLANCE_AUTH: 'required' });
    for (const path of ['/ws', '/broadcast', '/ws?token=nonsense']) {
      expect((await (await locked.connect(path)).closed).code).toBe(1008);
    }
    await locked.stop();
  });

  test('a bad token is refused, in open mode too', async () => {
    const client = await server.connect('/broadcast?token=nonsense');
    expect((await client.closed).code).toBe(1008);
  });

  test('its extra listener serves it at every path', async () => {
    const listeners = await startTestServer({ PARLANCE_LISTEN: 'broadcast=0' });
    const client = await TestClient.connect(`ws://127.0.0.1:${listeners.running.listeners[0]?.port}/`);
    client.send(chat('Hello'));
    await client.next('agent_message');
    client.close();
    await listeners.stop();
  });

  test('health and configuration are available over HTTP', async () => {
    expect(await (await fetch(`${server.http}/api/health`)).json()).toEqual({ status: 'ok' });
    const config = await (await fetch(`${server.http}/api/config`)).json();
    expect(config).toEqual({ max_iterations: 50, working_dir: server.root });
  });
});
