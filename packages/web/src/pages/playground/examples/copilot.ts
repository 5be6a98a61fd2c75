/** Requests of the copilot contract, which has no socket: each is a frame, and so is its answer. */
import type { Example, Known } from './example.ts';

const NO_SESSION = '00000000-0000-4000-8000-000000000000';
const sessionOf = ({ session }: Known): string => session || NO_SESSION;

/** `type` has the parts that vary in braces, as the description of the API has them. */
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

/** Elements are numbered, so that an action can name one. */
const PAGE = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

const INTERACT = 'POST /api/agent/interact';
const interact = () => '/api/agent/interact';

export const COPILOT: readonly Example[] = [
  request(INTERACT, 'Begin a task on a page', interact, (known) => ({
    query: QUERY,
    url: 'https://shop.example/',
    dom: PAGE,
    sessionId: sessionOf(known),
  })),
  request(INTERACT, 'Say that the last action went well', interact, (known) => ({
    query: QUERY,
    url: 'https://shop.example/',
    dom: PAGE,
    sessionId: sessionOf(known),
    taskId: known.task ?? NO_SESSION,
    lastActionStatus: 'success',
  })),
  request(
    'GET /api/session/{sessionId}/task/active',
    'The task that is under way',
    (known) => `/api/session/${sessionOf(known)}/task/active?url=https%3A%2F%2Fshop.example%2F`,
  ),
  request(
    'GET /api/session/{sessionId}/messages',
    'What was said',
    (known) => `/api/session/${sessionOf(known)}/messages?limit=50`,
  ),
  request('GET /api/session', 'The sessions', () => '/api/session?limit=20'),
  request(
    'POST /api/session',
    'Put a session away',
    () => '/api/session',
    (known) => ({ sessionId: sessionOf(known) }),
  ),
  request(
    'POST /api/session/init',
    'Begin a session',
    () => '/api/session/init',
    (known) => ({ sessionId: sessionOf(known), url: 'https://shop.example/' }),
  ),
  request('GET /api/session/latest', 'The session of last time', () => '/api/session/latest'),
  request(
    'GET /api/session/by-domain/{domain}',
    'The session of a site',
    () => '/api/session/by-domain/shop.example',
  ),
  request('GET /api/session/{sessionId}', 'One session', (known) => `/api/session/${sessionOf(known)}`),
  request(
    'PATCH /api/session/{sessionId}',
    'Give it a title',
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
  request('GET /api/v1/user/preferences', 'What the user has chosen', () => '/api/v1/user/preferences'),
  request(
    'POST /api/v1/user/preferences',
    'Choose the dark theme',
    () => '/api/v1/user/preferences',
    () => ({ theme: 'dark' }),
  ),
  request(
    'GET /api/knowledge/resolve',
    'What is known of a site',
    () => '/api/knowledge/resolve?url=https%3A%2F%2Fshop.example%2F',
  ),
];
