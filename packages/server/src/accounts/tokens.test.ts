import { describe, expect, test } from 'bun:test';
import { ROLE_PERMISSIONS } from '@parlance/protocol';
import { decodeJwt, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { openTokens } from './tokens.ts';

const secret = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
const start = 1_800_000_000_000;
const day = 24 * 60 * 60;
const ann = { name: 'ann', role: 'user', tokenVersion: 'g1' } as const;

test('a token contains the claims that clients read', async () => {
  const { token, expiresAt } = await openTokens(secret, () => start).issue(ann);
  const { jti, ...claims } = decodeJwt(token);
  expect(claims).toEqual({
    sub: 'ann',
    role: 'user',
    perms: [...ROLE_PERMISSIONS.user],
    gen: 'g1',
    iss: 'parlance',
    aud: 'parlance',
    iat: start / 1000,
    exp: start / 1000 + day,
  });
  expect(jti).toBeString();
  expect(expiresAt).toBe(start + day * 1000);
});

test('two tokens of one user in the same second differ', async () => {
  const tokens = openTokens(secret, () => start);
  expect((await tokens.issue(ann)).token).not.toBe((await tokens.issue(ann)).token);
});

test('a token is accepted until it expires, plus 30 seconds', async () => {
  let now = start;
  const tokens = openTokens(secret, () => now);
  const { token } = await tokens.issue(ann);
  for (now of [start, start + (day + 29) * 1000])
    expect(await tokens.verify(token)).toMatchObject({
      name: 'ann',
      tokenVersion: 'g1',
      validUntil: start + (day + 30) * 1000,
    });
  now = start + (day + 31) * 1000;
  await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthenticated' });
});

const good = {
  sub: 'ann',
  gen: 'g1',
  iss: 'parlance',
  aud: 'parlance',
  jti: '1',
  iat: start / 1000,
  exp: start / 1000 + day,
};
const sign = (claims: JWTPayload, alg = 'HS256', key = secret) =>
  new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
const without = (claim: keyof typeof good) =>
  Object.fromEntries(Object.entries(good).filter(([name]) => name !== claim));
const long = new Uint8Array(64).fill(7);

describe('refuses', () => {
  const cases: [why: string, token: () => string | Promise<string>][] = [
    ['nothing', () => ''],
    ['text that is no token', () => 'not-a-token'],
    ['a token signed with another secret', () => sign(good, 'HS256', long)],
    [
      'another algorithm, although the secret is ours',
      () => sign(good, 'HS512', new Uint8Array([...secret, ...secret])),
    ],
    ['a token that is not signed', () => new UnsecuredJWT(good).encode()],
    [
      'a token whose claims were changed',
      async () => {
        const [header, , signature] = (await sign(good)).split('.');
        return `${header}.${btoa(JSON.stringify({ ...good, sub: 'bob' })).replaceAll('=', '')}.${signature}`;
      },
    ],
    ['another issuer', () => sign({ ...good, iss: 'someone' })],
    ['another audience', () => sign({ ...good, aud: 'someone' })],
    ['a token that is not valid yet', () => sign({ ...good, nbf: start / 1000 + 60 })],
    ['an empty subject', () => sign({ ...good, sub: '' })],
    ...(['sub', 'gen', 'iss', 'aud', 'jti', 'iat', 'exp'] as const).map(
      (claim): [string, () => Promise<string>] => [`a token without ${claim}`, () => sign(without(claim))],
    ),
  ];
  const tokens = openTokens(secret, () => start);

  test('none of the cases by mistake: the unmodified claims are accepted', async () => {
    expect(await tokens.verify(await sign(good))).toMatchObject({ name: 'ann' });
  });

  test('not a token that becomes valid within 30 seconds, because clocks differ', async () => {
    const early = await sign({ ...good, nbf: start / 1000 + 29 });
    expect(await tokens.verify(early)).toMatchObject({ name: 'ann' });
  });

  for (const [why, token] of cases)
    test(why, async () => {
      await expect(tokens.verify(await token())).rejects.toMatchObject({
        name: 'Fault',
        code: 'unauthenticated',
      });
    });
});
