/**
 * The description of a dialect. OpenAPI, AsyncAPI, the reference docs, the console's playground and guide, the
 * isolation tests and the fuzzer are derived from it.
 */
import { z } from 'zod';

/** The ids in an example. Documents show `EXAMPLE_IDS`; the isolation tests use ids of another user. */
export type ExampleIds = Readonly<
  Record<
    | 'owner'
    | 'session'
    | 'input'
    | 'turn'
    | 'approval'
    | 'hash'
    | 'call'
    | 'grant'
    | 'key'
    | 'pairing'
    | 'question'
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
  input: '6e2d9b47-0a5c-4f18-b3d2-94c7e1a8f605',
  turn: '8c1f7a0e-52e4-4c58-8f0b-6f4c2d1b7e93',
  question: '4d2b8c6e-1f3a-4e57-9b0c-7a6d5e4f3c21',
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

/** Fields that examples of requests and of messages share. */
type ExampleMarks = {
  /** A message that a client may send first; shown in the guide. */
  readonly first?: true;
  /** Must be refused or ignored: used by the isolation tests and the fuzzer, never shown. */
  readonly probe?: true;
};

/** An id that the server assigns; examples that contain it are updated with the real value. */
export type LearnedId = {
  readonly id: keyof ExampleIds;
  /** the path in the frame, such as `payload.requestId`; JSON in a string is parsed */
  readonly at: string;
  /** the part of the text that is the id, as a regular expression; default: all of it */
  readonly match?: string;
};

/** Examples with these ids; documents show the first. */
export type Examples<Example> = (ids: ExampleIds) => readonly [Example, ...Example[]];

// HTTP

/**
 * Who may call: `token` always needs a token, `caller` only if the server requires one, `signed` needs a Pusher
 * signature.
 */
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
  /** creates the session if it does not exist */
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
  /** the answer has values that change without a request */
  readonly changing?: true;
  /** revokes the caller's token */
  readonly revokesToken?: true;
  /** ids in the answer */
  readonly ids?: readonly LearnedId[];
};

/** Schemas that endpoints name, and the answers of failed requests by status. */
export type EndpointAnswers = {
  readonly schemas?: Readonly<Record<string, unknown>>;
  readonly errors?: Readonly<Record<number, Answer>>;
};

/** Descriptions of failures by status, which have the same schema. */
export const errorAnswers = (
  descriptions: Readonly<Record<number, string>>,
  answer: Omit<Answer, 'description'>,
): Record<number, Answer> =>
  Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [status, { ...answer, description }]),
  );

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
  /**
   * for a frame that starts a turn: the outbound message that ends the turn, or with which it waits for the
   * client
   */
  readonly endedBy?: string;
  /** a request whose answer has fields for the frame, such as a signature */
  readonly before?: { readonly path: string; readonly body: object; readonly into: string };
};

export type OutboundMessage = {
  readonly summary: string;
  /** strict, and checked against the golden files */
  readonly schema: z.ZodType;
  readonly example: object;
  readonly ids?: readonly LearnedId[];
};

export type OutboundMessages = Readonly<Record<string, OutboundMessage>>;

/**
 * The type of the frames that a dialect sends. The messages are made by a function, so that a server without requests for
 * descriptions makes no schema of them.
 */
export type BodyOf<Messages extends () => OutboundMessages> = Frozen<
  z.output<ReturnType<Messages>[keyof ReturnType<Messages>]['schema']>
>;

export type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/** The addresses are those of `listen`. */
export type SocketDescription = {
  /** the field with the name of a message */
  readonly nameField: 'type' | 'event' | 'method';
  /** path parameters with default settings */
  readonly params?: Readonly<Record<string, string>>;
  /** query parameters beside session and token */
  readonly query?: Readonly<Record<string, string>>;
  /** the first exchange: the message that a client sends, if any, and the message it waits for */
  readonly greeting?: { readonly send?: string; readonly receive: string };
};

/** The name of a message. JSON-RPC responses have none; they are called `result` or `error`. */
export const messageName = (
  { nameField }: Pick<SocketDescription, 'nameField'>,
  frame: Readonly<Record<string, unknown>>,
): string => String(frame[nameField] ?? ('error' in frame ? 'error' : 'result'));

/**
 * A program or a configuration file for the guide. `{{origin}}` is the origin of the server, `{{sockets}}` that
 * of its sockets, `{{key}}` a path parameter.
 */
export type Script = {
  readonly title: string;
  readonly language: 'js' | 'ts' | 'python' | 'json' | 'toml' | 'sh';
  readonly code: string;
};

export type Description = EndpointAnswers & {
  /** the kind of client */
  readonly title: string;
  readonly summary: string;
  /** how to connect such a client */
  readonly note?: string;
  /** needs a token in open mode as well */
  readonly needsToken?: true;
  readonly scripts?: readonly Script[];
  /**
   * The endpoint for commands to a session, if the dialect has the API of the SDK; the ids are in its events.
   */
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

/** Schemas with a name in the documents. */
export const COMPONENTS = z.registry<{ id: string }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  COMPONENTS.add(schema, { id });
  return schema;
}

/** Gives the schemas the names of their keys. */
export function nameSchemas(schemas: Readonly<Record<string, z.ZodType>>): void {
  for (const [name, schema] of Object.entries(schemas)) named(name, schema);
}

/** Adds the message name to the schema. */
export const typed = <Type extends string, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  { shape }: z.ZodObject<Shape>,
) => z.object({ ...shape, type: z.literal(type) });
