import { describe, expect, test } from 'bun:test';
import { clientAddress } from './client-address.ts';

describe('client address', () => {
  const cases: [peer: string | undefined, forwarded: string | null, proxies: number, address: string][] = [
    ['192.0.2.1', null, 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '1.1.1.1, 198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '1.1.1.1, 198.51.100.7,10.0.0.1', 2, '198.51.100.7'],
    ['192.0.2.1', '198.51.100.7', 2, '192.0.2.1'],
    ['192.0.2.1', 'somebody', 1, '192.0.2.1'],
    ['192.0.2.1', '', 1, '192.0.2.1'],
    ['::ffff:192.0.2.1', null, 0, '192.0.2.1'],
    // One spelling of a mapped address must not share the bucket of all others.
    ['192.0.2.1', '::ffff:c633:6407', 1, '198.51.100.7'],
    ['192.0.2.1', '0:0:0:0:0:ffff:198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '::FFFF:198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '[2001:db8::1]:443', 1, '192.0.2.1'],
    ['64:ff9b::198.51.100.7', null, 0, '64:ff9b:0:0::/64'],
    ['::', null, 0, '0:0:0:0::/64'],
    ['::1', null, 0, '0:0:0:0::/64'],
    ['2001:db8:0:5:aaaa::1', null, 0, '2001:db8:0:5::/64'],
    ['2001:0DB8::5:1:2:3:4', null, 0, '2001:db8:0:5::/64'],
    ['fe80::1%eth0', null, 0, 'fe80:0:0:0::/64'],
    [undefined, null, 0, 'unknown'],
  ];
  for (const [peer, forwarded, proxies, address] of cases)
    test(`${peer} with ${forwarded} behind ${proxies} is ${address}`, () => {
      const headers = new Headers(forwarded === null ? {} : { 'x-forwarded-for': forwarded });
      expect(clientAddress(headers, peer, proxies)).toBe(address);
    });
});
