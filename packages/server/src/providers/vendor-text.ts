/**
 * The error text of a model API, as it may be shown to every user of the server. The text is not trusted: it may
 * contain the key, internal addresses and paths, a stack or a whole page.
 */

/** Only longer keys are removed: servers without authentication are given words such as `none`. */
const MIN_KEY_LENGTH = 8;
const MAX_LENGTH = 500;

/** One line without secrets, that ends as a sentence does; empty if there is nothing to show. */
export function vendorText(text: string, key: string | undefined): string {
  if (/<[a-z!/]/i.test(text)) return '';
  const withoutKey = key && key.length >= MIN_KEY_LENGTH ? text.replaceAll(key, '[key]') : text;
  const line = withoutKey
    .slice(0, 8 * MAX_LENGTH)
    .replace(/\bTraceback \(most recent[\s\S]*|\n\s*(?:at |File ")[\s\S]*/, '')
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ at (?:\S+ )?\(?[^\s:]*\.[a-z]{1,4}:\d+\b.*/i, '')
    .replace(/\bhttps?:\/\/[^\s'"<>)\]]+/gi, publicAddress)
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '[address]')
    .replace(/(^|[\s'"`(=:])(?:~|[a-z]:)?[\\/](?!v\d)[\w.-]+[\\/][^\s'"`),;]*/gi, '$1[path]')
    .replace(
      /\bbearer\s+[^\s'",]+|\bsk-[^\s'",]*[^\s'",.]|\bAIza[\w-]+|[^\s'",]*\*{3}[^\s'",.]*|[\w-]{40,}/gi,
      '[key]',
    )
    .trim();
  if (line === '') return '';
  const short = line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH).replace(/\s+\S*$/, '')}…` : line;
  return /[.!?…]['")]?$/.test(short) ? short : `${short}.`;
}

/** Links to documentation are kept, without their query. */
function publicAddress(found: string): string {
  const end = /[.,;:!?]+$/.exec(found)?.[0] ?? '';
  const url = URL.parse(found.slice(0, found.length - end.length));
  const isPublic =
    url?.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    /\.[a-z]{2,}$/.test(url.hostname) &&
    !/\.(?:local|localhost|internal|intranet|lan|corp|home|svc|test|invalid)$/.test(url.hostname);
  return `${isPublic ? `${url.origin}${url.pathname}` : '[address]'}${end}`;
}

/** `statement: text Advice.`, or without text `statement: advice.` */
export function explained(statement: string, text: string, advice = ''): string {
  if (text === '') return advice === '' ? `${statement}.` : `${statement}: ${advice}.`;
  return `${statement}: ${text}${advice && ` ${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`}`;
}
