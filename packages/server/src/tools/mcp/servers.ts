/** Schema of the MCP servers in the config file, under "mcpServers". Messages continue a sentence and quote no value. */
import { z } from 'zod';
import { messageOf } from '../../lib/schema-messages.ts';

const texts = (what: string) =>
  z.record(z.string(), z.string(`must hold ${what} as text`), `must be ${what} by name`);

const common = {
  /** its results do not count as untrusted content */
  trusted: z.boolean('must be true or false').default(false),
  /** per call, in milliseconds */
  timeoutMs: z
    .number('must be a number of milliseconds')
    .int('must be a whole number of milliseconds')
    .min(1_000, 'must be at least 1000')
    .max(3_600_000, 'must be at most 3600000')
    .default(60_000),
  /** tools, as the server names them, that no agent is offered */
  disabledTools: z.array(z.string('must be a list of texts'), 'must be a list of texts').optional(),
};

const StdioServer = z.strictObject({
  command: z.string('must be a program').min(1, 'must be a program'),
  args: z.array(z.string('must be a list of texts'), 'must be a list of texts').default([]),
  /** in addition to the few variables that every server receives; see `transport.ts` */
  env: texts('variables').default({}),
  cwd: z.string('must be a folder').min(1, 'must be a folder').optional(),
  ...common,
});

const OAuth = z
  .strictObject({
    clientId: z.string('must be a text').min(1, 'must be a text').optional(),
    clientSecret: z.string('must be a text').min(1, 'must be a text').optional(),
    /** the authorization server that the client belongs to */
    issuer: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    scope: z.string('must be scopes with spaces between them').optional(),
  })
  // Otherwise the MCP server could name another one, which would get the secret.
  .refine(({ clientSecret, issuer }) => clientSecret === undefined || issuer !== undefined, {
    message: 'must have an issuer with the clientSecret',
  });

const HttpServer = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  headers: texts('headers').default({}),
  /** who signs in if the server asks for it: one person for all users, or each user */
  signIn: z.enum(['server', 'user'], 'must be server or user').default('server'),
  /** for authorization servers that do not register clients by themselves */
  oauth: OAuth.optional(),
  ...common,
});

const McpServer = z
  .looseObject({}, 'must have a command or a url')
  .transform((raw, context): z.output<typeof StdioServer> | z.output<typeof HttpServer> => {
    const refuse = (message: string, path: PropertyKey[] = []) => {
      context.addIssue({ code: 'custom', message, path });
      return z.NEVER;
    };
    if ('command' in raw === 'url' in raw) return refuse('must have either a command or a url');
    const parsed = ('url' in raw ? HttpServer : StdioServer).safeParse(raw, { error: messageOf });
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    return refuse(issue?.message ?? 'cannot be read', issue?.path);
  });
export type McpServer = z.output<typeof McpServer>;

export const McpServers = z.record(
  z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'must have names of 1 to 32 letters, digits, _ or -'),
  McpServer,
  'must be servers by name',
);
export type McpServers = z.output<typeof McpServers>;
