/** The registrable domain of an address: `shop.example.co.uk` belongs to `example.co.uk`. */

/** Second-level names in country domains below which anyone may register. */
const SHARED = new Set(
  'ac ad co com ed edu firm gen go gob gov gv id ind lg ltd me mil ne net nic nom or org plc sch'.split(' '),
);

/** The maximum length of a session label. */
const MAX_LABEL_LENGTH = 2_000;

/** The root domain. A single name or an IP address is its own. Empty if the address has no host. */
export function rootDomain(url: string): string {
  const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? '';
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return host;
  const labels = host.split('.');
  const [second = '', top = ''] = labels.slice(-2);
  const size = top.length === 2 && SHARED.has(second) ? 3 : 2;
  return labels.slice(-size).join('.');
}

/** Also accepts a bare host such as `shop.example` or `127.0.0.1:8080`. Null if the text is not an address. */
export function addressOf(text: string): string | null {
  const address = text.includes('://') ? URL.parse(text) : (URL.parse(`http://${text}`) ?? URL.parse(text));
  return address?.href ?? null;
}

export const urlLabel = (url: string): string => url.slice(0, MAX_LABEL_LENGTH);

/** The labels by which a session is found. */
export const siteLabels = (url: string): { url: string; domain: string } => ({
  url: urlLabel(url),
  domain: rootDomain(url),
});
