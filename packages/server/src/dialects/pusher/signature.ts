/** Pusher signatures: HMAC-SHA256 in hexadecimal, for subscriptions, users and requests. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Fault } from '@parlance/protocol';

/** Of the application. */
export type Credentials = { readonly key: string; readonly secret: string };

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

/** Constant-time comparison; only the length is revealed. */
function same(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A subscription to sign: the channel and, on presence channels, the member. */
export type SignedSubscription = {
  readonly socketId: string;
  readonly channel: string;
  readonly channelData?: string | null;
};

/** A sign-in to sign. */
export type User = { readonly socketId: string; readonly userData: string };

const subscriptionText = ({ socketId, channel, channelData }: SignedSubscription): string =>
  channelData == null ? `${socketId}:${channel}` : `${socketId}:${channel}:${channelData}`;
const userText = ({ socketId, userData }: User): string => `${socketId}::user::${userData}`;

const signed = ({ key, secret }: Credentials, text: string): string => `${key}:${hmac(secret, text)}`;

/** The `auth` of a subscription. */
export const subscriptionAuth = (app: Credentials, subscription: SignedSubscription): string =>
  signed(app, subscriptionText(subscription));

export const isSubscriptionAuth = (
  app: Credentials,
  subscription: SignedSubscription,
  auth: string,
): boolean => same(subscriptionAuth(app, subscription), auth);

/** The `auth` of `pusher:signin`. */
export const userAuth = (app: Credentials, user: User): string => signed(app, userText(user));

export const isUserAuth = (app: Credentials, user: User, auth: string): boolean =>
  same(userAuth(app, user), auth);

// Requests

export type Signable = {
  readonly method: string;
  readonly path: string;
  /** empty if there is none */
  readonly body: string | Uint8Array;
  /** additional query parameters */
  readonly query?: URLSearchParams;
};

/** A received request. */
export type SignedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
};

const VERSION = '1.0';
const TOLERANCE_SECONDS = 600;

const md5 = (body: string | Uint8Array): string => createHash('md5').update(body).digest('hex');

/** Values are signed decoded, not URL-encoded. */
function requestText({ method, path, query }: SignedRequest): string {
  const sorted = [...query]
    .filter(([name]) => name !== 'auth_signature')
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return [method, path, sorted.map(([name, value]) => `${name}=${value}`).join('&')].join('\n');
}

/** The query of a request that this server signs. `now` is in milliseconds. */
export function signedQuery(
  { key, secret }: Credentials,
  { method, path, body, query: own }: Signable,
  now: number,
): URLSearchParams {
  const query = new URLSearchParams({
    ...Object.fromEntries(own ?? []),
    auth_key: key,
    auth_timestamp: String(Math.floor(now / 1000)),
    auth_version: VERSION,
    ...(body.length > 0 ? { body_md5: md5(body) } : {}),
  });
  query.set('auth_signature', hmac(secret, requestText({ method, path, query })));
  return query;
}

const refuse = (reason: string): never => {
  throw new Fault('unauthenticated', reason);
};

/** Throws `unauthenticated` unless the request was recently signed with our key. `now` is in milliseconds. */
export function checkSignature(app: Credentials, request: SignedRequest, now: number): void {
  const { query } = request;
  if (query.get('auth_key') !== app.key) refuse('Unknown auth_key');
  if (query.get('auth_version') !== VERSION) refuse(`auth_version must be ${VERSION}`);
  const timestamp = query.get('auth_timestamp') ?? '';
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    refuse(`Timestamp expired: auth_timestamp is not within ${TOLERANCE_SECONDS} s of the server's time`);
  const expected = hmac(app.secret, requestText(request));
  if (!same(expected, query.get('auth_signature') ?? '')) refuse('Invalid signature');
}

/** Throws `unauthenticated` unless the body is the signed one. */
export function checkDigest(body: Uint8Array, query: URLSearchParams): void {
  const digest = query.get('body_md5');
  if (body.length > 0 ? digest !== md5(body) : digest !== null && digest !== md5(''))
    refuse('body_md5 does not match the body');
}
