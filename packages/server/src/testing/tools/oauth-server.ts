/** An MCP server that asks for a sign-in, and its authorization server, on two ports. */
import { createHash } from 'node:crypto';

type Tokens = {
  readonly access: string;
  readonly refresh: string;
  readonly scope: string;
  readonly user: string;
};

export type OAuthServer = Disposable & {
  /** of the MCP server */
  readonly url: string;
  readonly issuer: string;
  /** requests as `METHOD path`, in order, of both servers */
  readonly requests: string[];
  /** the headers of requests to the MCP server */
  readonly authorizations: (string | null)[];
  readonly registrations: object[];
  /** the forms that were sent to the token endpoint */
  readonly forms: Record<string, string>[];
  /** the tokens that are valid */
  readonly tokens: Tokens[];
  /** what a browser does at the link: the address that it is led back to */
  approve(link: string, user?: string): Promise<URL>;
};

export type OAuthBehaviour = {
  /** members of the metadata documents, which replace the usual ones */
  readonly resource?: object;
  readonly metadata?: object;
  /** instead of the issuer in the answer of the authorization endpoint; null: none */
  readonly iss?: string | null;
  /** a scope that `write` needs, in addition to that of the others */
  readonly writeScope?: string;
  readonly hasRefresh?: boolean;
};

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });

export function oauthServer(behaviour: OAuthBehaviour = {}): OAuthServer {
  const requests: string[] = [];
  const authorizations: (string | null)[] = [];
  const registrations: object[] = [];
  const forms: Record<string, string>[] = [];
  const tokens: Tokens[] = [];
  const codes = new Map<string, { challenge: string; redirect: string; scope: string; user: string }>();
  let user = 'ada';

  const issue = (scope: string, of: string): Tokens => {
    const made = {
      access: `access-${crypto.randomUUID()}`,
      refresh: `refresh-${crypto.randomUUID()}`,
      scope,
      user: of,
    };
    tokens.push(made);
    return made;
  };
  const answer = ({ access, refresh, scope }: Tokens) =>
    json({
      ...{ access_token: access, token_type: 'Bearer', expires_in: 3_600, scope },
      ...(behaviour.hasRefresh === false ? {} : { refresh_token: refresh }),
    });

  function token(form: Record<string, string>): Response {
    if (form.grant_type === 'refresh_token') {
      const at = tokens.findIndex(({ refresh }) => refresh === form.refresh_token);
      const [used] = at < 0 ? [] : tokens.splice(at, 1);
      return used ? answer(issue(used.scope, used.user)) : json({ error: 'invalid_grant' }, 400);
    }
    const code = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const proof = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (!code || code.redirect !== form.redirect_uri || proof !== code.challenge)
      return json({ error: 'invalid_grant' }, 400);
    return answer(issue(code.scope, code.user));
  }

  const authorizer = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request): Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      switch (pathname) {
        case '/.well-known/oauth-authorization-server':
          return json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            authorization_response_iss_parameter_supported: true,
            ...behaviour.metadata,
          });
        case '/register': {
          const wanted = (await request.json()) as object;
          registrations.push(wanted);
          return json(
            { ...wanted, client_id: `client-${registrations.length}`, token_endpoint_auth_method: 'none' },
            201,
          );
        }
        case '/authorize': {
          const redirect = searchParams.get('redirect_uri') ?? '';
          const code = crypto.randomUUID();
          const [challenge, scope] = [
            searchParams.get('code_challenge') ?? '',
            searchParams.get('scope') ?? '',
          ];
          codes.set(code, { challenge, redirect, scope, user });
          const iss = behaviour.iss === undefined ? issuer : behaviour.iss;
          const back = new URL(redirect);
          back.search = String(
            new URLSearchParams({
              code,
              state: searchParams.get('state') ?? '',
              ...(iss === null ? {} : { iss }),
            }),
          );
          return Response.redirect(back.href, 302);
        }
        case '/token': {
          const form = Object.fromEntries(new URLSearchParams(await request.text()));
          forms.push(form);
          return token(form);
        }
        default:
          return json({}, 404);
      }
    },
  });
  const issuer: string = `http://127.0.0.1:${authorizer.port}`;

  const resource = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request): Promise<Response> {
      const { pathname } = new URL(request.url);
      requests.push(`${request.method} ${pathname}`);
      if (pathname === '/.well-known/oauth-protected-resource/mcp')
        return json({ resource: url, authorization_servers: [issuer], ...behaviour.resource });
      if (pathname !== '/mcp') return json({}, 404);
      const given = request.headers.get('authorization');
      authorizations.push(given);
      const known = tokens.find(({ access }) => given === `Bearer ${access}`);
      const challenge = `resource_metadata="http://127.0.0.1:${resource.port}/.well-known/oauth-protected-resource/mcp"`;
      if (!known) return json({}, 401, { 'www-authenticate': `Bearer scope="read", ${challenge}` });
      if (request.method !== 'POST') return json({}, 405);
      const message = (await request.json()) as { id?: number; method: string; params?: { name?: string } };
      if (message.id === undefined) return new Response(null, { status: 202 });
      const scope = behaviour.writeScope;
      if (message.params?.name === 'write' && scope && !known.scope.split(' ').includes(scope))
        return json({}, 403, {
          'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}", ${challenge}`,
        });
      const result = resultOf(message.method, known.user);
      const outcome = result ? { result } : { error: { code: -32_601, message: 'unknown method' } };
      return json({ jsonrpc: '2.0', id: message.id, ...outcome });
    },
  });
  const url: string = `http://127.0.0.1:${resource.port}/mcp`;

  return {
    ...{ url, issuer, requests, authorizations, registrations, forms, tokens },
    async approve(link, as = 'ada') {
      user = as;
      const response = await fetch(link, { redirect: 'manual' });
      return new URL(response.headers.get('location') ?? '');
    },
    [Symbol.dispose]() {
      void authorizer.stop(true);
      void resource.stop(true);
    },
  };
}

function resultOf(method: string, user: string): object | null {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'tickets', version: '1' },
    };
  if (method === 'tools/list')
    return { tools: ['whoami', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })) };
  return method === 'tools/call' ? { content: [{ type: 'text', text: user }] } : null;
}
