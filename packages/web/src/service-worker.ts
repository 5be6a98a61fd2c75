/**
 * Opens the console while its server cannot be reached. Keeps the page and what it loads at once, and nothing else:
 * answers of the server are never stored. A new build is shown by the next reload, because the page itself is always
 * asked for first.
 */

/** by the build: the files, and a name that changes with them */
declare const SHELL: { readonly name: string; readonly files: readonly string[] };

type Lasting = Event & { waitUntil(work: Promise<unknown>): void };
type Fetching = Event & { readonly request: Request; respondWith(response: Promise<Response>): void };
const worker = self as unknown as { skipWaiting(): Promise<void> };

const PREFIX = 'parlance-shell-';
const CACHE = PREFIX + SHELL.name;

addEventListener('install', (event) => (event as Lasting).waitUntil(store()));
addEventListener('activate', (event) => (event as Lasting).waitUntil(forgetOlder()));
addEventListener('fetch', (event) => answer(event as Fetching));

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
