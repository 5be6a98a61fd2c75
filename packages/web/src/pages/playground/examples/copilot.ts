/** Requests of the copilot contract, which has no socket: a request is a frame, and so is its response. */
import type { Example, Known } from './example.ts';

const NO_SESSION = '00000000-0000-4000-8000-000000000000';
const sessionOf = ({ session }: Known): string => session || NO_SESSION;

/** `type` has path parameters in braces, as in the OpenAPI description. */
const request = (
  type: string,
  title: string,
  path: (known: Known) => string,
  body?: (known: Known) => object,
): Example => ({
  type,
  title,
  frame: (known) => ({
    method: type.split(' ')[0],
    path: path(known),
    ...(body === undefined ? {} : { body: body(known) }),
  }),
});

/** Elements are numbered, so that an action can refer to one. */
const PAGE = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

const INTERACT = 'POST /api/agent/interact';
const interact = () => '/api/agent/interact';

export const COPILOT: readonly Example[] = [
  request(INTERACT, 'Start a task on a page', interact, (known) => ({
    query: QUERY,
    url: 'https://shop.example/',
    dom: PAGE,
    sessionId: sessionOf(known),
  })),
  request(INTERACT, 'Report that the last action succeeded', interact, (known) => ({
    query: QUERY,
    url: 'https://shop.example/',
    dom: PAGE,
    sessionId: sessionOf(known),
    taskId: known.task ?? NO_SESSION,
    lastActionStatus: 'success',
  })),
  request(
    'GET /api/session/{sessionId}/task/active',
    'Get the current task',
    (known) => `/api/session/${sessionOf(known)}/task/active?url=https%3A%2F%2Fshop.example%2F`,
  ),
  request(
    'GET /api/session/{sessionId}/messages',
    'List messages',
    (known) => `/api/session/${sessionOf(known)}/messages?limit=50`,
  ),
  request('GET /api/session', 'List sessions', () => '/api/session?limit=20'),
  request(
    'POST /api/session',
    'Archive a session',
    () => '/api/session',
    (known) => ({ sessionId: sessionOf(known) }),
  ),
  request(
    'POST /api/session/init',
    'Start a session',
    () => '/api/session/init',
    (known) => ({ sessionId: sessionOf(known), url: 'https://shop.example/' }),
  ),
  request('GET /api/session/latest', 'Get the latest session', () => '/api/session/latest'),
  request(
    'GET /api/session/by-domain/{domain}',
    'Get the session of a site',
    () => '/api/session/by-domain/shop.example',
  ),
  request('GET /api/session/{sessionId}', 'Get a session', (known) => `/api/session/${sessionOf(known)}`),
  request(
    'PATCH /api/session/{sessionId}',
    'Rename',
    (known) => `/api/session/${sessionOf(known)}`,
    () => ({ title: 'Lamps' }),
  ),
  request(
    'POST /api/v1/auth/login',
    'Log in',
    () => '/api/v1/auth/login',
    () => ({ email: 'name', password: 'password' }),
  ),
  request('GET /api/v1/auth/session', 'Who am I?', () => '/api/v1/auth/session'),
  request('POST /api/v1/auth/logout', 'Log out: ends the token of this pane', () => '/api/v1/auth/logout'),
  request('GET /api/v1/user/preferences', 'Get user preferences', () => '/api/v1/user/preferences'),
  request(
    'POST /api/v1/user/preferences',
    'Set the dark theme',
    () => '/api/v1/user/preferences',
    () => ({ theme: 'dark' }),
  ),
  request(
    'GET /api/knowledge/resolve',
    'Get knowledge of a site',
    () => '/api/knowledge/resolve?url=https%3A%2F%2Fshop.example%2F',
  ),
];
