import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { DRIVERS, type Driver } from './drivers.ts';

const NAMES = Object.keys(DRIVERS);
let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const open = (dialect: string, session: string, on = server): Promise<Driver> => {
  const driver = DRIVERS[dialect];
  if (!driver) throw new Error(`no driver for ${dialect}`);
  return driver(on, session, token);
};

/** Sessions are created in one dialect, so that all others can attach. */
async function begun(dialect: string, session: string): Promise<Driver> {
  // The server assigns conversation ids, or the id starts with temp-; any other id must exist.
  if (dialect === 'conversations') {
    const other = await open('agentloop', session);
    other.say('Hello');
    await other.answer();
    other.client.close();
    return open(dialect, session);
  }
  const driver = await open(dialect, session);
  driver.say('Hello');
  await driver.answer();
  return driver;
}

describe('a turn is visible in every dialect', () => {
  for (const speaker of NAMES) {
    test(`if ${speaker} starts it`, async () => {
      const session = `seen-${speaker}`;
      const first = await begun(speaker, session);
      const others = await Promise.all(
        NAMES.filter((name) => name !== speaker).map((name) => open(name, session)),
      );
      first.say('echo parlance');
      const answers = await Promise.all([first, ...others].map((driver) => driver.answer()));
      for (const answer of answers) expect(answer).toContain('parlance');
    });
  }
});

describe('a pending call can be answered in any dialect', () => {
  for (const asker of NAMES) {
    for (const answerer of NAMES.filter((name) => name !== asker)) {
      test(`requested in ${asker}, approved in ${answerer}`, async () => {
        const session = `answered-${asker}-${answerer}`;
        const first = await begun(asker, session);
        first.say(`run touch ${session}.txt`);
        await first.asked();
        const second = await open(answerer, session);
        await second.asked();
        second.approve();
        await Promise.all([first.answer(), second.answer()]);
        expect(existsSync(join(server.root, `${session}.txt`))).toBe(true);
        if (first.late) {
          first.approve();
          await first.client.next(first.late);
        }
      });
    }
  }

  for (const answerer of NAMES) {
    test(`denied in ${answerer}, the tool does not run`, async () => {
      const session = `denied-${answerer}`;
      const first = await begun('agentloop', session);
      first.say(`run touch ${session}.txt`);
      await first.asked();
      const second = await open(answerer, session);
      await second.asked();
      second.deny();
      await first.answer();
      expect(existsSync(join(server.root, `${session}.txt`))).toBe(false);
    });
  }
});

test('a conversation continues through every dialect with one context', async () => {
  const session = 'one-memory';
  const first = await begun('broadcast', session);
  first.say('my name is Ada');
  await first.answer();
  for (const name of NAMES) {
    const driver = await open(name, session);
    driver.say('what is my name?');
    expect(await driver.answer()).toContain('Ada');
    driver.client.close();
  }
  const events = await fetch(`${server.http}/v1/sessions/${session}/events?limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { events: durableEvents } = (await events.json()) as { events: { type: string; dialect?: string }[] };
  const dialects = durableEvents
    .filter((event) => event.type === 'input.accepted')
    .map((event) => event.dialect);
  expect(dialects).toEqual(['broadcast', 'broadcast', ...NAMES]);
});

test('a session is listed for every reader, with the dialect that created it', async () => {
  await begun('extension', 'listed');
  const bearer = { headers: { authorization: `Bearer ${token}` } };
  const conversations = (await (
    await fetch(`${server.http}/v1/conversations?limit=100`, bearer)
  ).json()) as object[];
  expect(conversations).toContainEqual(
    expect.objectContaining({ id: 'listed', metadata: expect.objectContaining({ dialect: 'extension' }) }),
  );
  const { sessions } = (await (await fetch(`${server.http}/v1/sessions`, bearer)).json()) as {
    sessions: object[];
  };
  expect(sessions).toContainEqual(expect.objectContaining({ id: 'listed', dialect: 'extension' }));
});

test('the same id of another principal is another session', async () => {
  const mine = await begun('broadcast', 'same-name');
  mine.say('my name is Ada');
  await mine.answer();
  const other = await server.connect('/ws');
  other.send({ type: 'chat', message: 'what is my name?', session_id: 'same-name' });
  const answer = await other.next(
    (frame) => frame.type === 'agent_message' && frame.session_id === 'same-name',
  );
  expect(answer.message).not.toContain('Ada');
});

test('a socket that attaches receives the streaming block', async () => {
  const slow = await startTestServer({ PARLANCE_OFFLINE_DELAY: '20' });
  token = await slow.login('dev', 'dev-password');
  const first = await open('broadcast', 'streaming', slow);
  first.say('count to 150');
  await first.client.next('user_message');
  const early = await open('agentloop', 'streaming', slow);
  await early.client.next((frame) => frame.type === 'response_item');
  const late = await Promise.all([
    open('agentloop', 'streaming', slow),
    open('conversations', 'streaming', slow),
  ]);
  const chunks = late[1].client.until('message_complete');
  const [whole, assembled, frames] = await Promise.all([first.answer(), late[0].answer(), chunks]);
  expect(whole).toContain('149 150');
  expect(assembled).toBe(whole);
  const joined = frames
    .filter((frame) => frame.type === 'message_chunk')
    .map((frame) => (frame.payload as { chunk: string }).chunk)
    .join('');
  expect(joined).toBe(whole);
  await slow.stop();
});

test('a pending approval survives a restart in every dialect', async () => {
  const before = await startTestServer();
  token = await before.login('dev', 'dev-password');
  const asking = await open('agentloop', 'restarted', before);
  asking.say('run touch restarted.txt');
  const asked = await asking.asked();
  await before.running.stop();
  const after = await startTestServer({ PARLANCE_DATA: before.data, WORKING_DIRECTORY: before.root });
  token = await after.login('dev', 'dev-password');
  const drivers = await Promise.all(NAMES.map((name) => open(name, 'restarted', after)));
  const shown = await Promise.all(drivers.map((driver) => driver.asked()));
  const id = (asked.payload as { requestId: string }).requestId;
  expect(JSON.stringify(shown[0])).toContain(id);
  expect(JSON.stringify(shown[2])).toContain(id);
  drivers[2]?.approve();
  await Promise.all(drivers.map((driver) => driver.answer()));
  expect(existsSync(join(before.root, 'restarted.txt'))).toBe(true);
  await after.stop();
  await before.stop();
});
