/** Hash router: the current location is the part of the address after `#`. */
import { decodedUri } from '@parlance/protocol/json-text';
import { useSyncExternalStore } from 'react';

export type Route =
  /** a session that does not exist yet */
  | { readonly page: 'new' }
  | { readonly page: 'session'; readonly id: string }
  | { readonly page: 'approvals' }
  /** null: no session selected yet */
  | { readonly page: 'timeline'; readonly id: string | null }
  | { readonly page: 'playground' }
  | { readonly page: 'admin' }
  | { readonly page: 'settings' }
  /** connects a browser extension */
  | { readonly page: 'pair' }
  /** where the sign-in of an MCP server ends */
  | { readonly page: 'signed-in' }
  /** where an invited person chooses a password */
  | { readonly page: 'invitation' }
  | { readonly page: 'welcome' }
  | { readonly page: 'login' }
  | { readonly page: 'unknown'; readonly path: string };

export type RouteLocation = { readonly route: Route; readonly query: Readonly<Record<string, string>> };

const SINGLE = [
  'approvals',
  'playground',
  'admin',
  'settings',
  'pair',
  'signed-in',
  'invitation',
  'welcome',
  'login',
] as const;

export function parseLocation(hash: string): RouteLocation {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  return { route: routeOf(path), query: Object.fromEntries(new URLSearchParams(search)) };
}

function routeOf(path: string): Route {
  const [first = '', ...rest] = path.replace(/^\/+|\/+$/g, '').split('/');
  const id = decodedUri(rest.join('/'));
  if (first === '' || (first === 'sessions' && id === '')) return { page: 'new' };
  if (id === null) return { page: 'unknown', path };
  if (first === 'sessions') return { page: 'session', id };
  if (first === 'timeline') return { page: 'timeline', id: id === '' ? null : id };
  const page = SINGLE.find((name) => name === first);
  return page === undefined || id !== '' ? { page: 'unknown', path } : { page };
}

/** The address of a location, for `href`. */
export function hrefOf(route: Route, query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#${pathOf(route)}${search === '' ? '' : `?${search}`}`;
}

function pathOf(route: Route): string {
  switch (route.page) {
    case 'new':
      return '/';
    case 'session':
      return `/sessions/${encodeURIComponent(route.id)}`;
    case 'timeline':
      return route.id === null ? '/timeline' : `/timeline/${encodeURIComponent(route.id)}`;
    case 'unknown':
      return route.path;
    default:
      return `/${route.page}`;
  }
}

/** The address of the login, which leads back to a location. */
export function signInHref({ route, query }: RouteLocation): string {
  const back = hrefOf(route, query).slice(1);
  return hrefOf({ page: 'login' }, back === '/' ? {} : { back });
}

/** Where the login leads. The address may come from anyone: it is always a page of the console. */
export function locationAfterLogin({ query }: RouteLocation): RouteLocation {
  const target = parseLocation(query.back ?? '');
  const { page } = target.route;
  return page === 'login' || page === 'unknown' ? parseLocation('') : target;
}

let current: { readonly hash: string; readonly location: RouteLocation } | null = null;

/** The same object until the address changes. */
export function currentLocation(): RouteLocation {
  const { hash } = location;
  if (current?.hash !== hash) current = { hash, location: parseLocation(hash) };
  return current.location;
}

export function go(
  route: Route,
  query?: Readonly<Record<string, string>>,
  how: 'push' | 'replace' = 'push',
): void {
  const href = hrefOf(route, query);
  if (how === 'push') location.hash = href;
  else location.replace(href);
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export const useLocation = (): RouteLocation => useSyncExternalStore(subscribe, currentLocation);
