import { expect, test } from 'bun:test';
import {
  checkDigest,
  checkSignature,
  isSubscriptionAuth,
  signedQuery,
  subscriptionAuth,
  userAuth,
} from './signature.ts';

/** The worked examples of the Pusher documentation. */
const APP = { key: '278d425bdf160c739803', secret: '7ad3773142a6692b25b8' };
const BODY = '{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}';
const REQUEST = { method: 'POST', path: '/apps/3/events', body: BODY };
const AT = 1353088179_000;

test('a private channel is signed as documented', () => {
  expect(subscriptionAuth(APP, { socketId: '1234.1234', channel: 'private-foobar' })).toBe(
    '278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4',
  );
});

test('a presence channel is signed with its data', () => {
  const channelData = '{"user_id":10,"user_info":{"name":"Mr. Channels"}}';
  expect(subscriptionAuth(APP, { socketId: '1234.1234', channel: 'presence-foobar', channelData })).toBe(
    '278d425bdf160c739803:31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80',
  );
});

test('a user is signed as documented', () => {
  expect(userAuth(APP, { socketId: '1234.1234', userData: '{"id":"12345"}' })).toBe(
    '278d425bdf160c739803:4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba',
  );
});

test('a request is signed as documented', () => {
  const query = signedQuery({ key: APP.key, secret: APP.secret }, REQUEST, AT);
  expect(query.get('body_md5')).toBe('ec365a775a4cd0599faeb73354201b6f');
  expect(query.get('auth_signature')).toBe(
    'da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c',
  );
});

test('a signature of another length or with another key is invalid', () => {
  const subscription = { socketId: '1.1', channel: 'private-a' };
  const auth = subscriptionAuth(APP, subscription);
  expect(isSubscriptionAuth(APP, subscription, auth)).toBe(true);
  for (const wrong of ['', 'x', `${auth}0`, auth.replace('278', '279'), auth.slice(0, -1)])
    expect(isSubscriptionAuth(APP, subscription, wrong)).toBe(false);
  expect(isSubscriptionAuth(APP, { ...subscription, socketId: '1.2' }, auth)).toBe(false);
});

const changes: [why: string, change: (query: URLSearchParams) => void, reason: string][] = [
  ['another key', (query) => query.set('auth_key', 'x'), 'Unknown auth_key'],
  ['no key', (query) => query.delete('auth_key'), 'Unknown auth_key'],
  ['another version', (query) => query.set('auth_version', '2.0'), 'auth_version must be 1.0'],
  ['no time', (query) => query.delete('auth_timestamp'), 'Timestamp expired'],
  ['a time that is not a number', (query) => query.set('auth_timestamp', 'now'), 'Timestamp expired'],
  ['a digest that was not signed', (query) => query.set('body_md5', '0'.repeat(32)), 'Invalid signature'],
  ['no digest', (query) => query.delete('body_md5'), 'Invalid signature'],
  ['a parameter that was not signed', (query) => query.set('info', 'user_count'), 'Invalid signature'],
  ['another signature', (query) => query.set('auth_signature', '0'.repeat(64)), 'Invalid signature'],
  ['no signature', (query) => query.delete('auth_signature'), 'Invalid signature'],
];

for (const [why, change, reason] of changes) {
  test(`a request with ${why} is refused`, () => {
    const query = signedQuery(APP, REQUEST, AT);
    checkSignature(APP, { ...REQUEST, query }, AT);
    change(query);
    expect(() => checkSignature(APP, { ...REQUEST, query }, AT)).toThrow(reason);
  });
}

test('a request is valid for ten minutes, in both directions', () => {
  const query = signedQuery(APP, REQUEST, AT);
  for (const seconds of [-600, 600]) checkSignature(APP, { ...REQUEST, query }, AT + seconds * 1000);
  for (const seconds of [-601, 601])
    expect(() => checkSignature(APP, { ...REQUEST, query }, AT + seconds * 1000)).toThrow(
      'Timestamp expired',
    );
});

test('another method or path invalidates the signature', () => {
  const query = signedQuery(APP, REQUEST, AT);
  for (const change of [{ method: 'GET' }, { path: '/apps/3/batch_events' }])
    expect(() => checkSignature(APP, { ...REQUEST, ...change, query }, AT)).toThrow('Invalid signature');
});

test('a body other than the signed one is refused', () => {
  const query = signedQuery(APP, REQUEST, AT);
  checkDigest(Buffer.from(REQUEST.body), query);
  for (const body of ['', `${REQUEST.body} `])
    expect(() => checkDigest(Buffer.from(body), query)).toThrow('body_md5 does not match');
  const bodyless = signedQuery(APP, { ...REQUEST, body: '' }, AT);
  checkDigest(Buffer.from(''), bodyless);
  expect(() => checkDigest(Buffer.from('x'), bodyless)).toThrow('body_md5 does not match');
});
