/** The page of docs/dialects/aisdk.md, bundled and served as documented. */
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** React in development mode runs every effect twice, so a page resumes twice. */
const MAIN = `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat, loadChat } from './chat.tsx';

const id = new URLSearchParams(location.search).get('id') ?? '';
const messages = await loadChat(id);
createRoot(document.body).render(<StrictMode><Chat id={id} messages={messages} /></StrictMode>);
`;

const HTML = '<!doctype html><title>Chat</title><body></body><script type="module" src="/main.js"></script>';

async function documented(): Promise<string> {
  const text = await Bun.file(join(ROOT, 'docs/dialects/aisdk.md')).text();
  const [, code] = /^```tsx\n(.*?)^```$/ms.exec(text) ?? [];
  if (code === undefined) throw new Error('the page of the documentation is missing');
  return code;
}

/** `api` replaces the address in the documentation. */
async function bundle(api: string): Promise<string> {
  const chat = (await documented()).replace("const api = '/api/chat'", `const api = '${api}'`);
  if (!chat.includes(`const api = '${api}'`)) throw new Error('the documentation has no address to replace');
  const main = join(import.meta.dir, 'main.tsx');
  const { outputs } = await Bun.build({
    entrypoints: [main],
    files: { [main]: MAIN, [join(import.meta.dir, 'chat.tsx')]: chat },
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  return (await outputs[0]?.text()) ?? '';
}

export type ServedPage = { readonly http: string; stop(): Promise<void> };

/** With `proxied`, requests to `/api/chat` are proxied like in Next.js; otherwise the page calls the server directly. */
export async function servePage(server: { readonly http: string }, proxied: boolean): Promise<ServedPage> {
  const script = await bundle(proxied ? '/api/chat' : `${server.http}/api/chat`);
  const page = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/main.js')
        return new Response(script, { headers: { 'content-type': 'text/javascript' } });
      if (!pathname.startsWith('/api/chat'))
        return new Response(HTML, { headers: { 'content-type': 'text/html' } });
      const { method, headers, body, signal } = request;
      return fetch(server.http + pathname, { method, headers, body, signal });
    },
  });
  return { http: `http://127.0.0.1:${page.port}`, stop: () => page.stop(true) };
}
