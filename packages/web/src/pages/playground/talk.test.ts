/// <reference path="../../../../server/src/telemetry/prom-client.d.ts" />
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Dialect, type DialectList, type Parlance } from '@parlance/sdk';
import { startTestServer, TEST_USERS, type TestServer } from '../../../../server/src/testing/server.ts';
import { socketUrl } from './address.ts';
import { examplesOf, frameOf } from './examples.ts';
import { type Listener, nativeSpeaker, requestSpeaker, socketSpeaker } from './speakers.ts';
import { Talk, type Talked } from './talk.ts';

let server: TestServer;
let parlance: Parlance;
let list: DialectList;
beforeAll(async () => {
  server = await startTestServer({ AUTH_USERS: TEST_USERS });
  parlance = connect({ url: server.http });
  await parlance.auth.login('ada', 'ada-password');
  list = await parlance.dialects();
});
afterAll(() => server.stop());

/** Resolves when the state matches. */
function until(talk: Talk, wanted: (talked: Talked) => boolean): Promise<Talked> {
  return new Promise((resolve) => {
    const look = () => {
      if (!wanted(talk.get())) return;
      stop();
      resolve(talk.get());
    };
    const stop = talk.subscribe(look);
    look();
  });
}

const isOpen = ({ state }: Talked): boolean => state.status === 'open';
const received = (words: string) => (talked: Talked) =>
  talked.rows.some(({ frame }) => frame?.direction === 'out' && frame.text.includes(words));

function named(name: string): Dialect {
  const found = list.dialects.find((dialect) => dialect.name === name);
  if (!found) throw new Error(`there is no dialect ${name}`);
  return found;
}

async function talkIn(name: string, session: string): Promise<Talk> {
  const dialect = named(name);
  await parlance.session(session).create();
  const talk = new Talk(dialect);
  const call = { dialect, session, token: parlance.token };
  const speak = (listener: Listener) => {
    if (dialect.transport === 'commands') return nativeSpeaker(parlance, session, listener);
    if (dialect.transport === 'requests') return requestSpeaker(server.http, parlance.token, listener);
    return socketSpeaker(socketUrl(server.http, call), listener);
  };
  talk.connect(speak, 'there', 'ada');
  await until(talk, isOpen);
  return talk;
}

const example = (talk: Talk, title: string, session: string): string => {
  const found = examplesOf(talk.dialect).find((one) => one.title === title);
  if (!found) throw new Error(`no example is called ${title}`);
  const filling = { ids: list.ids, known: { ...talk.get().learned, session }, fresh: 'f1' };
  return JSON.stringify(frameOf(talk.dialect, found.frame, filling));
};

/** The frame of each dialect that shows an answer. */
const ANSWERED: Readonly<Record<string, string>> = {
  agentloop: 'agent_finished',
  extension: 'agent_response',
  broadcast: 'agent_message',
  conversations: 'message_complete',
  native: 'turn.ended',
};

describe('over real connections', () => {
  test.each(Object.entries(ANSWERED))('%s is answered', async (dialect, answer) => {
    const session = `one-${dialect}`;
    const talk = await talkIn(dialect, session);
    if (dialect === 'extension') talk.send(example(talk, 'Register', session));
    talk.send(example(talk, 'Send a message', session));
    const { rows } = await until(talk, received(answer));
    expect(rows.some(({ frame }) => frame?.direction === 'in')).toBe(true);
    talk.disconnect();
    await until(talk, ({ state }) => state.status === 'closed');
    talk.close();
  });

  test('two dialects on one session see the same turn', async () => {
    const [left, right] = [await talkIn('agentloop', 'shared'), await talkIn('conversations', 'shared')];
    right.send(example(right, 'Send a message', 'shared'));
    await Promise.all([until(left, received('agent_finished')), until(right, received('message_complete'))]);
    left.close();
    right.close();
  });

  test('a copilot task continues with the id that it was given', async () => {
    const session = '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a11';
    const talk = await talkIn('copilot', session);
    talk.send(example(talk, 'Start a task on a page', session));
    const { learned } = await until(talk, ({ learned }) => learned.task !== undefined);
    expect(talk.get().rows.at(-1)?.frame?.text).toStartWith('{"status":200');
    talk.clear();
    talk.send(example(talk, 'Report that the last action succeeded', session));
    await until(talk, received(`"taskId":"${learned.task}"`));
    talk.close();
  });

  test('requests go only to this server', async () => {
    const talk = await talkIn('copilot', '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a12');
    for (const path of ['https://elsewhere.example/', '//elsewhere.example/', '/\\elsewhere.example/']) {
      talk.clear();
      talk.send(JSON.stringify({ method: 'GET', path }));
      await until(talk, ({ rows }) => rows.at(-1)?.note?.text === 'The path must start with a single /');
    }
    talk.close();
  });

  test('learns the Pusher socket id and opens a public channel', async () => {
    const talk = await talkIn('pusher', 'pushed');
    await until(talk, ({ learned }) => learned.socket !== undefined);
    talk.send(example(talk, 'Subscribe to a public channel', 'pushed'));
    await until(talk, received('subscription_succeeded'));
    talk.close();
  });

  test('shows the close code and reason, and refuses to send afterwards', async () => {
    const dialect = named('conversations');
    const talk = new Talk(dialect);
    const call = { dialect, session: '', token: null };
    talk.connect((listener) => socketSpeaker(socketUrl(server.http, call), listener), 'there', 'local');
    const { state, rows } = await until(talk, (talked) => talked.state.status === 'closed');
    expect(state).toMatchObject({ status: 'closed', code: 1008 });
    expect(rows.at(-1)?.note?.text).toStartWith('Closed with 1008');
    expect(talk.send('{}')).toBe(false);
    talk.close();
  });

  test('ignores late frames of a previous connection', async () => {
    const talk = await talkIn('agentloop', 'again');
    const call = { dialect: named('agentloop'), session: 'again', token: parlance.token };
    talk.connect((listener) => socketSpeaker(socketUrl(server.http, call), listener), 'there', 'ada');
    await until(talk, isOpen);
    talk.send(example(talk, 'Get the context use', 'again'));
    const { state } = await until(talk, received('context_info'));
    expect(state.status).toBe('open');
    talk.close();
  });
});
