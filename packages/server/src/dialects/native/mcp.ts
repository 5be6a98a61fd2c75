/** What users do with MCP servers themselves: prompts, resources, and signing in (links for the browser, and what it comes back with). */
import { Fault, type Principal } from '@parlance/protocol';
import {
  FinishedSignIn,
  McpAppFileRequest,
  McpAppRequest,
  McpPromptRequest,
  McpResourceRequest,
} from '@parlance/protocol/api';
import { requirePermission, type SigningIn } from '../../core/index.ts';
import { requireLogin } from '../../http/request-identity.ts';
import { type Call, endpoint, type NativeContext } from './context.ts';
import { setsUp } from './setup.ts';

/** For callers who may use tools. */
const USER = {
  allow: ({ principal }: { readonly principal: Principal }) => requirePermission(principal, 'chat:send'),
} as const;

/** A sign-in for everybody is part of the setup of the server; one for oneself is not. */
async function signingIn(call: Call, ctx: NativeContext): Promise<SigningIn> {
  const mayShare = await setsUp(call, ctx)
    .then(() => requireLogin(ctx.authenticator, call.request, 'sign in to an MCP server for everybody'))
    .then(
      () => true,
      (thrown) => {
        if (thrown instanceof Fault && (thrown.code === 'forbidden' || thrown.code === 'unauthenticated'))
          return false;
        throw thrown;
      },
    );
  return { user: call.principal.id, mayShare };
}

const EXAMPLE = { params: { name: 'tickets' } };

export const mcpUserEndpoints = [
  endpoint({
    ...USER,
    method: 'get',
    path: '/v1/mcp/offers',
    summary: 'The prompts and resources that MCP servers offer to the caller at this moment',
    answers: { 200: { description: 'By server', schema: 'McpOffers' } },
    errors: [401, 403],
    handle: ({ principal }, { administration }) => administration.mcpOffers.list(principal.id),
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/prompts',
    summary: 'The text of a prompt of an MCP server, for a message of the user',
    examples: () => [{ body: { server: 'tickets', name: 'summary', arguments: { ticket: '42' } } }],
    body: McpPromptRequest,
    answers: { 200: { description: 'The parts of the message', schema: 'McpParts' } },
    errors: [400, 401, 403, 404],
    handle: async ({ principal, body }, { administration }) => ({
      parts: await administration.mcpOffers.prompt(body.server, principal.id, body.name, body.arguments),
    }),
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/resources',
    summary:
      'A resource of an MCP server, as attachments of a message; text of servers that are not trusted is a page',
    examples: () => [{ body: { server: 'tickets', uri: 'tickets://42' } }],
    body: McpResourceRequest,
    answers: { 200: { description: 'The parts of the message', schema: 'McpParts' } },
    errors: [400, 401, 403, 404],
    handle: async ({ principal, body }, { administration }) => ({
      parts: await administration.mcpOffers.resource(body.server, principal.id, body.uri),
    }),
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/apps',
    summary: 'The app of an MCP server that shows the results of a tool',
    examples: () => [{ body: { tool: 'mcp_charts_draw' } }],
    body: McpAppRequest,
    answers: { 200: { description: 'The page, and what it may do', schema: 'McpApp' } },
    errors: [400, 401, 403, 404],
    handle: ({ principal, body }, { administration }) =>
      administration.mcpOffers.app(body.tool, principal.id),
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/apps/files',
    summary: 'A resource that an app reads from its server, as the server sends it',
    examples: () => [{ body: { tool: 'mcp_charts_draw', uri: 'charts://42' } }],
    body: McpAppFileRequest,
    answers: { 200: { description: 'The contents', schema: 'McpContents' } },
    errors: [400, 401, 403, 404],
    handle: ({ principal, body }, { administration }) =>
      administration.mcpOffers.appFile(body.tool, principal.id, body.uri),
  }),
  endpoint({
    ...USER,
    method: 'get',
    path: '/v1/mcp/sign-ins',
    summary: 'The MCP servers that each user signs in to, and whether the caller has',
    answers: { 200: { description: 'The servers', schema: 'McpSignInList' } },
    errors: [401, 403],
    handle: async ({ principal }, { administration }) => ({
      servers: await administration.mcpSignIns.of(principal.id),
    }),
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/sign-ins/{name}',
    summary: 'Begins to sign in to an MCP server: the link to open in a browser, which works once',
    examples: () => [EXAMPLE],
    answers: { 200: { description: 'The link', schema: 'McpSignInLink' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, request, params }, ctx) {
      const { administration, publicOriginOf } = ctx;
      const user = await signingIn({ principal, request }, ctx);
      return { link: await administration.mcpSignIns.begin(params.name, user, publicOriginOf(request)) };
    },
  }),
  endpoint({
    ...USER,
    method: 'delete',
    path: '/v1/mcp/sign-ins/{name}',
    summary: 'Signs out of an MCP server: its tokens are deleted here',
    examples: () => [EXAMPLE],
    answers: { 204: { description: 'Signed out' } },
    errors: [401, 403, 404],
    async handle({ principal, request, params }, ctx) {
      await ctx.administration.mcpSignIns.end(params.name, await signingIn({ principal, request }, ctx));
    },
  }),
  endpoint({
    ...USER,
    method: 'post',
    path: '/v1/mcp/sign-ins',
    summary: 'Ends a sign-in with what the browser came back with; only for the user who began it',
    examples: () => [{ body: { query: 'code=abc&state=def' } }],
    body: FinishedSignIn,
    answers: { 200: { description: 'Signed in', schema: 'McpSignedIn' } },
    errors: [400, 401, 403, 404],
    async handle({ principal, request, body }, ctx) {
      const user = await signingIn({ principal, request }, ctx);
      return { name: await ctx.administration.mcpSignIns.finish(user, new URLSearchParams(body.query)) };
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/mcp/signed-in',
    summary:
      'Where authorization servers send the browser back to: leads on to the console, which ends the sign-in',
    security: 'nobody',
    examples: () => [{ query: { code: 'abc', state: 'def' } }],
    answers: { 302: { description: 'To the console' } },
    handle({ request }) {
      // In the fragment, which no server and no log sees.
      const location = `/#/signed-in?${new URL(request.url).searchParams}`;
      const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
      return new Response(null, { status: 302, headers });
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/mcp/client.json',
    summary: 'This server as a client of authorization servers (OAuth Client ID Metadata Document)',
    security: 'nobody',
    answers: { 200: { description: 'The document', schema: 'McpClientDocument' } },
    handle: ({ request }, { administration, publicOriginOf }) =>
      administration.mcpSignIns.clientDocument(publicOriginOf(request)),
  }),
];
