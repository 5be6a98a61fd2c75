/** Finds addresses in requests: URLs, domains, and well-known sites by name. */

const SITES = new Map(
  Object.entries({
    google: 'https://www.google.com/',
    bing: 'https://www.bing.com/',
    duckduckgo: 'https://duckduckgo.com/',
    wikipedia: 'https://www.wikipedia.org/',
    github: 'https://github.com/',
    youtube: 'https://www.youtube.com/',
    amazon: 'https://www.amazon.com/',
    reddit: 'https://www.reddit.com/',
  }),
);

const DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}(?::\d{1,5})?(?:[/?#]\S*)?$/u;
const LOCAL = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/\S*)?$/i;
/** Looks like a domain, but is rather a file name. */
const FILE = /^[^/]+\.(?:md|txt|ts|js|json|pdf|png|jpe?g|csv|html?)$/i;

/** Null if it is not an address. */
export function addressIn(said: string): string | null {
  const text = said.trim();
  if (/^https?:\/\/\S+$/i.test(text)) return URL.parse(text)?.href ?? null;
  if (LOCAL.test(text)) return URL.parse(`http://${text}`)?.href ?? null;
  if (DOMAIN.test(text) && !FILE.test(text)) return URL.parse(`https://${text}`)?.href ?? null;
  return null;
}

export const siteCalled = (said: string): string | null =>
  SITES.get(
    said
      .trim()
      .toLowerCase()
      .replace(/^the\s+/, '')
      .replace(/\s+(?:web\s*)?(?:site|page|homepage)$/, ''),
  ) ?? null;
