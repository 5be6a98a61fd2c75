/** The AsyncAPI 3.0 document of every dialect with WebSockets. */
import { version } from '../../package.json' with { type: 'json' };
import { EXAMPLE_IDS } from '../dialects/kit/description.ts';
import type { Described, DescribedSocket } from './descriptions.ts';
import { type JsonSchema, payloadSchema } from './json-schema.ts';

type Ref = { readonly $ref: string };

export type AsyncApiMessage = {
  readonly name: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly examples: readonly { readonly name: string; readonly payload: object }[];
};
export type AsyncApiChannel = {
  readonly address: string;
  readonly title: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, { readonly description: string }>>;
  readonly messages: Readonly<Record<string, AsyncApiMessage>>;
  readonly bindings: object;
};
export type AsyncApiDocument = {
  readonly asyncapi: '3.0.0';
  readonly info: object;
  readonly defaultContentType: string;
  readonly channels: Readonly<Record<string, AsyncApiChannel>>;
  readonly operations: Readonly<
    Record<
      string,
      {
        readonly action: 'send' | 'receive';
        readonly summary: string;
        readonly channel: Ref;
        readonly messages: readonly Ref[];
      }
    >
  >;
};

/** A dialect with sockets. */
export type SocketDialect = Required<Pick<Described, 'socket' | 'messages'>> & Described;

export const hasSocket = (described: Described): described is SocketDialect =>
  described.socket !== undefined && described.messages !== undefined;

export function asyncApiDocument(descriptions: readonly Described[]): AsyncApiDocument {
  const socketDialects = descriptions.filter(hasSocket);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Parlance',
      version: version,
      description: 'The WebSocket messages of an agent server that speaks many client protocols.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(socketDialects.map((one) => [one.name, channel(one)])),
    operations: Object.fromEntries(socketDialects.flatMap(operations)),
  };
}

/** The document as checked in and served. */
export const asyncApiText = (descriptions: readonly Described[]): string =>
  `${JSON.stringify(asyncApiDocument(descriptions), null, 2)}\n`;

/** Keys must not contain colons; a name may be used in both directions. */
const key = (direction: 'in' | 'out', name: string): string =>
  `${direction}.${name.replace(/[^\w.-]+/g, '.').replace(/^\./, '')}`;

function channel({ title, summary, socket, messages }: SocketDialect): AsyncApiChannel {
  const received = Object.entries(messages.in).map(([name, message]) => [
    key('in', name),
    {
      name,
      summary: message.summary,
      payload: payloadSchema(message.schema, 'input'),
      examples: message
        .examples(EXAMPLE_IDS)
        .filter(({ probe }) => !probe)
        .map(({ title: text, frame }) => ({ name: text, payload: frame })),
    },
  ]);
  const sent = Object.entries(messages.out).map(([name, { summary: text, schema, example }]) => [
    key('out', name),
    { name, summary: text, payload: payloadSchema(schema, 'output'), examples: [{ name, payload: example }] },
  ]);
  return {
    address: socket.address,
    title,
    summary,
    ...otherAddresses(socket),
    ...parameters(socket),
    messages: Object.fromEntries([...received, ...sent]),
    bindings: { ws: { query: queryOf(socket), bindingVersion: '0.1.0' } },
  };
}

const IDENTITY = {
  session: { type: 'string', description: 'the session to attach to' },
  token: { type: 'string', description: 'a token from a login endpoint; can also be sent as a header' },
};

const queryOf = ({ anonymous, query = {} }: DescribedSocket): object => ({
  type: 'object',
  properties: {
    ...(anonymous ? {} : IDENTITY),
    ...Object.fromEntries(
      Object.entries(query).map(([name, example]) => [name, { type: 'string', examples: [example] }]),
    ),
  },
});

function otherAddresses({ others }: DescribedSocket): Pick<AsyncApiChannel, 'description'> {
  if (others.length === 0) return {};
  const places = others.map(({ address, condition }) => `\`${address}\`${condition ? ` ${condition}` : ''}`);
  return { description: `Also served at ${places.join(' and at ')}.` };
}

function parameters({ address }: DescribedSocket): Pick<AsyncApiChannel, 'parameters'> {
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return {};
  return { parameters: Object.fromEntries(names.map((name) => [name, { description: `the ${name}` }])) };
}

/** From the server's point of view: it receives what clients send. */
function operations({
  name,
  title,
  messages,
}: SocketDialect): [string, AsyncApiDocument['operations'][string]][] {
  const channel = { $ref: `#/channels/${name}` };
  const refs = (direction: 'in' | 'out') =>
    Object.keys(messages[direction]).map((message) => ({
      $ref: `#/channels/${name}/messages/${key(direction, message)}`,
    }));
  return [
    [
      `${name}.receive`,
      { action: 'receive', summary: `${title}: client messages`, channel, messages: refs('in') },
    ],
    [
      `${name}.send`,
      { action: 'send', summary: `${title}: server messages`, channel, messages: refs('out') },
    ],
  ];
}
