/**
 * How a dialect describes itself. OpenAPI, AsyncAPI, the reference part of the docs, the console's playground and guide,
 * the isolation walk and the fuzzer derive from it.
 */
import { z } from 'zod';

/** The ids in an example. Documents show `EXAMPLE_IDS`; the isolation walk uses those of another user. */
export type ExampleIds = Readonly<
  Record<
    | 'owner'
    | 'session'
    | 'turn'
    | 'approval'
    | 'hash'
    | 'call'
    | 'grant'
    | 'key'
    | 'pairing'
    | 'code'
    | 'response'
    | 'task'
    | 'site'
    | 'execution'
    | 'socket',
    string
  >
>;

export const EXAMPLE_IDS: ExampleIds = {
  owner: 'ada.lovelace',
  session: '3f0c1a52-6d0e-4b8e-9a55-0c5f6f2f9d10',
  turn: '8c1f7a0e-52e4-4c58-8f0b-6f4c2d1b7e93',
  approval: 'b7d6a3de-0c44-4f0c-9f5e-3a1c8d2e6f70',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  call: 'call_1',
  grant: 'shell: touch',
  key: '0f8VqQ3mZr5TgY7u',
  pairing: '7Hd2Lk9QwX4vB6mN',
  code: 'WDJB-MJHT',
  response: 'resp_2_0c5f6f2f_3f0c1a526d0e4b8e9a550c5f6f2f9d10',
  task: '5b9e4c1d-7a36-4f2d-8c0b-1e6f3a9d2c47',
  site: 'shop.example',
  execution: 'exec_1700000000000_abcdefghi',
  socket: '123.456',
};

/** What the examples of requests and messages have in common. */
type ExampleMarks = {
  /** The guide shows it: what a client may send first. */
  readonly first?: true;
  /** Must be refused or ignored: used by the isolation walk and the fuzzer, never shown. */
  readonly probe?: true;
};

/** An id that the server hands out: examples that name it are filled in with it. */
export type LearnedId = {
  readonly id: keyof ExampleIds;
  /** the path in the frame, such as `payload.requestId`; JSON in a string is parsed */
  readonly at: string;
  /** the part of the text that is the id, as a regular expression; default: all of it */
  readonly match?: string;
};

/** Examples about these ids; the first is the one that documents show. */
export type Examples<Example> = (ids: ExampleIds) => readonly [Example, ...Example[]];

// HTTP

/** Who may call: `token` always needs one, `caller` only if the server does, `signed` is signed as Pusher signs. */
export type Security = 'nobody' | 'caller' | 'token' | 'signed';

export type Answer = {
  readonly description: string;
  /** absent if there is no body */
  readonly schema?: z.ZodType;
  /** default: `application/json` */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answers = Readonly<Record<number, Answer | readonly Answer[]>>;

export type RequestExample = ExampleMarks & {
  readonly title?: string;
  /** values of the path parameters */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** creates the session if there is none of that id */
  readonly creates?: true;
  /** returns server-sent events */
  readonly stream?: true;
};

export type Endpoint = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** with `{name}` for each path parameter */
  readonly path: string;
  readonly summary: string;
  readonly security: Security;
  /** schemas of the path parameters; default: any string */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** default: `application/json` */
  readonly bodyTypes?: readonly string[];
  readonly answers: Answers;
  /** needed if the path has parameters or there is a body */
  readonly examples?: Examples<RequestExample>;
  /** `forbidden`: data of another user is answered with 403. Default: like missing data */
  readonly foreign?: 'forbidden';
  /** the answer has figures that change without a request */
  readonly changing?: true;
  /** the caller's token is worth nothing afterwards */
  readonly revokesToken?: true;
  /** the ids in its answer */
  readonly ids?: readonly LearnedId[];
};

// WebSocket

export type InboundMessage = {
  readonly summary: string;
  /** the schema that the dialect parses with */
  readonly schema: z.ZodType;
  readonly examples: Examples<MessageExample>;
};

export type MessageExample = ExampleMarks & {
  readonly title: string;
  readonly frame: object;
  /** of a frame that starts a turn: the outbound message with which the turn ends, or waits for the client */
  readonly endedBy?: string;
  /** a request whose answer has fields that belong into the frame, such as a signature */
  readonly before?: { readonly path: string; readonly body: object; readonly into: string };
};

export type OutboundMessage = {
  readonly summary: string;
  /** strict, and proved against the golden files */
  readonly schema: z.ZodType;
  readonly example: object;
  readonly ids?: readonly LearnedId[];
};

/** The addresses are those of `listen`. */
export type SocketDescription = {
  /** the field that has a message's name */
  readonly nameField: 'type' | 'event' | 'method';
  /** values of the path parameters with default settings */
  readonly params?: Readonly<Record<string, string>>;
  /** what a client says in the query, beside session and token */
  readonly query?: Readonly<Record<string, string>>;
  /** the first exchange: the inbound message that a client sends, if any, and the outbound message it waits for */
  readonly greeting?: { readonly send?: string; readonly receive: string };
};

/** The name of a message. An answer of JSON-RPC has none, and is called `result` or `error`. */
export const messageName = (
  { nameField }: Pick<SocketDescription, 'nameField'>,
  frame: Readonly<Record<string, unknown>>,
): string => String(frame[nameField] ?? ('error' in frame ? 'error' : 'result'));

/** A program or a configuration file for the guide. `{{origin}}` is the server, `{{sockets}}` where its sockets are, `{{key}}` a path parameter. */
export type Script = {
  readonly title: string;
  readonly language: 'js' | 'ts' | 'python' | 'json' | 'toml' | 'sh';
  readonly code: string;
};

export type Description = {
  /** the kind of client */
  readonly title: string;
  readonly summary: string;
  /** what a user of such a client has to know to connect it */
  readonly note?: string;
  /** a token is needed in open mode as well */
  readonly needsToken?: true;
  readonly scripts?: readonly Script[];
  readonly endpoints: readonly Endpoint[];
  /** The endpoint that takes commands to a session, if the dialect has the API of the SDK; ids are those of its events. */
  readonly commands?: {
    readonly path: string;
    readonly ids: Readonly<Record<string, readonly LearnedId[]>>;
  };
  /** both are absent if the dialect has no sockets */
  readonly socket?: SocketDescription;
  readonly messages?: {
    readonly in: Readonly<Record<string, InboundMessage>>;
    readonly out: Readonly<Record<string, OutboundMessage>>;
  };
};

// Schemas

/** The schemas that have a name in the documents. */
export const COMPONENTS = z.registry<{ id: string }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  COMPONENTS.add(schema, { id });
  return schema;
}

/** The schema with the name of the message beside it. */
export const typed = <Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  { shape }: z.ZodObject<Shape>,
) => z.object({ ...shape, type: z.literal(type) });
