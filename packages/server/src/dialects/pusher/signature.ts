/** Signatures of the Pusher family: HMAC-SHA256 in hexadecimal, for subscriptions, for users and for requests. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Fault } from '@parlance/protocol';
import type { Application } from './application.ts';

type Credentials = Pick<Application, 'key' | 'secret'>;

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

/** In constant time, as far as the length lets it. */
function same(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const subscriptionText = (socketId: string, channel: string, channelData?: string | null): string =>
  channelData == null ? `${socketId}:${channel}` : `${socketId}:${channel}:${channelData}`;
const userText = (socketId: string, userData: string): string => `${socketId}::user::${userData}`;

const signed = ({ key, secret }: Credentials, text: string): string => `${key}:${hmac(secret, text)}`;

/** The `auth` of a subscription. */
export const subscriptionAuth = (
  app: Credentials,
  socketId: string,
  channel: string,
  channelData?: string,
): string => signed(app, subscriptionText(socketId, channel, channelData));

export const isSubscriptionAuth = (
  app: Credentials,
  auth: string,
  socketId: string,
  channel: string,
  channelData?: string | null,
): boolean => same(signed(app, subscriptionText(socketId, channel, channelData)), auth);

/** The `auth` of `pusher:signin`. */
export const userAuth = (app: Credentials, socketId: string, userData: string): string =>
  signed(app, userText(socketId, userData));

export const isUserAuth = (app: Credentials, auth: string, socketId: string, userData: string): boolean =>
  same(signed(app, userText(socketId, userData)), auth);

// Requests

export type Signable = {
  readonly method: string;
  readonly path: string;
  /** empty where there is none */
  readonly body: string | Uint8Array;
};

const VERSION = '1.0';
const TOLERANCE_SECONDS = 600;

const md5 = (body: string | Uint8Array): string => createHash('md5').update(body).digest('hex');

/** Values are signed as they are, not as a URL writes them. */
function requestText(method: string, path: string, query: readonly (readonly [string, string])[]): string {
  const sorted = query
    .filter(([name]) => name !== 'auth_signature')
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return [method, path, sorted.map(([name, value]) => `${name}=${value}`).join('&')].join('\n');
}

/** The query of a request that we sign; `more` are parameters of its own. `now` is in milliseconds. */
export function signedQuery(
  { key, secret }: Credentials,
  request: Signable,
  now: number,
  more: readonly (readonly [string, string])[] = [],
): URLSearchParams {
  const query = new URLSearchParams({
    ...Object.fromEntries(more),
    auth_key: key,
    auth_timestamp: String(Math.floor(now / 1000)),
    auth_version: VERSION,
    ...(request.body.length > 0 ? { body_md5: md5(request.body) } : {}),
  });
  query.set('auth_signature', hmac(secret, requestText(request.method, request.path, [...query])));
  return query;
}

const refuse = (reason: string): never => {
  throw new Fault('unauthenticated', reason);
};

/** Throws `unauthenticated` unless the request is signed with our key, lately. `now` is in milliseconds. */
export function checkSignature(
  app: Credentials,
  request: Omit<Signable, 'body'>,
  query: URLSearchParams,
  now: number,
): void {
  if (query.get('auth_key') !== app.key) refuse('Unknown auth_key');
  if (query.get('auth_version') !== VERSION) refuse(`auth_version must be ${VERSION}`);
  const timestamp = query.get('auth_timestamp') ?? '';
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    refuse(`Timestamp expired: auth_timestamp is not within ${TOLERANCE_SECONDS} s of the server's time`);
  const expected = hmac(app.secret, requestText(request.method, request.path, [...query]));
  if (!same(expected, query.get('auth_signature') ?? '')) refuse('Invalid signature');
}

/** Throws `unauthenticated` unless the body is the one that was signed. */
export function checkDigest(body: Uint8Array, query: URLSearchParams): void {
  const digest = query.get('body_md5');
  if (body.length > 0 ? digest !== md5(body) : digest !== null && digest !== md5(''))
    refuse('body_md5 does not match the body');
}
