/** The official clients of both eras against a test server, behind one interface. */
import {
  type ClientOptions,
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

export const ERAS = ['2025', '2026'] as const;
export type Era = (typeof ERAS)[number];

export type Form = { readonly message: string; readonly requestedSchema: object };
export type FormAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { answer: string };
};

export type Options = {
  readonly token?: string;
  /** shows forms to the user */
  readonly onForm?: (form: Form) => FormAnswer | Promise<FormAnswer>;
  /** called with the URI of a session that has changed; null: the list */
  readonly onUpdate?: (uri: string | null) => void;
};

export type Progress = { readonly progress: number; readonly message?: string };

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
  readonly timeout?: number;
};

export type ToolResult = {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
};

/** The structured content of the tools that return a turn. */
export type Turn = {
  readonly session: string;
  readonly turn: string;
  readonly status: string;
  readonly text: string;
  readonly approval?: { readonly id: string; readonly tool: string; readonly input: object };
};

export type McpClient = {
  readonly client: LegacyClient | ModernClient;
  call(name: string, args?: object, options?: CallOptions): Promise<ToolResult>;
  /** Calls a tool that returns a turn. */
  turn(name: string, args: object, options?: CallOptions): Promise<Turn>;
  readonly errors: Error[];
  close(): Promise<void>;
};

const INFO = { name: 'test', version: '1.0.0' };

const headersOf = ({ token }: Options) =>
  token === undefined ? {} : { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

/** By default the client gives up after two attempts, before a server on a busy machine has restarted. */
export const reconnectionOptions = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 1.2,
  maxRetries: 100,
};

export async function connect(era: Era, http: string, options: Options = {}): Promise<McpClient> {
  const url = new URL(`${http}/mcp`);
  if (era === '2026') {
    const client = modernClient(options);
    await client.connect(new ModernTransport(url, headersOf(options)));
    return wrapped(client, (params, more) => client.callTool(params, more as object));
  }
  const client = legacyClient(options);
  await client.connect(new LegacyTransport(url, { ...headersOf(options), reconnectionOptions }));
  return wrapped(client, (params, more) => client.callTool(params, undefined, more as object));
}

export function legacyClient({ onForm, onUpdate }: Options): LegacyClient {
  const client = new LegacyClient(INFO, { capabilities: onForm ? { elicitation: {} } : {} });
  if (onForm)
    client.setRequestHandler(
      ElicitRequestSchema,
      async ({ params }) => (await onForm(params as Form)) as { action: 'accept' },
    );
  if (onUpdate) {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdate(params.uri));
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onUpdate(null));
  }
  return client;
}

export function modernClient({ onForm, onUpdate }: Options, more: ClientOptions = {}): ModernClient {
  const client = new ModernClient(INFO, {
    capabilities: onForm ? { elicitation: {} } : {},
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    ...more,
  });
  if (onForm)
    client.setRequestHandler(
      'elicitation/create',
      async ({ params }) => (await onForm(params as Form)) as { action: 'accept' },
    );
  if (onUpdate) {
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => onUpdate(params.uri));
    client.setNotificationHandler('notifications/resources/list_changed', () => onUpdate(null));
  }
  return client;
}

type CallTool = (
  params: { name: string; arguments: Record<string, unknown> },
  options?: CallOptions,
) => Promise<object>;

export function wrapped(client: LegacyClient | ModernClient, callTool: CallTool): McpClient {
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  const call = async (name: string, args: object = {}, options?: CallOptions) =>
    (await callTool({ name, arguments: args as Record<string, unknown> }, options)) as ToolResult;
  return {
    client,
    call,
    turn: async (name, args, options) =>
      (await call(name, args, options)).structuredContent as unknown as Turn,
    errors,
    close: () => client.close(),
  };
}
