/** Calls the endpoints of the copilot contract. */
import { startTestServer, type TestServer } from './server.ts';

export type Json = Record<string, unknown>;
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json };

type Request = { readonly method: string; readonly path: string; readonly body?: unknown };

export type TestApi = {
  readonly server: TestServer;
  /** `name` null: no token; a name without a user is sent as the token. */
  ask(name: string | null, request: Request): Promise<Answer>;
  get(name: string | null, path: string): Promise<Answer>;
  post(name: string | null, path: string, body: unknown): Promise<Answer>;
  stop(): Promise<void>;
};

/** Ada is an admin; dev and uma are not. */
export async function startTestApi(settings: Record<string, string> = {}): Promise<TestApi> {
  const server = await startTestServer(settings);
  const tokens = new Map<string, string>();
  for (const name of ['ada', 'dev', 'uma']) tokens.set(name, await server.login(name, `${name}-password`));

  async function ask(name: string | null, { method, path, body }: Request): Promise<Answer> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (name !== null) headers.authorization = `Bearer ${tokens.get(name) ?? name}`;
    const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const response = await fetch(server.http + path, { method, headers, body: sent });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? {} : (JSON.parse(text) as Json),
    };
  }

  return {
    server,
    ask,
    get: (name, path) => ask(name, { method: 'GET', path }),
    post: (name, path, body) => ask(name, { method: 'POST', path, body }),
    stop: () => server.stop(),
  };
}
