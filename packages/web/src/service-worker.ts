/**
 * Opens the console while its server cannot be reached, and the session of a notification that is clicked. Keeps the page and its scripts, and nothing else:
 * answers of the server are never stored. A new build is shown by the next reload, because the page itself is always
 * asked for first.
 */

/** by the build: the files, and a name that changes with them */
declare const SHELL: { readonly name: string; readonly files: readonly string[] };

type ExtendableEvent = Event & { waitUntil(work: Promise<unknown>): void };
type Fetching = Event & { readonly request: Request; respondWith(response: Promise<Response>): void };
type Clicked = ExtendableEvent & {
  readonly notification: Notification & { readonly data: { readonly session: string } };
};
type Tab = { readonly url: string; focus(): Promise<unknown>; postMessage(message: unknown): void };
type Tabs = {
  matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly Tab[]>;
  openWindow(url: string): Promise<unknown>;
};
const worker = self as unknown as { skipWaiting(): Promise<void>; readonly clients: Tabs };

const PREFIX = 'parlance-shell-';
const CACHE = PREFIX + SHELL.name;

addEventListener('install', (event) => (event as ExtendableEvent).waitUntil(store()));
addEventListener('activate', (event) => (event as ExtendableEvent).waitUntil(forgetOlder()));
addEventListener('fetch', (event) => answer(event as Fetching));
addEventListener('notificationclick', (event) => {
  const { notification } = event as Clicked;
  notification.close();
  (event as Clicked).waitUntil(openSession(notification.data.session));
});

async function store(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([...SHELL.files]);
  await worker.skipWaiting();
}

async function forgetOlder(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** Requests that are not for the shell go to the server as if there were no worker. */
function answer(event: Fetching): void {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin || !SHELL.files.includes(pathname)) return;
  event.respondWith(pathname === '/' ? newest(request) : kept(request));
}

async function newest(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (thrown) {
    const page = await find('/');
    if (page) return page;
    throw thrown;
  }
}

/** Their names change with their content. */
const kept = async (request: Request): Promise<Response> =>
  (await find(request.url)) ?? (await fetch(request));

/** What varies with the request, such as the encoding, is undone when a response is stored. */
const find = async (url: string): Promise<Response | undefined> =>
  (await caches.open(CACHE)).match(url, { ignoreVary: true });

/** In the tab that was used last, or in a new one. */
async function openSession(session: string): Promise<void> {
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  // The server has other pages, such as the documentation.
  const tab = tabs.find(({ url }) => new URL(url).pathname === '/');
  if (tab === undefined) {
    await worker.clients.openWindow(`/#/sessions/${encodeURIComponent(session)}`);
    return;
  }
  tab.postMessage({ type: 'session.open', session });
  await tab.focus();
}
