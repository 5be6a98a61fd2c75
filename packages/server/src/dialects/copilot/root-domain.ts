/** The site that an address belongs to, as people name it: `shop.example.co.uk` is of `example.co.uk`. */

/** Under these second-level names, in countries' domains, everyone may register. */
const SHARED = new Set(
  'ac ad co com ed edu firm gen go gob gov gv id ind lg ltd me mil ne net nic nom or org plc sch'.split(' '),
);

/** What a label of a session holds at most. */
const LONGEST_LABEL = 2_000;

/** The root domain; a host that is a single name or a number is its own. Empty if the address has no host. */
export function rootDomain(url: string): string {
  const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? '';
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return host;
  const labels = host.split('.');
  const [second = '', top = ''] = labels.slice(-2);
  const size = top.length === 2 && SHARED.has(second) ? 3 : 2;
  return labels.slice(-size).join('.');
}

/** A bare host such as `shop.example` or `127.0.0.1:8080` is an address, too; null for what is none. */
export function addressOf(text: string): string | null {
  const address = text.includes('://') ? URL.parse(text) : (URL.parse(`http://${text}`) ?? URL.parse(text));
  return address?.href ?? null;
}

/** The label by which a session is found: its site. */
export const siteLabels = (url: string): { url: string; domain: string } => ({
  url: url.slice(0, LONGEST_LABEL),
  domain: rootDomain(url),
});
