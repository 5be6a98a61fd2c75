import { expect, test } from 'bun:test';
import { serverOrigin } from './records.ts';
import { isAddressOf, siteOf } from './sites.ts';

test.each([
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  [' http://localhost:3000/#/settings ', 'http://localhost:3000'],
  ['https://chat.example/path', 'https://chat.example'],
  ['http://chat.example', null],
  ['chat.example', null],
  ['ftp://127.0.0.1', null],
  ['javascript:alert(1)', null],
  ['', null],
  ['http://127.0.0.1.evil.example', null],
])('the server %j is %p', (typed, origin) => {
  expect(serverOrigin(typed)).toBe(origin);
});

test.each([
  ['https://shop.example/cart?x', 'https://shop.example'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ['chrome://settings', null],
  ['file:///etc/passwd', null],
  ['about:blank', null],
  [undefined, null],
])('the site of %p is %p', (address, site) => {
  expect(siteOf(address)).toBe(site);
});

const SERVER = { url: 'http://127.0.0.1:3000', ports: [3000, 8001] };

test.each([
  'http://localhost:3000/#/approvals',
  'http://LOCALHOST.:3000/',
  'http://console.localhost:3000/',
  'http://127.1:3000/',
  'http://2130706433:3000/',
  'http://0x7f.0.0.1:3000/',
  'http://127.8.9.10:3000/',
  'http://0.0.0.0:3000/',
  'http://0:3000/',
  'http://[::1]:3000/',
  'http://[::]:3000/',
  'http://[::ffff:127.0.0.1]:3000/',
  'http://me:secret@127.0.0.1:3000/',
  'https://localhost:3000/',
  'http://localhost:8001/v1/server',
])('%s is the own server', (address) => {
  expect(isAddressOf(address, SERVER)).toBe(true);
});

test.each([
  'http://localhost:5173/',
  'http://127.0.0.1/',
  'http://127.0.0.1.example:3000/',
  'http://localhost.example:3000/',
  'http://128.0.0.1:3000/',
  'https://shop.example:3000/',
  'chrome://settings',
  'about:blank',
])('%s is another site', (address) => {
  expect(isAddressOf(address, SERVER)).toBe(false);
});

test.each([
  ['http://parlance.example/', true],
  ['https://PARLANCE.example./#/settings', true],
  ['https://parlance.example:8443/', false],
  ['https://other.example/', false],
])('%s behind a proxy at https://parlance.example: %p', (address, isOwn) => {
  expect(isAddressOf(address, { url: 'https://parlance.example', ports: [3000] })).toBe(isOwn);
});
