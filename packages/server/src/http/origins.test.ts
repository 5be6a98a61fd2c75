import { describe, expect, test } from 'bun:test';
import { type BoundAddress, checkHost, checkOrigin } from './origins.ts';

const extension = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop';
const loopback: BoundAddress = { host: '127.0.0.1', allowedOrigins: [] };
const named: BoundAddress = { host: 'box.lan', allowedOrigins: ['https://chat.example', extension] };
const wildcard: BoundAddress = { host: '0.0.0.0', allowedOrigins: ['https://chat.example:8443'] };
const wildcard6: BoundAddress = { host: '::', allowedOrigins: [] };
const bounds = { loopback, named, wildcard, wildcard6 };

const hosts: [bound: keyof typeof bounds, host: string | null, passes: boolean][] = [
  ['loopback', 'localhost:3000', true],
  ['loopback', 'LOCALHOST', true],
  ['loopback', '127.0.0.1:3000', true],
  ['loopback', '127.8.9.10', true],
  ['loopback', '[::1]:3000', true],
  ['loopback', 'evil.example', false],
  ['loopback', 'evil.example:3000', false],
  ['loopback', 'localhost.evil.example', false],
  ['loopback', '127.0.0.1.evil.example', false],
  ['loopback', '192.168.1.2:3000', false],
  ['loopback', '0.0.0.0:3000', false],
  ['loopback', 'evil.example@localhost', false],
  ['loopback', 'localhost/evil', false],
  ['loopback', 'localhost, evil.example', false],
  ['loopback', '', false],
  ['loopback', null, false],
  ['named', 'box.lan:8080', true],
  ['named', 'localhost:3000', true],
  ['named', 'chat.example', true],
  ['named', 'chat.example:9000', true],
  ['named', '10.0.0.1', false],
  ['named', 'abcdefghijklmnopabcdefghijklmnop', false],
  ['named', 'evil.example', false],
  ['wildcard', '10.0.0.1:3000', true],
  ['wildcard', '[fe80::1]:3000', true],
  ['wildcard', 'localhost', true],
  ['wildcard', 'chat.example', true],
  ['wildcard', 'evil.example', false],
  ['wildcard6', '10.0.0.1:3000', true],
  ['wildcard6', '[2001:db8::1]', true],
  ['wildcard6', 'evil.example', false],
];

describe('Host', () => {
  for (const [bound, host, passes] of hosts)
    test(`${host} ${passes ? 'passes' : 'is refused'} (${bound})`, () => {
      expect(checkHost(host, bounds[bound]).ok).toBe(passes);
    });
});

const origins: [
  bound: keyof typeof bounds,
  origin: string | null,
  host: string | null,
  passes: boolean,
  why: string,
][] = [
  ['loopback', null, 'localhost:3000', true, 'not a browser'],
  ['named', null, null, true, 'not a browser'],
  ['loopback', 'null', 'localhost:3000', false, 'sandboxed frames and files'],
  ['loopback', '', 'localhost:3000', false, 'not an origin'],
  ['loopback', 'http://localhost:3000', 'localhost:3000', true, 'same origin'],
  ['loopback', 'http://localhost:5173', '127.0.0.1:3000', true, 'loopback origin, loopback server'],
  ['loopback', 'https://[::1]:5173', 'localhost:3000', true, 'loopback origin, loopback server'],
  ['loopback', 'http://localhost.evil.example', 'localhost:3000', false, 'only looks like loopback'],
  ['loopback', 'https://evil.example', 'localhost:3000', false, 'foreign page'],
  ['loopback', 'http://localhost:3000/', 'localhost:3000', false, 'not an origin but a URL'],
  ['loopback', 'http://localhost:3000, https://evil.example', 'localhost:3000', false, 'two origins'],
  ['loopback', extension, 'localhost:3000', false, 'extension that is not allowed'],
  ['loopback', 'file://', 'localhost:3000', false, 'no web origin'],
  ['named', extension, 'box.lan:3000', true, 'extension that is allowed'],
  [
    'named',
    'chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba',
    'box.lan:3000',
    false,
    'another extension',
  ],
  ['named', 'http://localhost:5173', 'box.lan:3000', false, 'loopback origin, public server'],
  ['named', 'http://localhost:3000', 'localhost:3000', true, 'same origin by its loopback name'],
  ['named', 'https://chat.example', 'box.lan', true, 'named'],
  ['named', 'http://chat.example', 'box.lan', false, 'named with another scheme'],
  ['named', 'https://chat.example:444', 'box.lan', false, 'named with another port'],
  ['named', 'https://sub.chat.example', 'box.lan', false, 'named without its subdomains'],
  ['named', 'https://box.lan', 'box.lan', true, 'same origin behind a TLS proxy'],
  ['named', 'http://box.lan', 'box.lan:80', true, 'same origin with the default port written out'],
  ['named', 'http://box.lan:3000', 'BOX.lan:3000', true, 'same origin in other letters'],
  ['named', 'http://box.lan:3000', 'box.lan:4000', false, 'another port'],
  ['wildcard', 'http://10.0.0.1:3000', '10.0.0.1:3000', true, 'same origin'],
  ['wildcard', 'http://10.0.0.2', '10.0.0.1:3000', false, 'another machine'],
  ['wildcard', 'http://localhost:5173', '10.0.0.1:3000', false, 'loopback origin, public server'],
];

describe('Origin', () => {
  for (const [bound, origin, host, passes, why] of origins)
    test(`${origin} at ${host} ${passes ? 'passes' : 'is refused'} (${bound}): ${why}`, () => {
      expect(checkOrigin(origin, host, bounds[bound]).ok).toBe(passes);
    });
});

test('a DNS-rebound page has its own origin and is refused by its Host', () => {
  expect(checkOrigin('http://evil.example:3000', 'evil.example:3000', loopback).ok).toBe(true);
  expect(checkHost('evil.example:3000', loopback).ok).toBe(false);
});

test('the reason explains how to allow it, in one short line', () => {
  const verdict = checkOrigin(extension, 'localhost', loopback);
  expect(verdict).toEqual({
    ok: false,
    reason: `Origin "${extension}" is not allowed: allow it in the console (Admin → Origins) or with --origin`,
  });
  const long = checkHost(`${'x'.repeat(5000)}\n`, loopback);
  expect(long.ok ? '' : long.reason).toMatch(/^.{1,400}$/);
});
