/** Administration API (users, API keys, nodes, listeners, MCP servers, metrics), own API keys, and pairing. */
import type { Part } from '@parlance/protocol';
import type {
  AddSkill,
  AgentSetup,
  ApiKey,
  ApiKeyList,
  Invitation,
  InvitationList,
  Listener,
  ListenerList,
  MadeApiKey,
  MadeInvitation,
  MadePairingRequest,
  McpApp,
  McpAppFileRequest,
  McpAppRequest,
  McpContents,
  McpOffers,
  McpParts,
  McpPromptRequest,
  McpResourceRequest,
  McpServer,
  McpServerList,
  McpSignedIn,
  McpSignInLink,
  McpSignInList,
  ModelListing,
  ModelQuestion,
  NewApiKey,
  NewInvitation,
  NewUser,
  NodeList,
  OwnPairing,
  Pairing,
  PairingList,
  PairingRequest,
  Price,
  RefusedOrigin,
  RefusedOriginList,
  SavedPrompt,
  ServerNode,
  ServerSkill,
  ServerSkillText,
  Settings,
  SettingsChange,
  User,
  UserChange,
  UserList,
  VendorList,
} from '@parlance/protocol/api';
import type { HttpClient } from './http-client.ts';
import type { CallOptions } from './session.ts';

export type Administration = {
  /** Admins only; others get `forbidden`. */
  readonly users: {
    /** Sorted by name. */
    list(options?: CallOptions): Promise<readonly User[]>;
    add(user: NewUser, options?: CallOptions): Promise<User>;
    /** Omitted fields keep their value. Revokes the user's tokens. The last admin cannot be demoted. */
    change(name: string, change: UserChange, options?: CallOptions): Promise<User>;
    /** Revokes the user's tokens. The last admin cannot be removed. */
    remove(name: string, options?: CallOptions): Promise<void>;
    /** Revokes all tokens of the user and closes their connections. */
    logout(name: string, options?: CallOptions): Promise<void>;
  };
  /** Links with which new users choose their passwords. Admins only. */
  readonly invitations: {
    /** In order of creation, without those that were accepted or have expired. */
    list(options?: CallOptions): Promise<readonly Invitation[]>;
    /** `token` of the result is returned only once. Replaces an earlier invitation of the name. */
    add(wanted: NewInvitation, options?: CallOptions): Promise<MadeInvitation>;
    revoke(id: string, options?: CallOptions): Promise<void>;
  };
  /** Sets the price of a model; null removes it. Admins only. */
  setPrice(model: string, price: Price | null, options?: CallOptions): Promise<void>;
  /** API keys of all users. Admins only. `keys.revoke` revokes any of them. */
  keys(options?: CallOptions): Promise<readonly ApiKey[]>;
  /** Nodes in the order of their start. Admins only. */
  nodes(options?: CallOptions): Promise<readonly ServerNode[]>;
  /** Listeners and their socket counts, the default listener first. Needs `metrics:read`. */
  listeners(options?: CallOptions): Promise<readonly Listener[]>;
  /** Configured MCP servers. Needs `metrics:read`. */
  mcp(options?: CallOptions): Promise<readonly McpServer[]>;
  /** Stops an MCP server and starts it again. Admins only. */
  restartMcp(name: string, options?: CallOptions): Promise<void>;
  /** For admins; in open mode the local user reads and changes models and agents. */
  readonly settings: {
    read(options?: CallOptions): Promise<Settings>;
    /** Applied immediately, on every node. Throws `busy` if the settings have changed since `version`. */
    change(change: SettingsChange, options?: CallOptions): Promise<Settings>;
  };
  /** Requests the list of models from a model API, to test a key and an address. */
  models(question: ModelQuestion, options?: CallOptions): Promise<ModelListing>;
  /** All vendors with their keys, packages and known models. As `settings`. */
  vendors(options?: CallOptions): Promise<VendorList>;
  /** Agents with their instructions, and the tools that an agent can have. As `settings`. */
  agents(options?: CallOptions): Promise<AgentSetup>;
  /** The skills of the server. Admins, and in open mode the local user. */
  readonly skills: {
    list(options?: CallOptions): Promise<readonly ServerSkill[]>;
    read(name: string, options?: CallOptions): Promise<ServerSkillText>;
    /** Uploads files, or copies a folder of the server; replaces the skill of that name in the data folder. */
    add(skill: AddSkill, options?: CallOptions): Promise<ServerSkill>;
    remove(name: string, options?: CallOptions): Promise<void>;
  };
  /** Recently refused browser origins, latest first. Admins only. */
  refusedOrigins(options?: CallOptions): Promise<readonly RefusedOrigin[]>;
  /** Current metrics in Prometheus text format. Needs `metrics:read`. */
  metrics(options?: CallOptions): Promise<string>;
};

export function administration(http: HttpClient): Administration {
  const path = '/v1/admin/users';
  const of = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const invitations = '/v1/admin/invitations';
  return {
    invitations: {
      async list({ signal } = {}) {
        return (await http.json<InvitationList>({ path: invitations, signal })).invitations;
      },
      add: (body, { signal } = {}) => http.json({ method: 'POST', path: invitations, body, signal }),
      async revoke(id, { signal } = {}) {
        await http.response({ method: 'DELETE', path: `${invitations}/${encodeURIComponent(id)}`, signal });
      },
    },
    users: {
      async list({ signal } = {}) {
        return (await http.json<UserList>({ path, signal })).users;
      },
      add: (body, { signal } = {}) => http.json({ method: 'POST', path, body, signal }),
      change: (name, body, { signal } = {}) => http.json({ method: 'PATCH', path: of(name), body, signal }),
      async remove(name, { signal } = {}) {
        await http.response({ method: 'DELETE', path: of(name), signal });
      },
      async logout(name, { signal } = {}) {
        await http.response({ method: 'POST', path: `${of(name)}/logout`, signal });
      },
    },
    async setPrice(model, price, { signal } = {}) {
      await http.response({ method: 'POST', path: '/v1/admin/prices', body: { model, price }, signal });
    },
    async keys({ signal } = {}) {
      return (await http.json<ApiKeyList>({ path: '/v1/admin/keys', signal })).keys;
    },
    async nodes({ signal } = {}) {
      return (await http.json<NodeList>({ path: '/v1/admin/nodes', signal })).nodes;
    },
    async listeners({ signal } = {}) {
      return (await http.json<ListenerList>({ path: '/v1/admin/listeners', signal })).listeners;
    },
    async mcp({ signal } = {}) {
      return (await http.json<McpServerList>({ path: '/v1/admin/mcp', signal })).servers;
    },
    async restartMcp(name, { signal } = {}) {
      const path = `/v1/admin/mcp/${encodeURIComponent(name)}/restart`;
      await http.response({ method: 'POST', path, signal });
    },
    settings: {
      read: ({ signal } = {}) => http.json({ path: '/v1/admin/settings', signal }),
      change: (body, { signal } = {}) =>
        http.json({ method: 'PATCH', path: '/v1/admin/settings', body, signal }),
    },
    models: (body, { signal } = {}) => http.json({ method: 'POST', path: '/v1/admin/models', body, signal }),
    vendors: ({ signal } = {}) => http.json({ path: '/v1/admin/vendors', signal }),
    agents: ({ signal } = {}) => http.json({ path: '/v1/admin/agents', signal }),
    skills: {
      async list({ signal } = {}) {
        const path = '/v1/admin/skills';
        return (await http.json<{ skills: ServerSkill[] }>({ path, signal })).skills;
      },
      read: (name, { signal } = {}) =>
        http.json({ path: `/v1/admin/skills/${encodeURIComponent(name)}`, signal }),
      add: (body, { signal } = {}) => http.json({ method: 'POST', path: '/v1/admin/skills', body, signal }),
      async remove(name, { signal } = {}) {
        const path = `/v1/admin/skills/${encodeURIComponent(name)}`;
        await http.response({ method: 'DELETE', path, signal });
      },
    },
    async refusedOrigins({ signal } = {}) {
      return (await http.json<RefusedOriginList>({ path: '/v1/admin/origins', signal })).refused;
    },
    async metrics({ signal } = {}) {
      return (await http.response({ path: '/metrics', signal })).text();
    },
  };
}

// MCP servers: their prompts and resources, and signing in.

export type McpOfUser = {
  /** The servers that each user signs in to. */
  list(options?: CallOptions): Promise<McpSignInList['servers']>;
  /** The prompts and resources that servers offer to the caller. */
  offers(options?: CallOptions): Promise<McpOffers>;
  /** A prompt as the parts of a message. */
  prompt(request: McpPromptRequest, options?: CallOptions): Promise<readonly Part[]>;
  /** A resource as the parts of a message. */
  resource(request: McpResourceRequest, options?: CallOptions): Promise<readonly Part[]>;
  /** The app that shows the results of a tool. Its page is hostile content: give it a frame with an origin of its own. */
  app(request: McpAppRequest, options?: CallOptions): Promise<McpApp>;
  /** A resource that an app asks for. */
  appFile(request: McpAppFileRequest, options?: CallOptions): Promise<McpContents>;
  /** The link to open in a browser. For a server that one person signs in to for all users, as `settings`. */
  begin(name: string, options?: CallOptions): Promise<string>;
  /** Ends the sign-in with the query that the browser came back with. Returns the name of the server. */
  finish(query: string, options?: CallOptions): Promise<string>;
  /** Signs out: the tokens are deleted. */
  end(name: string, options?: CallOptions): Promise<void>;
};

export function mcpOfUser(http: HttpClient): McpOfUser {
  const path = '/v1/mcp/sign-ins';
  const of = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const parts = async (what: string, body: object, signal?: AbortSignal) =>
    (await http.json<McpParts>({ method: 'POST', path: `/v1/mcp/${what}`, body, signal })).parts;
  return {
    async list({ signal } = {}) {
      return (await http.json<McpSignInList>({ path, signal })).servers;
    },
    offers: ({ signal } = {}) => http.json({ path: '/v1/mcp/offers', signal }),
    prompt: (body, { signal } = {}) => parts('prompts', body, signal),
    resource: (body, { signal } = {}) => parts('resources', body, signal),
    app: (body, { signal } = {}) => http.json({ method: 'POST', path: '/v1/mcp/apps', body, signal }),
    appFile: (body, { signal } = {}) =>
      http.json({ method: 'POST', path: '/v1/mcp/apps/files', body, signal }),
    async begin(name, { signal } = {}) {
      return (await http.json<McpSignInLink>({ method: 'POST', path: of(name), signal })).link;
    },
    async finish(query, { signal } = {}) {
      return (await http.json<McpSignedIn>({ method: 'POST', path, body: { query }, signal })).name;
    },
    async end(name, { signal } = {}) {
      await http.response({ method: 'DELETE', path: of(name), signal });
    },
  };
}

// Prompts that the caller has saved.

export type SavedPrompts = {
  /** By name. */
  list(options?: CallOptions): Promise<readonly SavedPrompt[]>;
  /** In place of an earlier one with the same name. */
  save(prompt: SavedPrompt, options?: CallOptions): Promise<void>;
  /** Also resolves if there is none. */
  remove(name: string, options?: CallOptions): Promise<void>;
};

export function savedPrompts(http: HttpClient): SavedPrompts {
  const path = '/v1/prompts';
  return {
    async list({ signal } = {}) {
      return (await http.json<{ prompts: SavedPrompt[] }>({ path, signal })).prompts;
    },
    async save(body, { signal } = {}) {
      await http.response({ method: 'POST', path, body, signal });
    },
    async remove(name, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(name)}`, signal });
    },
  };
}

// The caller's API keys. Requires a login: an API key cannot manage keys.

export type ApiKeys = {
  /** In order of creation. */
  list(options?: CallOptions): Promise<readonly ApiKey[]>;
  /** `key` of the result is the key itself, which is returned only once. */
  add(wanted: NewApiKey, options?: CallOptions): Promise<MadeApiKey>;
  /** Closes the connections of the key. Admins can revoke keys of all users. */
  revoke(id: string, options?: CallOptions): Promise<void>;
};

export function apiKeys(http: HttpClient): ApiKeys {
  const path = '/v1/keys';
  return {
    async list({ signal } = {}) {
      return (await http.json<ApiKeyList>({ path, signal })).keys;
    },
    add: (body, { signal } = {}) => http.json({ method: 'POST', path, body, signal }),
    async revoke(id, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
  };
}

// Browser extensions: the caller's own, and pending requests.

export type Pairings = {
  /** In order of approval; `waiting` is empty unless the server is in open mode. */
  list(options?: CallOptions): Promise<PairingList>;
  /** The extension that shows this code. */
  find(code: string, options?: CallOptions): Promise<PairingRequest>;
  /** Lets the extension act as the caller. */
  allow(code: string, options?: CallOptions): Promise<Pairing>;
  deny(code: string, options?: CallOptions): Promise<void>;
  /** Closes the connections of the extension. Admins can revoke those of all users. */
  revoke(id: string, options?: CallOptions): Promise<void>;
  /** For an extension: requests a pairing. `token` is valid once a user has approved `code`. */
  request(name: string, options?: CallOptions): Promise<MadePairingRequest>;
  /** For an extension: its own pairing, by its token. `not_found` if it was denied, revoked or has expired. */
  own(options?: CallOptions): Promise<OwnPairing>;
  /** For an extension: ends its own pairing. */
  end(options?: CallOptions): Promise<void>;
};

export function pairings(http: HttpClient): Pairings {
  const path = '/v1/pairings';
  const answer = (code: string, allow: boolean, signal?: AbortSignal) =>
    ({ method: 'POST', path: `${path}/answer`, body: { code, allow }, signal }) as const;
  return {
    list: ({ signal } = {}) => http.json({ path, signal }),
    find: (code, { signal } = {}) =>
      http.json({ method: 'POST', path: `${path}/find`, body: { code }, repeatable: true, signal }),
    allow: (code, { signal } = {}) => http.json(answer(code, true, signal)),
    async deny(code, { signal } = {}) {
      await http.response(answer(code, false, signal));
    },
    async revoke(id, { signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal });
    },
    request: (name, { signal } = {}) => http.json({ method: 'POST', path, body: { name }, signal }),
    own: ({ signal } = {}) => http.json({ path: `${path}/own`, signal }),
    async end({ signal } = {}) {
      await http.response({ method: 'DELETE', path: `${path}/own`, signal });
    },
  };
}
