import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const chat = (message: unknown, session_id?: unknown) => ({ type: 'chat', message, session_id });
/** Frames of one session: a socket hears all sessions of its principal, so other tests' too. */
const of = (session: string) => (frame: AnyFrame) => frame.session_id === session;

async function turn(client: TestClient, message: string, session: string) {
  client.send(chat(message, session));
  const frames = await client.until((frame) => of(session)(frame) && /agent_message|error/.test(frame.type));
  return frames.filter(of(session));
}

describe('a chat', () => {
  test('is echoed trimmed, answered once, and the answer ends the turn', async () => {
    const alone = await startTestServer();
    const client = await alone.connect('/ws');
    client.send(chat('  Hello agent ', null));
    const frames = await client.until('agent_message');
    expect(frames[0]).toEqual({ type: 'user_message', message: 'Hello agent' });
    expect(frames.at(-1)).toEqual({ type: 'agent_message', message: expect.any(String) });
    await alone.stop();
  });

  test('of a named session carries the name on every event', async () => {
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

  test('with a session id goes on where that session was, on another socket', async () => {
    const first = await server.connect('/ws');
    await turn(first, 'my name is Ada', 'remembered');
    first.close();
    const second = await server.connect('/ws');
    second.send(chat('what is my name?', '  remembered '));
    const answer = await second.next((frame) => of('remembered')(frame) && frame.type === 'agent_message');
    expect(answer.message).toContain('Ada');
  });

  test('without a session id remembers as long as the socket is open', async () => {
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

  test('chats of one socket are answered one after another, also of different sessions', async () => {
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

  test('chats of different sockets run side by side; on one session they queue', async () => {
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

  test('goes on when its socket is gone', async () => {
    const leaver = await server.connect('/ws');
    const listener = await server.connect('/ws');
    leaver.send(chat('count to 30', 'left-alone'));
    await listener.next(of('left-alone'));
    leaver.close();
    await listener.next((frame) => of('left-alone')(frame) && frame.type === 'agent_message');
  });
});

describe('approvals', () => {
  const isQuestion = (frame: AnyFrame) =>
    frame.type === 'agent_message' && String(frame.message).endsWith(' Allow it? Answer yes or no.');

  test('a turn that waits says so, also as a message; yes lets it run, and is echoed', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-yes.txt', 'b-yes'));
    const waiting = await client.next((frame) =>
      String(frame.reasoning).startsWith('Waiting for approval: '),
    );
    expect(waiting).toMatchObject({ type: 'agent_thinking', session_id: 'b-yes' });
    expect(await client.next('agent_message')).toEqual({
      type: 'agent_message',
      message: expect.stringMatching(/^Runs touch b-yes.txt[^.]*\. Allow it\? Answer yes or no\.$/),
      session_id: 'b-yes',
    });
    const frames = await turn(client, ' Yes ', 'b-yes');
    expect(frames.map((frame) => frame.type)).toEqual([
      'user_message',
      'tool_call',
      'tool_result',
      'agent_message',
    ]);
    expect(existsSync(join(server.root, 'b-yes.txt'))).toBe(true);
  });

  test.each([
    ['Yes.', true],
    ['YES!', true],
    ['ok', true],
    ['No.', false],
  ])('%s answers it', async (word, runs) => {
    const client = await server.connect('/ws');
    const name = `b-word-${Bun.hash(word)}`;
    client.send(chat(`run touch ${name}`, name));
    await client.next(isQuestion);
    client.send(chat(word, name));
    // A word that answers nothing is queued, and the question is repeated.
    const next = await client.next((frame) => ['agent_thinking', 'tool_result'].includes(frame.type));
    expect(next).toMatchObject({ type: 'tool_result', success: runs });
    expect(existsSync(join(server.root, name))).toBe(runs);
  });

  test('no keeps it from running', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-no.txt', 'b-no'));
    await client.next(isQuestion);
    const frames = await turn(client, 'n', 'b-no');
    expect(frames.find((frame) => frame.type === 'tool_result')).toMatchObject({ success: false });
    expect(existsSync(join(server.root, 'b-no.txt'))).toBe(false);
  });

  test('of replies at the same time the first is the answer, and the others are messages', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => server.connect('/ws')));
    const [first] = clients;
    if (!first) throw new Error('there are four');
    first.send(chat('run touch b-once.txt', 'b-once'));
    await first.next((frame) => of('b-once')(frame) && isQuestion(frame));
    for (const client of clients) client.send(chat('yes', 'b-once'));
    const frames: AnyFrame[] = [];
    for (const _ of clients)
      frames.push(...(await first.until((frame) => of('b-once')(frame) && frame.type === 'agent_message')));
    const said = frames.filter(of('b-once')).map((frame) => frame.type);
    expect(said.filter((type) => type === 'user_message')).toHaveLength(4);
    expect(said.filter((type) => type === 'tool_call')).toHaveLength(1);
    expect(clients.flatMap((client) => client.frames.filter((frame) => frame.type === 'error'))).toEqual([]);
  });

  test('a second yes that was sent before the next question does not answer it', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-k5.txt and then run touch b-k6.txt', 'b-twice'));
    await client.next(isQuestion);
    client.send(chat('yes', 'b-twice'));
    client.send(chat('yes', 'b-twice'));
    expect(String((await client.next(isQuestion)).message)).toContain('b-k6.txt');
    // The second yes has been read now: it is queued behind the question, which is repeated.
    const next = await client.next(
      (frame) => String(frame.reasoning).startsWith('Waiting for approval: ') || frame.type === 'tool_result',
    );
    expect(next).toMatchObject({ type: 'agent_thinking', session_id: 'b-twice' });
    await turn(client, 'no', 'b-twice');
    expect(existsSync(join(server.root, 'b-k5.txt'))).toBe(true);
    expect(existsSync(join(server.root, 'b-k6.txt'))).toBe(false);
  });

  test('anything else waits its turn, and what is waited for is said again', async () => {
    const client = await server.connect('/ws');
    client.send(chat('run touch b-later.txt', 'b-later'));
    await client.next((frame) => String(frame.reasoning).startsWith('Waiting'));
    await client.next(isQuestion);
    client.send(chat('echo queued', 'b-later'));
    await client.next((frame) => String(frame.reasoning).startsWith('Waiting'));
    await turn(client, 'deny', 'b-later');
    const frames = await client.until((frame) => of('b-later')(frame) && frame.type === 'agent_message');
    expect(frames[0]).toMatchObject({ type: 'user_message', message: 'echo queued' });
  });

  test('attaching to a session that waits shows it at once', async () => {
    const first = await server.connect('/ws');
    first.send(chat('run touch b-attach.txt', 'b-attach'));
    await first.next(isQuestion);
    const second = await server.connect('/ws?session=b-attach');
    const shown = await second.next('agent_thinking');
    expect(shown.reasoning).toStartWith('Waiting for approval: ');
    await turn(second, 'deny', 'b-attach');
    expect(second.frames.filter(isQuestion)).toEqual([]);
  });
});

describe('what is wrong is said, and the socket stays', () => {
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

  test('a frame that is too large, and one that is not UTF-8', async () => {
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

describe('places', () => {
  test('/ws without a token refuses frames that only conversations knows, with 1008', async () => {
    const client = await server.connect('/ws');
    client.send({ type: 'PING' });
    expect((await client.closed).code).toBe(1008);
  });

  test('where a token is required, /ws without one is closed with 1008', async () => {
    const locked = await startTestServer({ PARLANCE_AUTH: 'required' });
    for (const path of ['/ws', '/broadcast', '/ws?token=nonsense']) {
      expect((await (await locked.connect(path)).closed).code).toBe(1008);
    }
    await locked.stop();
  });

  test('a bad token is refused in open mode too', async () => {
    const client = await server.connect('/broadcast?token=nonsense');
    expect((await client.closed).code).toBe(1008);
  });

  test('its door speaks it whatever the path', async () => {
    const doors = await startTestServer({ PARLANCE_DOORS: 'broadcast=0' });
    const client = await TestClient.connect(`ws://127.0.0.1:${doors.running.doors[0]?.port}/`);
    client.send(chat('Hello'));
    await client.next('agent_message');
    client.close();
    await doors.stop();
  });

  test('health and configuration are told over HTTP', async () => {
    expect(await (await fetch(`${server.http}/api/health`)).json()).toEqual({ status: 'ok' });
    const config = await (await fetch(`${server.http}/api/config`)).json();
    expect(config).toEqual({ max_iterations: 50, working_dir: server.root });
  });
});
