/** What the server speaks, for the playground and the guide of the console. */
import { z } from 'zod';

const Text = z.record(z.string(), z.string());
const Body = z.record(z.string(), z.json());

export const DialectExample = z.object({
  title: z.string(),
  frame: Body.describe('a message; for a dialect without sockets a command or {method, path, body}'),
  before: z
    .object({
      path: z.string(),
      body: Body,
      into: z.string().describe('the field of the frame that receives the fields of the response'),
    })
    .nullable()
    .describe('a POST request whose response completes the frame'),
});
export type DialectExample = z.infer<typeof DialectExample>;

export const DialectMessage = z.object({
  name: z.string(),
  summary: z.string(),
  examples: z.array(DialectExample),
});
export type DialectMessage = z.infer<typeof DialectMessage>;

export const DialectSocket = z.object({
  addresses: z
    .array(z.object({ address: z.string(), condition: z.string().nullable() }))
    .describe('paths with `{name}` for each parameter; the first is the dialect’s own'),
  params: Text.describe('values of the path parameters'),
  query: Text.describe('other query parameters than session and token'),
  anonymous: z.boolean().describe('the handshake carries no token and no session'),
  greeting: z.string().nullable().describe('the message that a client sends first'),
  elsewhere: z.string().nullable().describe('the origin of another server that serves the sockets'),
});
export type DialectSocket = z.infer<typeof DialectSocket>;

export const DialectSnippet = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('socket'), title: z.string(), frames: z.array(Body) }),
  z.object({
    kind: z.literal('request'),
    title: z.string(),
    method: z.string(),
    path: z.string(),
    body: Body.nullable(),
    needsToken: z.boolean(),
    stream: z.boolean().describe('the response is a stream of server-sent events'),
  }),
  z.object({
    kind: z.literal('script'),
    title: z.string(),
    language: z.enum(['js', 'ts', 'python', 'json', 'toml', 'sh']),
    code: z
      .string()
      .describe('`{{origin}}` stands for the server, `{{sockets}}` for the origin of its sockets'),
  }),
]);
export type DialectSnippet = z.infer<typeof DialectSnippet>;

export const DialectId = z.object({
  message: z.string().nullable().describe('null: any'),
  id: z.string(),
  at: z.string().describe('the path to it, such as `payload.requestId`'),
  match: z.string().nullable().describe('a regular expression, if only a part is the id'),
});
export type DialectId = z.infer<typeof DialectId>;

export const Dialect = z.object({
  name: z.string(),
  title: z.string().describe('the kind of client'),
  summary: z.string(),
  note: z.string().nullable().describe('a note on connecting such a client'),
  needsToken: z.boolean().describe('in open mode as well'),
  transport: z
    .enum(['socket', 'commands', 'requests'])
    .describe('how messages are sent: on a socket, as commands to a session, or as requests'),
  http: z.array(z.string()).describe('HTTP paths; `/*` stands for everything below'),
  socket: DialectSocket.nullable(),
  messages: z.array(DialectMessage),
  ids: z.array(DialectId).describe('ids from server messages that the examples use'),
  snippets: z.array(DialectSnippet).describe('the first steps of a client'),
});
export type Dialect = z.infer<typeof Dialect>;

export const DialectList = z.object({
  ids: Text.describe('the ids in the examples, to be replaced'),
  dialects: z.array(Dialect),
});
export type DialectList = z.infer<typeof DialectList>;
