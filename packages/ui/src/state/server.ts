/** The server that the page came from, the current principal, and the sign-in of the browser. */
import { type About, connect, type Parlance, ParlanceError } from '@parlance/sdk';
import { readStorage, writeStorage } from './storage.ts';
import { store, useStore } from './store.ts';

/** The part of the sign-in that the page keeps, for all tabs; the other one is in a cookie. */
const SIGN_IN = 'parlance.sign-in';
const SIGN_IN_HEADER = 'x-parlance-sign-in';
const signInKey = (): string | null => readStorage('local', SIGN_IN);

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
export let parlance: Parlance = connect({ fetch: (url, init) => signedIn(url, init, signInKey()) });

/** Other requests with the same credentials may have been refused before, or a new login may have replaced them. */
async function signedIn(url: string, init: RequestInit, key: string | null): Promise<Response> {
  const sent = key === null ? init : { ...init, headers: { ...init.headers, [SIGN_IN_HEADER]: key } };
  const response = await fetch(url, sent);
  if (response.status === 401 && !url.endsWith('/v1/auth/sign-in') && signInKey() === key) leave(true);
  return response;
}

/** For pages that do not come from the server, such as the side panel of the browser extension. */
export function connectTo(url: string, token: string): void {
  parlance = connect({
    url,
    token,
    async fetch(url, init) {
      const { token } = parlance;
      const response = await fetch(url, init);
      if (response.status === 401 && parlance.token === token) leave(true);
      return response;
    },
  });
}

function leave(expired: boolean): void {
  const now = access.get();
  const had = parlance.token !== null || signInKey() !== null || (now.status === 'out' && now.expired);
  parlance.token = null;
  writeStorage('local', SIGN_IN, null);
  access.set({ status: 'out', expired: expired && had });
}

const PROLONG_MS = 15 * 60_000;

/** For the console: follows what other tabs do, and prolongs the sign-in while the page is open. */
export function followSignIn(): void {
  addEventListener('storage', (event) => {
    const { key } = event as StorageEvent;
    if (key !== SIGN_IN && key !== null) return;
    access.set({ status: 'asking' });
    void loadServer();
  });
  const prolong = () => {
    // A refusal has led to the login, and anything else is repeated.
    if (signInKey() !== null && !document.hidden) parlance.auth.refreshSignIn().catch(() => undefined);
  };
  prolong();
  setInterval(prolong, PROLONG_MS);
  document.addEventListener('visibilitychange', prolong);
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
  const { key } = await parlance.auth.signIn(name, password);
  writeStorage('local', SIGN_IN, key);
  await loadServer();
}

/** Closes the streams of the old sign-in first, since the change ends it. Throws if the old password is wrong. */
export async function changePassword(name: string, old: string, password: string): Promise<void> {
  access.set({ status: 'asking' });
  try {
    await parlance.auth.changePassword(old, password);
    parlance.token = null;
    writeStorage('local', SIGN_IN, (await parlance.auth.signIn(name, password)).key);
  } finally {
    await loadServer();
  }
}

/** In open mode the principal is `local` again; otherwise the login is shown. */
export const logOut = (): Promise<void> => leaveWith(() => parlance.auth.signOut());

/** Ends all sign-ins and tokens of the user. */
export const logOutEverywhere = (): Promise<void> => leaveWith(() => parlance.auth.signOutEverywhere());

async function leaveWith(end: () => Promise<void>): Promise<void> {
  try {
    await end();
  } catch (thrown) {
    // It had ended before.
    if (!(thrown instanceof ParlanceError && thrown.code === 'unauthenticated')) throw thrown;
  } finally {
    leave(false);
    await loadServer();
  }
}

/** For clients beside the console; null without a sign-in. */
export const ownToken = async (): Promise<string | null> =>
  signInKey() === null ? null : parlance.auth.tokenOfSignIn();
