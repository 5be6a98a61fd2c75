/**
 * `conversations`: which frames of which conversation reach which socket. What a socket had yet to be sent when it closed
 * goes on to the next socket of its user, from the character where it ended. The models speak when the test lets them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { type DictatedModel, dictatedModel } from './dictated-model.ts';
import { type GatedModel, gatedModel } from './gated-model.ts';

type Payload = Record<string, string>;
const payloadOf = (frame: AnyFrame | undefined) => (frame?.payload ?? {}) as Payload;

let server: TestServer;
const tokens = new Map<string, string>();
const open = (name: string, query = ''): Promise<TestClient> =>
  server.connect(`/ws?token=${tokens.get(name)}${query}`);

async function serve(settings: Record<string, string>): Promise<void> {
  server = await startTestServer(settings);
  for (const name of ['ada', 'dev', 'uma']) tokens.set(name, await server.login(name, `${name}-password`));
}

const textOf = (frames: readonly AnyFrame[], conversationId?: string): string =>
  frames
    .filter(({ type }) => type === 'message_chunk')
    .filter((frame) => conversationId === undefined || frame.conversationId === conversationId)
    .map((frame) => payloadOf(frame).chunk)
    .join('');

/** Everything that the client sent before is handled. */
async function settled(client: TestClient): Promise<AnyFrame[]> {
  client.send({ type: 'PING' });
  return (await client.until('PONG')).slice(0, -1);
}

async function started(client: TestClient): Promise<string> {
  client.send({ type: 'start_conversation', payload: { domainId: 'software_development' } });
  return String(payloadOf(await client.next('conversation_started')).conversationId);
}

const write = (client: TestClient, conversationId: string, content = 'tell me') =>
  client.send({ type: 'send_message', conversationId, payload: { content } });

/** Waits for chunks until they make up this text. */
async function reads(client: TestClient, text: string): Promise<void> {
  for (let read = ''; read !== text; ) read += payloadOf(await client.next('message_chunk')).chunk;
}

/** Without a closing handshake. Resolves when the server has noticed. */
async function cut(client: TestClient, conversationId: string): Promise<void> {
  const attached = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${tokens.get('ada')}` };
    const response = await fetch(`${server.http}/v1/sessions/${conversationId}`, { headers });
    const { attached } = (await response.json()) as { attached: Record<string, number> };
    return attached.conversations ?? 0;
  };
  const before = await attached();
  client.socket.terminate();
  while ((await attached()) === before) await Bun.sleep(1);
}

describe('a conversation whose socket closed', () => {
  let model: DictatedModel;
  beforeAll(async () => {
    model = dictatedModel();
    await serve(model.settings);
  });
  afterAll(async () => {
    await server.stop();
    model.stop();
  });

  /** A new conversation of which the client has read this much. */
  async function reading(client: TestClient, text: string): Promise<string> {
    const id = await started(client);
    write(client, id);
    model.say(text);
    await reads(client, text);
    return id;
  }

  /** What the client is sent up to the end of the turn. */
  const rest = (client: TestClient) => client.until('workflow_step_complete');

  test('goes on to the next socket, from the character where the old one ended; nobody else is sent any of it', async () => {
    const [first, bystander] = [await open('uma'), await open('uma')];
    const id = await reading(first, 'one two ');
    await cut(first, id);
    const [foreign, admin] = [await open('dev'), await open('ada')];
    const second = await open('uma');
    const third = await open('uma');
    model.say('three ');
    await reads(second, 'three ');
    model.say('four');
    model.end();
    const frames = await rest(second);
    expect(textOf(frames)).toBe('four');
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(payloadOf(frames[1]).content).toBe('one two three four');
    expect(textOf(first.frames) + textOf(second.frames)).toBe('one two three four');
    for (const other of [bystander, foreign, admin, third]) expect(await settled(other)).toEqual([]);
  });

  test('that said more before anyone came back: nothing is missing and nothing is repeated', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one ');
    const watcher = await open('ada', `&session=${id}`);
    await cut(first, id);
    model.say('two ');
    await reads(watcher, 'one two ');
    const second = await open('uma');
    await reads(second, 'two ');
    model.say('three');
    model.end();
    await rest(second);
    expect(textOf(second.frames)).toBe('two three');
  });

  test('that ended before anyone came back: the rest and message_complete are still sent, once', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one ');
    const watcher = await open('ada', `&session=${id}`);
    await cut(first, id);
    model.say('two ');
    model.say('three');
    model.end();
    await rest(watcher);
    const second = await open('uma');
    const frames = await settled(second);
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect(textOf(frames)).toBe('two three');
    expect(payloadOf(frames[1]).content).toBe('one two three');
    expect(await settled(await open('uma'))).toEqual([]);
  });

  test('twice, at once and later', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one ');
    await cut(first, id);
    const second = await open('uma');
    await settled(second);
    await cut(second, id);
    const third = await open('uma');
    model.say('two ');
    await reads(third, 'two ');
    await cut(third, id);
    const fourth = await open('uma');
    model.say('three');
    model.end();
    await rest(fourth);
    const texts = [first, second, third, fourth].map(({ frames }) => textOf(frames));
    expect(texts).toEqual(['one ', '', 'two ', 'three']);
  });

  test('stays inherited: the next turn is seen, too', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one');
    await cut(first, id);
    const second = await open('uma');
    model.end();
    await rest(second);
    const other = await open('uma', `&session=${id}`);
    write(other, id);
    model.say('again');
    model.end();
    expect(textOf(await rest(second))).toBe('again');
  });

  test('while another one stays: each goes on where it was, the one that began it and the one that wrote', async () => {
    const [first, writer] = [await open('uma'), await open('uma')];
    const id = await started(first);
    write(writer, id);
    model.say('one ');
    await Promise.all([reads(first, 'one '), reads(writer, 'one ')]);
    await cut(first, id);
    const second = await open('uma');
    model.say('two ');
    await Promise.all([reads(second, 'two '), reads(writer, 'two ')]);
    await cut(writer, id);
    const third = await open('uma');
    model.say('three');
    model.end();
    expect(textOf(await rest(second))).toBe('three');
    expect(textOf(await rest(third))).toBe('three');
  });

  test('while a call waits: the next socket is asked, under the same id, and only that one', async () => {
    const first = await open('dev');
    const id = await started(first);
    write(first, id);
    model.say('I will touch it.');
    model.call('shell', { command: ['touch', 'inherited.txt'] });
    const asked = await first.next('tool_approval_required');
    await cut(first, id);
    const second = await open('dev');
    expect(await settled(second)).toEqual([asked]);
    expect(await settled(await open('dev'))).toEqual([]);
    const { requestId } = payloadOf(asked);
    second.send({ type: 'approve_tool', conversationId: id, requestId, payload: { approved: true } });
    expect(payloadOf(await second.next('tool_executed'))).toMatchObject({ requestId, success: true });
    model.say('Done.');
    model.end();
    expect(textOf(await rest(second))).toBe('\n\nDone.');
  });

  test('that asks before anyone came back asks once', async () => {
    const first = await open('dev');
    const id = await reading(first, 'I will touch it.');
    const watcher = await open('ada', `&session=${id}`);
    await cut(first, id);
    model.call('shell', { command: ['touch', 'later.txt'] });
    const asked = await watcher.next('tool_approval_required');
    const second = await open('dev');
    expect(await settled(second)).toEqual([asked]);
    second.send({ type: 'cancel_stream', conversationId: id });
    await second.next('error');
  });

  test('is shown from its beginning to a socket that names it, and goes on to no other', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one ');
    await cut(first, id);
    const named = await open('uma', `&session=${id}`);
    expect(textOf(await settled(named))).toBe('one ');
    expect(await settled(await open('uma'))).toEqual([]);
    model.say('two');
    model.end();
    await rest(named);
    expect(textOf(named.frames)).toBe('one two');
  });

  test('and that ended meanwhile: a socket that names it is sent the whole answer as one chunk, and its end', async () => {
    const first = await open('uma');
    const id = await reading(first, 'one ');
    const watcher = await open('ada', `&session=${id}`);
    await cut(first, id);
    model.say('two');
    model.end();
    await rest(watcher);
    const frames = await settled(await open('uma', `&session=${id}`));
    expect(frames.map(({ type }) => type)).toEqual([
      'message_chunk',
      'message_complete',
      'workflow_step_complete',
    ]);
    expect([textOf(frames), payloadOf(frames[1]).content]).toEqual(['one two', 'one two']);
  });

  test('right after it wrote: the whole answer goes to the next socket', async () => {
    const first = await open('uma');
    const id = await started(first);
    write(first, id);
    first.close();
    await first.closed;
    const second = await open('uma');
    model.say('all of it');
    model.end();
    const frames = await rest(second);
    expect(frames.map(({ type }) => type).slice(0, 2)).toEqual(['agent_selected', 'workflow_step_start']);
    expect(textOf(frames)).toBe('all of it');
  });

  test('at rest is not sent to anyone', async () => {
    const first = await open('uma');
    const id = await reading(first, 'all of it');
    model.end();
    await rest(first);
    await cut(first, id);
    const second = await open('uma');
    const other = await open('uma', `&session=${id}`);
    write(other, id);
    model.say('more');
    model.end();
    await rest(other);
    expect(await settled(second)).toEqual([]);
  });

  test('and that an admin watched goes on to the admin’s next socket, not to the owner’s', async () => {
    const owner = await open('uma');
    const id = await reading(owner, 'one ');
    const watcher = await open('ada', `&session=${id}`);
    await reads(watcher, 'one ');
    await cut(watcher, id);
    const [other, again] = [await open('uma'), await open('ada')];
    model.say('two');
    model.end();
    expect(textOf(await rest(again))).toBe('two');
    expect(await settled(other)).toEqual([]);
  });
});

describe('several conversations of one socket', () => {
  let model: GatedModel;
  beforeAll(async () => {
    model = gatedModel();
    await serve(model.settings);
  });
  afterAll(async () => {
    await server.stop();
    await model.stop();
  });

  test('all go on to the next socket, each from where it was', async () => {
    const first = await open('uma');
    const ids = [await started(first), await started(first), await started(first)];
    for (const id of ids.slice(0, 2)) {
      write(first, id);
      await reads(first, 'Half ');
    }
    await cut(first, String(ids[2]));
    const second = await open('uma');
    model.release();
    for (let ended = 0; ended < 2; ended++) await second.next('workflow_step_complete');
    expect(ids.map((id) => textOf(second.frames, id))).toEqual(['and whole.', 'and whole.', '']);
  });
});
