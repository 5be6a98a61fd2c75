/** How this extension is connected to a server. */
export type Connection =
  /** `isNew`: just installed, so that the panel shows a code at once if the server runs */
  | { readonly status: 'none'; readonly url: string; readonly isNew?: true }
  /** the code waits to be allowed; the token is not valid yet */
  | {
      readonly status: 'waiting';
      readonly url: string;
      readonly code: string;
      readonly token: string;
      readonly expiresAt: string;
    }
  | { readonly status: 'paired'; readonly url: string; readonly token: string; readonly owner: string }
  /** it was paired, and the server refuses its token now */
  | { readonly status: 'revoked'; readonly url: string };

export type Paired = Extract<Connection, { status: 'paired' }>;

const LOOPBACK = ['localhost', '127.0.0.1'];

/** The origin of a server that a person typed; null if it cannot be used: other machines need TLS. */
export function serverOrigin(text: string): string | null {
  const url = URL.parse(/^\w+:\/\//.test(text.trim()) ? text.trim() : `http://${text.trim()}`);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  return url.protocol === 'https:' || LOOPBACK.includes(url.hostname) ? url.origin : null;
}
