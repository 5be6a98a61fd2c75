import { expect, test } from 'bun:test';
import { serverOrigin } from './connection.ts';
import { siteOf } from './sites.ts';

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
