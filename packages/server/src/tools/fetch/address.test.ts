import { describe, expect, test } from 'bun:test';
import { checkedAddresses } from '../../lib/checked-addresses.ts';
import { addressProblem, pageAddress } from './address.ts';

const never = new AbortController().signal;

test.each([
  ['https://example.org', 'https://example.org/'],
  ['HTTP://EXAMPLE.org:80/a/../b?c=d#e', 'http://example.org/b?c=d'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
])('%s is fetched as %s', (text, href) => {
  expect(pageAddress(text).href).toBe(href);
});

test.each([
  ...['', 'example.org', '/path', 'ftp://example.org/', 'file:///etc/passwd', 'javascript:alert(1)'],
  ...[
    'data:text/html,x',
    'blob:https://example.org/x',
    'view-source:https://example.org',
    'ws://example.org',
  ],
  ...['http://', 'http://user@example.org/', 'http://user:word@example.org/', 'http://:word@example.org/'],
  ...[
    'http://example.org@127.0.0.1/',
    'http://exa mple.org/',
    'http://256.256.256.256/',
    'http://[::1',
    'http://[fe80::1%25eth0]/',
  ],
  `https://example.org/${'x'.repeat(3_000)}`,
])('%j is refused', (text) => {
  expect(addressProblem(text)).toBeString();
});

describe('spellings of loopback and private addresses', () => {
  test.each([
    ...['http://127.0.0.1/', 'http://127.1/', 'http://127.0.1/', 'http://2130706433/', 'http://0x7f.1/'],
    ...[
      'http://0x7f000001/',
      'http://0177.0.0.1/',
      'http://017700000001/',
      'http://127.0.0.1./',
      'http://0/',
    ],
    ...['http://１２７.０.０.１/', 'http://①②⑦.0.0.1/', 'http://127。0。0。1/', 'http://%31%32%37.0.0.1/'],
    ...['http://[::1]/', 'http://[::]/', 'http://[0:0:0:0:0:0:0:1]/', 'http://[::ffff:127.0.0.1]/'],
    ...['http://[::ffff:7f00:1]/', 'http://[::127.0.0.1]/', 'http://[64:ff9b::127.0.0.1]/'],
    ...['http://[2002:7f00:1::]/', 'http://[fd00:ec2::254]/', 'http://[fe80::1]/', 'http://169.254.169.254/'],
    ...[
      'http://2852039166/',
      'http://0xa9fea9fe/',
      'http://10.1/',
      'http://192.168.1/',
      'http://3232235777/',
    ],
    ...['https://172.16.1.1:8443/', 'http://100.64.0.1/', 'http://224.0.0.1/', 'http://255.255.255.255/'],
  ])('%s is not contacted', async (text) => {
    const resolve = () => Promise.reject(new Error('no name to resolve'));
    await expect(checkedAddresses(pageAddress(text), { resolve }, never)).rejects.toThrow(
      'private or special',
    );
  });
});

describe('names', () => {
  const check = (addresses: string[]) =>
    checkedAddresses(pageAddress('https://example.org/'), { resolve: async () => addresses }, never);

  test('are resolved to all their addresses', async () => {
    expect(await check(['1.1.1.1', '2606:4700:4700::1111'])).toEqual(['1.1.1.1', '2606:4700:4700::1111']);
  });

  test.each([
    [['127.0.0.1']],
    [['1.1.1.1', '10.0.0.1']],
    [['2606:4700:4700::1111', '::1']],
    [['::ffff:1.1.1.1']],
    [['not an address']],
  ])('that lead to %j are refused', async (addresses) => {
    await expect(check(addresses)).rejects.toThrow('private or special');
  });

  test('that do not resolve are reported as unknown', async () => {
    await expect(check([])).rejects.toThrow('unknown');
  });

  test('of this machine are refused by the real resolver', async () => {
    await expect(checkedAddresses(new URL('http://localhost/'), {}, never)).rejects.toThrow(
      'private or special',
    );
  });

  test('whose name server does not answer are aborted with the call', async () => {
    const abort = new AbortController();
    const resolve = () => new Promise<string[]>(() => undefined);
    const call = checkedAddresses(pageAddress('https://example.org/'), { resolve }, abort.signal);
    abort.abort(new Error('given up'));
    await expect(call).rejects.toThrow('given up');
  });
});
