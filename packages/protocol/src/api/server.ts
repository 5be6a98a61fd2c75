/** The server: what it offers, its settings, vendors and models, agents, MCP servers, listeners and nodes. */
import { z } from 'zod';
import { ApprovalMode } from '../event-fields.ts';
import { FaultData } from '../faults.ts';
import { Part } from '../parts.ts';
import { Principal } from '../principals.ts';
import { SetPrice } from './usage.ts';

export const SettingsChange = z.strictObject({
  version: z.int().min(0).describe('the version that the change is based on'),
  values: z.record(z.string().max(100), z.json()).describe('by setting; null removes the stored value'),
});
export type SettingsChange = z.input<typeof SettingsChange>;

export const ModelQuestion = z.strictObject({
  provider: z.string().max(100).describe('a model API, as in the setting `provider`'),
  address: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe('default: the one in use'),
  key: z
    .string()
    .min(1)
    .max(2_000)
    .regex(/^[\x21-\x7e]+$/, 'must not contain spaces')
    .optional()
    .describe('default: the one in use, if the address is'),
});
export type ModelQuestion = z.input<typeof ModelQuestion>;

/** A vendor of models. */
export const Vendor = z.object({
  name: z.string().describe('value of the setting `provider`; `NAME:MODEL` is a model of this vendor'),
  label: z.string(),
  hint: z.string(),
  address: z.string().describe("the vendor's own"),
  model: z.string().describe('the model if none is chosen'),
  variables: z.array(z.string()).describe('environment variables of the key'),
  package: z.string().optional().describe('the npm package that the operator has to install'),
});
export type Vendor = z.infer<typeof Vendor>;

export const About = z.object({
  version: z.string(),
  auth: z.enum(['open', 'required']),
  principal: Principal,
  provider: z.string(),
  model: z.string().describe('the default model'),
  models: z.array(z.object({ id: z.string(), provider: z.string() })).describe('the available models'),
  approval: ApprovalMode,
  vendors: z.array(Vendor).describe('the vendors that a key can be entered for'),
  sandbox: z.boolean().describe('whether commands run in a sandbox'),
  listeners: z.array(z.object({ dialect: z.string(), port: z.number().int() })),
  dialects: z
    .array(z.object({ name: z.string(), sockets: z.array(z.string()) }))
    .describe('the served dialects with their WebSocket paths; see also /v1/dialects'),
  channels: z
    .object({
      key: z.string().describe('the key of the application in client URLs'),
      host: z.string().nullable().describe('the host of an external server'),
    })
    .nullable()
    .describe('Pusher channels; null if they are disabled'),
  defaultDomain: z.string(),
  domains: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      defaultAgent: z.string(),
      agents: z.array(z.string()),
    }),
  ),
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      model: z.string().nullable().describe('if it differs from the default'),
      tools: z.array(z.string()).nullable().describe('the tools it may use; null: all'),
      starters: z.array(z.string()).describe('first messages to offer'),
    }),
  ),
});
export type About = z.infer<typeof About>;

export const ServerNode = z.object({
  id: z.string().describe('new with every start'),
  version: z.string(),
  home: z.string().nullable().describe('PARLANCE_HOME: only such nodes drive its sessions'),
  startedAt: z.iso.datetime(),
  leaseAgeMs: z
    .number()
    .int()
    .nullable()
    .describe('since its last heartbeat; null without DATABASE_URL: it needs no lease'),
  alive: z.boolean().describe('false: its lease has expired, and other nodes take over its sessions'),
  bus: z
    .enum(['none', 'up', 'down'])
    .describe('`down`: it cannot reach the bus, so other nodes receive its events with a delay'),
  sessions: z.number().int().describe('the running sessions that it drives'),
  here: z.boolean().describe('the node that answers this request'),
});
export type ServerNode = z.infer<typeof ServerNode>;

export const NodeList = z.object({
  nodes: z.array(ServerNode),
});
export type NodeList = z.infer<typeof NodeList>;

export const Listener = z.object({
  address: z.string(),
  port: z.number().int(),
  dialect: z.string().describe('the dialect of the listener, or `all`'),
  sockets: z.record(z.string(), z.number()).describe('open sockets, by dialect'),
  problem: z.string().nullable().describe('why a stored listener is not open'),
});
export type Listener = z.infer<typeof Listener>;

export const ListenerList = z.object({
  listeners: z.array(Listener),
});
export type ListenerList = z.infer<typeof ListenerList>;

const McpError = z.object({ at: z.iso.datetime(), message: z.string() }).nullable();

export const McpServer = z.object({
  name: z.string(),
  kind: z.enum(['process', 'address']).describe('transport'),
  trusted: z.boolean().describe('its results do not count as untrusted content'),
  state: z
    .enum(['starting', 'ready', 'sign-in', 'away', 'closed'])
    .describe('`sign-in`: somebody must sign in; `away`: not reachable, will be retried'),
  signIn: z
    .object({
      who: z.enum(['server', 'user']).describe('one sign-in for all users, or one of each user'),
      signedIn: z.number().int().describe('how many have signed in'),
    })
    .nullable()
    .describe('null: a program, or an address whose credentials are in its settings'),
  tools: z.array(z.string()).describe('names as offered to models'),
  allTools: z
    .array(
      z.object({
        name: z.string().describe('as the server names it'),
        description: z.string(),
        isOff: z.boolean().describe('`disabledTools` names it: no agent is offered it'),
      }),
    )
    .describe('everything that the server has'),
  error: McpError.describe('the last error, without secrets'),
  output: z.array(z.string()).describe('the latest lines of its standard error; for admins'),
});
export type McpServer = z.infer<typeof McpServer>;

export const McpServerList = z.object({
  servers: z.array(McpServer),
});
export type McpServerList = z.infer<typeof McpServerList>;

export const McpOffers = z.object({
  prompts: z.array(
    z.object({
      server: z.string(),
      name: z.string(),
      description: z.string(),
      arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
    }),
  ),
  resources: z.array(
    z.object({ server: z.string(), uri: z.string(), name: z.string(), description: z.string() }),
  ),
});
export type McpOffers = z.infer<typeof McpOffers>;

export const McpPromptRequest = z.strictObject({
  server: z.string().min(1).max(32),
  name: z.string().min(1).max(1_000),
  arguments: z.record(z.string().max(200), z.string().max(100_000)).default({}),
});
export type McpPromptRequest = z.input<typeof McpPromptRequest>;

export const McpResourceRequest = z.strictObject({
  server: z.string().min(1).max(32),
  uri: z.string().min(1).max(10_000),
});
export type McpResourceRequest = z.input<typeof McpResourceRequest>;

export const McpParts = z.object({ parts: z.array(Part).describe('for a message of the user') });
export type McpParts = z.infer<typeof McpParts>;

export const McpAppRequest = z.strictObject({
  tool: z.string().min(1).max(200).describe('the tool whose results the app shows, by its name for models'),
});
export type McpAppRequest = z.input<typeof McpAppRequest>;

export const McpApp = z.object({
  server: z.string(),
  resource: z.string().describe('its address at the server, `ui://…`'),
  html: z.string().describe('the page: hostile content, for a frame with an origin of its own'),
  connect: z.array(z.string()).describe('public origins that it wants to send requests to'),
  load: z.array(z.string()).describe('public origins whose files it wants to load'),
  tool: z.record(z.string(), z.json()).describe('the definition of the tool'),
  tools: z
    .record(z.string(), z.string())
    .describe('the tools that it may call: their names for models, by their names at the server'),
});
export type McpApp = z.infer<typeof McpApp>;

export const McpAppFileRequest = McpAppRequest.extend({ uri: z.string().min(1).max(10_000) });
export type McpAppFileRequest = z.input<typeof McpAppFileRequest>;

export const McpContents = z.object({
  contents: z.array(z.record(z.string(), z.json())).describe('as the server sent them'),
});
export type McpContents = z.infer<typeof McpContents>;

export const McpSignInList = z.object({
  servers: z.array(z.object({ name: z.string(), signedIn: z.boolean() })),
});
export type McpSignInList = z.infer<typeof McpSignInList>;

export const McpSignInLink = z.object({ link: z.url().describe('of the authorization server') });
export type McpSignInLink = z.infer<typeof McpSignInLink>;

export const FinishedSignIn = z.strictObject({
  query: z.string().max(10_000).describe('of the address that the authorization server led to'),
});
export type FinishedSignIn = z.input<typeof FinishedSignIn>;

export const McpSignedIn = z.object({ name: z.string().describe('of the MCP server') });
export type McpSignedIn = z.infer<typeof McpSignedIn>;

export const McpClientDocument = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.string(),
});
export type McpClientDocument = z.infer<typeof McpClientDocument>;

export const Settings = z.object({
  version: z.number().int().describe('of the stored settings: a change names it'),
  problem: z.string().nullable().describe('why the stored settings are not in use'),
  model: z.object({ provider: z.string(), model: z.string(), address: z.string().nullable() }),
  given: z
    .record(z.string(), z.string())
    .describe('flag, variable or file entry of settings that the configuration decides'),
  stored: z.record(z.string(), z.json()).describe('stored values, without secrets'),
  secrets: z.array(z.string()).describe('names of stored secrets'),
  keyProblems: z
    .record(z.string(), z.string())
    .describe('why a stored key is not sent to the address in use, by the name of the secret'),
});
export type Settings = z.infer<typeof Settings>;

/** A vendor, what it needs, and the models that are known of it. */
export const VendorState = Vendor.pick({ name: true, label: true, address: true }).extend({
  key: z.string().nullable().describe('where its key is set: a variable, the config file, or the console'),
  missing: z.array(z.string()).describe('variables without which its address is not known'),
  package: z
    .object({
      name: z.string(),
      version: z.string().nullable().describe('null: not installed'),
      problem: z.string().nullable().describe('why it cannot be loaded'),
      install: z.string().describe('the command that installs it'),
    })
    .nullable(),
  models: z.array(
    z.object({
      id: z.string().describe('for sessions and agents'),
      name: z.string(),
      context: z.number().nullable().describe('tokens; null if it is not known'),
      price: SetPrice.nullable().describe("the catalogue's"),
    }),
  ),
});
export type VendorState = z.infer<typeof VendorState>;

export const VendorList = z.object({
  date: z.string().describe('of the catalogue'),
  vendors: z.array(VendorState),
});
export type VendorList = z.infer<typeof VendorList>;

export const ProviderModels = z.object({
  provider: z.string(),
  label: z.string().describe('the vendor, or the host of another server'),
  models: z.array(
    z.object({
      id: z
        .string()
        .describe('for sessions and agents: the name, with the provider if the name alone means another'),
      name: z.string(),
    }),
  ),
  problem: z.string().nullable().describe('why there is no list'),
});
export type ProviderModels = z.infer<typeof ProviderModels>;

export const ModelList = z.object({
  providers: z.array(ProviderModels),
});
export type ModelList = z.infer<typeof ModelList>;

export const AgentSetup = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      instructions: z.string(),
      model: z.string().nullable().describe("null: the server's default"),
      tools: z.array(z.string()).nullable().describe('null: all'),
      skills: z.array(z.string()).nullable().describe('names of the skills it is offered; null: all'),
      starters: z.array(z.string()),
    }),
  ),
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  fixed: z
    .object({ agents: z.array(z.string()), domains: z.array(z.string()) })
    .describe('ids that the config file defines: change them there'),
});
export type AgentSetup = z.infer<typeof AgentSetup>;

export const ModelListing = z.object({
  models: z.array(z.string()),
  address: z.string().describe('the base URL that answered: an address without `/v1` is completed'),
});
export type ModelListing = z.infer<typeof ModelListing>;

export const RefusedOrigin = z.object({ origin: z.string(), count: z.number().int(), at: z.iso.datetime() });
export type RefusedOrigin = z.infer<typeof RefusedOrigin>;

export const RefusedOriginList = z.object({
  refused: z.array(RefusedOrigin),
});
export type RefusedOriginList = z.infer<typeof RefusedOriginList>;

export const NativeError = z.object({ error: FaultData, detail: z.string() });
export type NativeError = z.infer<typeof NativeError>;
