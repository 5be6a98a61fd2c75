import { expect, test } from 'bun:test';
import { DIALECTS } from '../dialects/index.ts';
import { EXAMPLE_IDS } from '../dialects/kit/description.ts';
import { DESCRIPTIONS } from './descriptions.ts';

test('every dialect of the index is described', () => {
  expect(DESCRIPTIONS.map(({ name }) => name)).toEqual([...DIALECTS.map(({ name }) => name), 'server']);
});

test('socket addresses match the listen entries of the dialects', () => {
  const addresses = DESCRIPTIONS.flatMap(({ name, socket }) =>
    socket ? [[name, socket.address, ...socket.others.map(({ address }) => address)]] : [],
  );
  const listened = DIALECTS.flatMap(({ name, listen }) => {
    const paths = listen.flatMap((route) =>
      'ws' in route && route.refuse === undefined ? [route.ws.replace(/:(\w+)/g, '{$1}')] : [],
    );
    return paths.length === 0 ? [] : [[name, ...paths]];
  });
  expect(addresses).toEqual(listened);
});

test('shared addresses have their conditions', () => {
  const conditions = Object.fromEntries(
    DESCRIPTIONS.map(({ name, socket }) => [name, socket?.others.map(({ condition }) => condition)]),
  );
  expect(conditions).toMatchObject({
    agentloop: ['if the first frame is one of this dialect'],
    extension: ['unless the first frame is one of agentloop'],
    broadcast: ['without a token'],
    conversations: ['with a token'],
    pusher: [null],
  });
});

test('a connection for a session names it in the query, unless the handshake is anonymous', () => {
  const connect = (dialect: string) =>
    DESCRIPTIONS.find(({ name }) => name === dialect)?.socket?.connect({ ...EXAMPLE_IDS, session: 'a b' });
  expect(connect('broadcast')).toBe('/broadcast?session=a+b');
  expect(connect('pusher')).toBe('/app/app-key?protocol=7');
});
