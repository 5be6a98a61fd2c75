/** The server that the page came from, the current principal and the token. */
import { type About, connect, type Parlance, ParlanceError } from '@parlance/sdk';
import { readStorage, writeStorage } from './storage.ts';
import { store, useStore } from './store.ts';

const TOKEN = 'parlance.token';

export type Access =
  | { readonly status: 'asking' }
  /** a token is needed; `expired`: there was one */
  | { readonly status: 'out'; readonly expired: boolean }
  | { readonly status: 'in'; readonly about: About }
  | { readonly status: 'unreachable'; readonly fault: ParlanceError };

export const access = store<Access>({ status: 'asking' });
export const useAccess = (): Access => useStore(access);

/** Server information. Only for components inside the layout, which is shown when it is known. */
export function useServer(): About {
  const now = useAccess();
  if (now.status !== 'in') throw new Error('the server is not known yet');
  return now.about;
}

/** SDK client of the page. A 401 leads to the login. */
export let parlance: Parlance = clientOf({ token: readStorage('session', TOKEN) });

function clientOf(options: { readonly url?: string; readonly token: string | null }): Parlance {
  return connect({
    ...options,
    async fetch(url, init) {
      const { token } = parlance;
      const response = await fetch(url, init);
      // Other requests with the same token may have been refused before, or a new login may have replaced it.
      if (response.status === 401 && !url.endsWith('/v1/auth/login') && parlance.token === token) leave(true);
      return response;
    },
  });
}

/** For pages that do not come from the server, such as the side panel of the browser extension. */
export function connectTo(url: string, token: string): void {
  parlance = clientOf({ url, token });
}

function leave(expired: boolean): void {
  const now = access.get();
  const had = parlance.token !== null || (now.status === 'out' && now.expired);
  parlance.token = null;
  writeStorage('session', TOKEN, null);
  access.set({ status: 'out', expired: expired && had });
}

/** Fetches the current principal. Never throws: the result is in `access`. */
export async function loadServer(): Promise<void> {
  try {
    access.set({ status: 'in', about: await parlance.server() });
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    if (thrown.code !== 'unauthenticated') access.set({ status: 'unreachable', fault: thrown });
  }
}

let refreshing = Promise.resolve();

/** Fetches the server again, one request after another. Without an answer, what is known stays. */
export function refreshServer(): Promise<void> {
  refreshing = refreshing.catch(() => undefined).then(refresh);
  return refreshing;
}

async function refresh(): Promise<void> {
  const { token } = parlance;
  try {
    const about = await parlance.server();
    const now = access.get();
    const isSame = now.status === 'in' && JSON.stringify(about) === JSON.stringify(now.about);
    if (now.status === 'in' && parlance.token === token && !isSame) access.set({ status: 'in', about });
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
  }
}

/** Throws a `ParlanceError` if name or password is wrong. */
export async function logIn(name: string, password: string): Promise<void> {
  const { token } = await parlance.auth.login(name, password);
  writeStorage('session', TOKEN, token);
  await loadServer();
}

/** Closes the streams of the old token first, since the change revokes it. Throws if the old password is wrong. */
export async function changePassword(old: string, password: string): Promise<void> {
  access.set({ status: 'asking' });
  try {
    const { token } = await parlance.auth.changePassword(old, password);
    writeStorage('session', TOKEN, token);
  } finally {
    await loadServer();
  }
}

/** In open mode the principal is `local` again; otherwise the login is shown. */
export async function logOut(): Promise<void> {
  try {
    await parlance.auth.logout();
  } finally {
    leave(false);
    await loadServer();
  }
}
