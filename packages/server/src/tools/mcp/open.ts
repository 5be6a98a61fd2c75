/** The tools of all configured MCP servers. The SDK is loaded only if there is a server. */
import { Fault, type JsonObject } from '@parlance/protocol';
import type { SettingsStore } from '../../accounts/store.ts';
import type { McpContents, McpSignIns, SigningIn } from '../../core/ports/mcp-servers.ts';
import type { Tool } from '../../core/ports/tool.ts';
import { Listeners } from '../../lib/listeners.ts';
import { within } from '../../lib/sleep.ts';
import { appOf, isFor, pageIn, shownTo } from './apps.ts';
import {
  type ConnectionOptions,
  type Definition,
  McpConnection,
  type McpError,
  type McpOffers,
  type McpState,
} from './connection.ts';
import type { LiveCall } from './live-call.ts';
import { toolNames } from './names.ts';
import { openPins } from './pins.ts';
import { promptPartsOf, resourcePartsOf } from './result.ts';
import type { McpServer, McpServers } from './servers.ts';
import { EVERYBODY, SignIn, type SignInOptions } from './sign-in.ts';
import { mcpTool } from './tool.ts';

export type McpOptions = ConnectionOptions & {
  /** where the pins of the tools' definitions are stored */
  readonly settings: SettingsStore;
  /** encrypts the tokens of sign-ins */
  readonly vault: SignInOptions['vault'];
  readonly clientDocument?: string;
  readonly publicUrl?: string | undefined;
  /** how long startup waits for servers, in milliseconds; slower ones are added when ready */
  readonly patienceMs?: number;
};

/** `name` is the server's own; `isOff`: no agent is offered it. */
export type McpToolView = { readonly name: string; readonly description: string; readonly isOff: boolean };

/** Status of a server for operators. */
export type McpServerView = {
  readonly name: string;
  /** transport: a child process or an address */
  readonly kind: 'process' | 'address';
  readonly trusted: boolean;
  readonly state: McpState;
  /** who signs in; null: the server has its credentials in its settings, or none */
  readonly signIn: { readonly who: 'server' | 'user'; readonly signedIn: number } | null;
  /** names for models; while the server is unavailable, those listed last */
  readonly tools: readonly string[];
  /** everything that the server has */
  readonly allTools: readonly McpToolView[];
  readonly error: McpError | null;
  /** latest lines of its stderr, without secrets */
  readonly output: readonly string[];
};

export type McpTools = {
  /** current tools; the array is replaced only on changes */
  tools(): readonly Tool[];
  /** Current status of all configured servers. */
  servers(): McpServerView[];
  /** Calls the listener if a server connects or its tools change. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /**
   * Starts new and changed servers, stops removed ones, and keeps the others. Resolves after the first
   * attempts.
   */
  configure(servers: McpServers): Promise<void>;
  /** Resolves after the first attempt to restart it; false if the server does not exist. */
  restart(name: string): Promise<boolean>;
  /** Reads again what other nodes may have stored. */
  reload(): Promise<void>;
  readonly signIn: McpSignIns;
  readonly offers: McpContents & { list(user: string): Promise<readonly McpServerOffers[]> };
  /** Stops all servers. */
  close(): Promise<void>;
};

export type McpServerOffers = McpOffers & { readonly server: string };

const PATIENCE_MS = 10_000;

type Entry = {
  readonly name: string;
  server: McpServer;
  readonly signIn: SignIn | null;
  /** by owner of the tokens */
  readonly connections: Map<string, McpConnection>;
  tools: readonly string[];
};

/** Users of one server that are connected at the same time. */
const MAX_CONNECTIONS = 200;

/** Whether each user has a connection of their own. */
const isPerUser = ({ server }: Entry): boolean => 'url' in server && server.signIn === 'user';

/** An unreachable server is logged and retried; it never prevents startup. */
export async function openMcp(servers: McpServers, options: McpOptions): Promise<McpTools> {
  let entries: readonly Entry[] = [];
  const listeners = new Listeners();
  const offersChanged = new Listeners();
  const pins = openPins(options.settings);
  const waiting = new Map<string, LiveCall>();
  let current: Tool[] = [];
  /** by name for models */
  let offered = new Map<string, { readonly entry: Entry; readonly definition: Definition }>();

  const renew = () => {
    const offers = entries.flatMap((entry) =>
      offeredBy(entry)
        .filter((definition) => isFor(definition, 'model') || isFor(definition, 'app'))
        .map((definition) => ({ entry, definition, server: entry.name })),
    );
    const names = toolNames(offers.map(({ server, definition }) => ({ server, tool: definition.name })));
    current = offers.map(({ entry, definition, server }, index) =>
      mcpTool({
        ...{ name: names[index] ?? '', server, definition, pins, waiting },
        ...{ settings: entry.server, signIn: entry.signIn },
        connectionOf: (user) => connectionOf(entry, user),
      }),
    );
    offered = new Map(offers.map((offer, index) => [names[index] ?? '', offer]));
    for (const entry of entries)
      entry.tools = names.filter((_, index) => offers[index]?.server === entry.name);
    listeners.notify();
    // A server that has come or gone has also its prompts and resources.
    offersChanged.notify();
  };

  function added(name: string, server: McpServer): Entry {
    const signIn = signsIn(server) ? new SignIn(name, server, options) : null;
    return { name, server, signIn, connections: new Map(), tools: [] };
  }

  /** Resolves after the first attempts to connect. */
  async function started(entry: Entry): Promise<void> {
    const owners = isPerUser(entry) ? ((await entry.signIn?.owners()) ?? []) : [EVERYBODY];
    await Promise.all(owners.slice(-MAX_CONNECTIONS).map((owner) => connected(entry, owner)));
  }

  async function connected(entry: Entry, owner: string): Promise<void> {
    const known = entry.connections.get(owner);
    if (known) return known.signedIn();
    if (entry.connections.size >= MAX_CONNECTIONS)
      throw new Fault('limited', `Too many users are connected to ${entry.name}.`);
    const { name, server, signIn } = entry;
    const connection = new McpConnection(name, server, { ...options, signIn: signIn && { signIn, owner } });
    connection.onChange = renew;
    connection.onOffers = () => offersChanged.notify();
    entry.connections.set(owner, connection);
    await connection.start();
  }

  const ended = async (entry: Entry): Promise<void> => {
    await Promise.all([...entry.connections.values()].map((connection) => connection.close()));
  };

  /** Starts new entries of `next` and stops removed ones. Resolves after the first attempts. */
  async function change(next: readonly Entry[]): Promise<void> {
    const [before, kept] = [entries, new Set(next)];
    const starting = next.filter((entry) => !before.includes(entry));
    entries = next;
    renew();
    const stopped = before.filter((entry) => !kept.has(entry)).map(ended);
    await Promise.all([...stopped, ...starting.map(started)]);
  }

  async function configure(configured: McpServers): Promise<void> {
    const removed = entries.filter(({ name, signIn }) => signIn && !configured[name]);
    await change(
      Object.entries(configured).map(([name, server]) => {
        const same = entries.find(
          (entry) =>
            entry.name === name && Bun.deepEquals(withoutChoice(entry.server), withoutChoice(server)),
        );
        if (!same) return added(name, server);
        same.server = server;
        return same;
      }),
    );
    await Promise.all(removed.map(({ signIn }) => signIn?.clear()));
  }

  /** The server and whose tokens of it the user may change. */
  function signInOf(name: string, { user, mayShare }: SigningIn) {
    const entry = entries.find((one) => one.name === name);
    const owner = entry?.signIn?.ownerOf(user) ?? EVERYBODY;
    if (!entry?.signIn || (owner === EVERYBODY && !mayShare))
      throw new Fault('not_found', 'There is no such MCP server to sign in to.');
    return { entry, signIn: entry.signIn, owner };
  }

  function available(name: string, user: string) {
    const entry = entries.find((one) => one.name === name);
    const connection = entry && connectionOf(entry, user);
    if (!entry || !connection) throw new Fault('not_found', 'There is no such MCP server.');
    return { entry, connection };
  }

  /** The app of a tool as it is now, for a user. */
  function appNamed(tool: string, user: string) {
    const entry = offered.get(tool)?.entry;
    const connection = entry && connectionOf(entry, user);
    const definition = connection?.definitionOf(offered.get(tool)?.definition.name ?? '');
    const resource = definition && appOf(definition);
    if (!entry || !connection || !resource)
      throw new Fault('not_found', 'The MCP server does not offer this app now.');
    return { entry, connection, definition, resource };
  }

  await within(options.patienceMs ?? PATIENCE_MS, configure(servers));
  return {
    tools: () => current,
    servers: () => entries.map(viewOf),
    onChange: listeners.add,
    configure,
    async restart(name) {
      if (!entries.some((entry) => entry.name === name)) return false;
      await change(entries.map((entry) => (entry.name === name ? added(name, entry.server) : entry)));
      return true;
    },
    async reload() {
      for (const entry of entries)
        for (const owner of (await entry.signIn?.reload()) ?? []) await connected(entry, owner);
    },
    signIn: {
      async begin(name, user, origin) {
        const { signIn, owner } = signInOf(name, user);
        return signIn.begin(owner, origin);
      },
      async finish({ user, mayShare }, parameters) {
        for (const entry of entries) {
          if (!(await entry.signIn?.knows(parameters))) continue;
          const owners = mayShare ? [user, EVERYBODY] : [user];
          const owner = await entry.signIn?.finish(owners, parameters);
          if (owner !== undefined) await connected(entry, owner);
          return entry.name;
        }
        throw new Fault('not_found', 'This sign-in is not known or has expired: begin again.');
      },
      async end(name, user) {
        const { entry, signIn, owner } = signInOf(name, user);
        await signIn.signOut(owner);
        const connection = entry.connections.get(owner);
        entry.connections.delete(owner);
        await connection?.close();
        if (owner === EVERYBODY) await connected(entry, owner);
        renew();
      },
      of: (user) =>
        Promise.all(
          entries
            .filter(isPerUser)
            .map(async ({ name, signIn }) => ({ name, signedIn: (await signIn?.isSignedIn(user)) === true })),
        ),
    },
    offers: {
      onChange: offersChanged.add,
      list: (user) =>
        Promise.all(
          entries.map(async (entry) => ({
            server: entry.name,
            ...((await connectionOf(entry, user)?.offers()) ?? { prompts: [], resources: [] }),
          })),
        ),
      async prompt(server, user, name, input) {
        const { connection } = available(server, user);
        return promptPartsOf(await connection.prompt(name, input));
      },
      async resource(server, user, uri) {
        const { entry, connection } = available(server, user);
        return resourcePartsOf(await connection.resource(uri), server, entry.server.trusted);
      },
      async app(tool, user) {
        const { entry, connection, definition, resource } = appNamed(tool, user);
        const callable = [...offered].filter(
          ([, other]) => other.entry === entry && isFor(other.definition, 'app'),
        );
        return {
          ...{ server: entry.name, resource, ...pageIn(await connection.resource(resource)) },
          tool: shownTo(definition),
          tools: Object.fromEntries(callable.map(([name, other]) => [other.definition.name, name])),
        };
      },
      async appFile(tool, user, uri) {
        const { contents } = await appNamed(tool, user).connection.resource(uri);
        return { contents: contents as JsonObject[] };
      },
    },
    close: async () => void (await Promise.all(entries.map(ended))),
  };
}

/** Whether the server may be signed in to: it has no credentials in its settings. */
const signsIn = (server: McpServer): server is Extract<McpServer, { url: string }> =>
  'url' in server && !Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization');

const connectionOf = ({ connections, signIn }: Entry, user: string): McpConnection | null =>
  connections.get(signIn?.ownerOf(user) ?? EVERYBODY) ?? null;

/** Of several users, the first that is offered a tool names it for all. */
function definitionsOf({ connections }: Entry): Definition[] {
  const byName = new Map<string, Definition>();
  for (const { definitions } of connections.values())
    for (const definition of definitions)
      if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return [...byName.values()];
}

const isOff = ({ server }: Entry, { name }: Definition): boolean =>
  server.disabledTools?.includes(name) ?? false;

const offeredBy = (entry: Entry): Definition[] =>
  definitionsOf(entry).filter((definition) => !isOff(entry, definition));

/** What a connection is made with: another choice of tools keeps it. */
const withoutChoice = ({ disabledTools: _, ...server }: McpServer) => server;

function viewOf(entry: Entry): McpServerView {
  const { name, server, tools, signIn, connections } = entry;
  const all = [...connections.values()];
  // Of users, the connection that is in the worst state, but not that nobody has signed in.
  const shown =
    all.find(({ state }) => state === 'away') ?? all.find(({ state }) => state === 'ready') ?? all[0];
  return {
    name,
    kind: 'url' in server ? 'address' : 'process',
    trusted: server.trusted,
    state: shown?.state ?? 'sign-in',
    signIn: signIn && { who: isPerUser(entry) ? 'user' : 'server', signedIn: signIn.count },
    tools,
    allTools: definitionsOf(entry).map((definition) => ({
      name: definition.name,
      description: definition.description ?? '',
      isOff: isOff(entry, definition),
    })),
    error: shown?.lastError ?? null,
    output: shown?.output ?? [],
  };
}
