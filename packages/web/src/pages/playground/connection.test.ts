/// <reference path="../../../../server/src/telemetry/prom-client.d.ts" />
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Dialect, type DialectList, type Parlance } from '@parlance/sdk';
import { startTestServer, TEST_USERS, type TestServer } from '../../../../server/src/testing/server.ts';
import {
  type ConnectionSnapshot,
  nativeTransport,
  PlaygroundConnection,
  requestTransport,
  socketTransport,
  socketUrl,
  type TransportEvents,
} from './connection.ts';
import { examplesOf, frameOf } from './examples.ts';

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
function until(
  connection: PlaygroundConnection,
  matches: (snapshot: ConnectionSnapshot) => boolean,
): Promise<ConnectionSnapshot> {
  return new Promise((resolve) => {
    const check = () => {
      if (!matches(connection.get())) return;
      stop();
      resolve(connection.get());
    };
    const stop = connection.subscribe(check);
    check();
  });
}

const isOpen = ({ state }: ConnectionSnapshot): boolean => state.status === 'open';
const received = (words: string) => (snapshot: ConnectionSnapshot) =>
  snapshot.rows.some(({ frame }) => frame?.direction === 'out' && frame.text.includes(words));

function named(name: string): Dialect {
  const found = list.dialects.find((dialect) => dialect.name === name);
  if (!found) throw new Error(`there is no dialect ${name}`);
  return found;
}

async function connectTo(name: string, session: string): Promise<PlaygroundConnection> {
  const dialect = named(name);
  await parlance.session(session).create();
  const connection = new PlaygroundConnection(dialect);
  const call = { dialect, session, token: parlance.token };
  const openTransport = (events: TransportEvents) => {
    if (dialect.transport === 'commands') return nativeTransport(parlance, session, events);
    if (dialect.transport === 'requests') return requestTransport(server.http, parlance.token, events);
    return socketTransport(socketUrl(server.http, call), events);
  };
  connection.connect(openTransport, 'there', 'ada');
  await until(connection, isOpen);
  return connection;
}

const example = (connection: PlaygroundConnection, title: string, session: string): string => {
  const found = examplesOf(connection.dialect).find((one) => one.title === title);
  if (!found) throw new Error(`no example is called ${title}`);
  const filling = { ids: list.ids, known: { ...connection.get().learned, session }, fresh: 'f1' };
  return JSON.stringify(frameOf(connection.dialect, found.frame, filling));
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
    const connection = await connectTo(dialect, session);
    if (dialect === 'extension') connection.send(example(connection, 'Register', session));
    connection.send(example(connection, 'Send a message', session));
    const { rows } = await until(connection, received(answer));
    expect(rows.some(({ frame }) => frame?.direction === 'in')).toBe(true);
    connection.disconnect();
    await until(connection, ({ state }) => state.status === 'closed');
    connection.close();
  });

  test('two dialects on one session see the same turn', async () => {
    const [left, right] = [
      await connectTo('agentloop', 'shared'),
      await connectTo('conversations', 'shared'),
    ];
    right.send(example(right, 'Send a message', 'shared'));
    await Promise.all([until(left, received('agent_finished')), until(right, received('message_complete'))]);
    left.close();
    right.close();
  });

  test('a copilot task continues with the id that it was given', async () => {
    const session = '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a11';
    const connection = await connectTo('copilot', session);
    connection.send(example(connection, 'Start a task on a page', session));
    const { learned } = await until(connection, ({ learned }) => learned.task !== undefined);
    expect(connection.get().rows.at(-1)?.frame?.text).toStartWith('{"status":200');
    connection.clear();
    connection.send(example(connection, 'Report that the last action succeeded', session));
    await until(connection, received(`"taskId":"${learned.task}"`));
    connection.close();
  });

  test('requests go only to this server', async () => {
    const connection = await connectTo('copilot', '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a12');
    for (const path of ['https://elsewhere.example/', '//elsewhere.example/', '/\\elsewhere.example/']) {
      connection.clear();
      connection.send(JSON.stringify({ method: 'GET', path }));
      await until(
        connection,
        ({ rows }) => rows.at(-1)?.note?.text === 'The path must start with a single /',
      );
    }
    connection.close();
  });

  test('learns the Pusher socket id and opens a public channel', async () => {
    const connection = await connectTo('pusher', 'pushed');
    await until(connection, ({ learned }) => learned.socket !== undefined);
    connection.send(example(connection, 'Subscribe to a public channel', 'pushed'));
    await until(connection, received('subscription_succeeded'));
    connection.close();
  });

  test('shows the close code and reason, and refuses to send afterwards', async () => {
    const dialect = named('conversations');
    const connection = new PlaygroundConnection(dialect);
    const call = { dialect, session: '', token: null };
    connection.connect((events) => socketTransport(socketUrl(server.http, call), events), 'there', 'local');
    const { state, rows } = await until(connection, (snapshot) => snapshot.state.status === 'closed');
    expect(state).toMatchObject({ status: 'closed', code: 1008 });
    expect(rows.at(-1)?.note?.text).toStartWith('Closed with 1008');
    expect(connection.send('{}')).toBe(false);
    connection.close();
  });

  test('ignores late frames of a previous connection', async () => {
    const connection = await connectTo('agentloop', 'again');
    const call = { dialect: named('agentloop'), session: 'again', token: parlance.token };
    connection.connect((events) => socketTransport(socketUrl(server.http, call), events), 'there', 'ada');
    await until(connection, isOpen);
    connection.send(example(connection, 'Get the context use', 'again'));
    const { state } = await until(connection, received('context_info'));
    expect(state.status).toBe('open');
    connection.close();
  });
});
