/** Valid addresses of pages: http or https, with a host, without credentials. */
import { Fault } from '@parlance/protocol';
import { ADDRESS_CHARACTERS } from './limits.ts';

/** The URL, resolved against `base` if it is relative. Throws a `Fault` if it must not be fetched. */
export function pageAddress(text: string, base?: URL): URL {
  const url = parsed(text, base);
  if (typeof url === 'string') throw new Fault('tool_invalid', `The address ${url}.`);
  return url;
}

/** Reason for refusing the address, as the end of a sentence; null if it is valid. */
export function addressProblem(text: string): string | null {
  const url = parsed(text);
  return typeof url === 'string' ? url : null;
}

function parsed(text: string, base?: URL): URL | string {
  if (text.length > ADDRESS_CHARACTERS) return 'is too long';
  const url = URL.parse(text, base?.href);
  if (url === null) return 'cannot be read';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  url.hash = '';
  return url;
}
