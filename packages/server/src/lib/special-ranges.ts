/**
 * Address ranges that are not public: loopback, private networks, cloud metadata, and tunnels to any of them. From the IANA
 * special-purpose registries, https://www.iana.org/assignments/iana-ipv4-special-registry and
 * …/iana-ipv6-special-registry.
 */
import { BlockList, isIP } from 'node:net';

const REFUSED_V4 = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier NAT
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // the host agent of a cloud
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // multicast tunnels
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
] as const;

/** The allocated global unicast range. Mapped, translated (NAT64), local and multicast addresses are outside of it. */
const GLOBAL_V6 = ['2000::', 3] as const;

const REFUSED_V6 = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which holds any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const;

const refused = new BlockList();
for (const [network, prefix] of REFUSED_V4) refused.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of REFUSED_V6) refused.addSubnet(network, prefix, 'ipv6');
const globalV6 = new BlockList();
globalV6.addSubnet(...GLOBAL_V6, 'ipv6');

/** Accepts an address in any spelling that `node:net` knows; anything else is not public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused.check(address, 'ipv4');
    case 6:
      // A zone (fe80::1%eth0) names an interface of this machine.
      return !address.includes('%') && globalV6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
    default:
      return false;
  }
}
