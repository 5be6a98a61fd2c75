import { expect, test } from 'bun:test';
import { hrefOf, locationAfterLogin, parseLocation, type Route, signInHref } from './router.ts';

test('every location round-trips through its address', () => {
  const routes: Route[] = [
    { page: 'new' },
    { page: 'session', id: 'a' },
    { page: 'session', id: 'ä/b c?d#e%' },
    { page: 'timeline', id: null },
    { page: 'timeline', id: 'x/y' },
    { page: 'approvals' },
    { page: 'playground' },
    { page: 'admin' },
    { page: 'welcome' },
    { page: 'login' },
  ];
  for (const route of routes) expect(parseLocation(hrefOf(route)).route).toEqual(route);
});

test('an empty address is a new session', () => {
  for (const hash of ['', '#', '#/', '#/sessions', '#/sessions/'])
    expect(parseLocation(hash).route).toEqual({ page: 'new' });
});

test('the query is separate from the location', () => {
  expect(parseLocation(hrefOf({ page: 'playground' }, { left: 'agentloop', session: 'a b' }))).toEqual({
    route: { page: 'playground' },
    query: { left: 'agentloop', session: 'a b' },
  });
});

test('an unknown address is reported as unknown', () => {
  for (const hash of ['#/nowhere', '#/approvals/7', '#/sessions/%E0%A4%A'])
    expect(parseLocation(hash).route.page).toBe('unknown');
});

test('the login leads back to the location that it was opened from', () => {
  for (const hash of ['#/', '#/admin?section=users', '#/sessions/%C3%A4%2Fb%3Fc%23d', '#/pair?code=A+B'])
    expect(locationAfterLogin(parseLocation(signInHref(parseLocation(hash))))).toEqual(parseLocation(hash));
});

test('the login leads to no other site, to no unknown page and not to itself', () => {
  for (const back of [
    'https://example.com/',
    '//example.com',
    '\\\\example.com',
    'javascript:alert(1)',
    '/login',
    '%',
  ])
    expect(locationAfterLogin(parseLocation(hrefOf({ page: 'login' }, { back })))).toEqual(
      parseLocation('#/'),
    );
});
