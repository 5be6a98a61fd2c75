/**
 * OAuth of one MCP server: discovery, registration, links for the browser, tokens and their renewal. What is stored is
 * encrypted, and belongs to the address that it was given for. The flows themselves are those of the official client.
 */
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { Fault, type JsonObject } from '@parlance/protocol';
import type { SettingsStore } from '../../accounts/store.ts';
import { cutText } from '../cut.ts';
import type { McpServer } from './servers.ts';
import { signInFetch } from './sign-in-fetch.ts';

export type HttpServer = Extract<McpServer, { url: string }>;

/** Where authorization servers send browsers back to. */
export const SIGN_IN_PATH = '/v1/mcp/signed-in';
/** The document that describes this client to authorization servers that read it. */
export const CLIENT_PATH = '/v1/mcp/client.json';

/** Whose tokens: of all users, or of one. */
export const EVERYBODY = '';

/** Encrypts what is stored. */
export type Vault = {
  seal(value: JsonObject): Promise<string>;
  /** Null if it was sealed with another secret or modified. */
  unseal(sealed: string): Promise<JsonObject | null>;
};

export type SignInOptions = {
  readonly settings: SettingsStore;
  readonly vault: Vault;
  /** the address of this server, if the operator has set it */
  readonly publicUrl?: string | undefined;
  /** the address of the client's document, if it is not derived from the address of this server */
  readonly clientDocument?: string;
  readonly now?: () => number;
};

/** Thrown where a request needs a sign-in that only a person can do. */
export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
  constructor(readonly owner: string) {
    super('a sign-in is needed');
  }
}

/** A sign-in that a browser was sent away for. */
type Pending = {
  readonly owner: string;
  readonly at: number;
  readonly verifier: string;
  readonly redirect: string;
  readonly scope: string | null;
  readonly discovery: OAuthDiscoveryState | null;
};

type Grant = StoredOAuthTokens & { readonly redirect: string; readonly requested: string | null };

type Stored = {
  /** of the MCP server */
  readonly url: string;
  /** of this server, as the latest sign-in reached it */
  readonly origin: string | null;
  /** by authorization server and redirect address */
  readonly clients: Readonly<Record<string, StoredOAuthClientInformation>>;
  /** by owner */
  readonly tokens: Readonly<Record<string, Grant>>;
  /** by hash of the state */
  readonly pending: Readonly<Record<string, Pending>>;
};

/** What the server asked for with its latest refusal. */
type Challenge = { readonly scope?: string | undefined; readonly metadata?: URL | undefined };

const PENDING_MS = 15 * 60_000;
const MAX_PENDING = 50;
const MAX_OWNERS = 1_000;
const MAX_CLIENTS = 50;
const MAX_CHARACTERS = 1_000_000;
const MAX_METADATA = 50_000;
const WRITES = 10;
/** Calls of one user that wait for a sign-in. */
const MAX_WAITING = 100;

export class SignIn {
  readonly #name: string;
  readonly #server: HttpServer;
  readonly #options: SignInOptions;
  readonly #challenges = new Map<string, Challenge>();
  readonly #renewals = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #known: { readonly version: number; readonly stored: Stored } | null = null;

  constructor(name: string, server: HttpServer, options: SignInOptions) {
    this.#name = name;
    this.#server = server;
    this.#options = options;
  }

  /** Whose tokens a call of the user needs. */
  ownerOf(user: string): string {
    return this.#server.signIn === 'user' ? user : EVERYBODY;
  }

  /** Users that have signed in, or `EVERYBODY`. */
  async owners(): Promise<string[]> {
    return Object.keys((await this.#read()).stored.tokens);
  }

  /** How many have signed in, as far as it is known. */
  get count(): number {
    return this.#count;
  }

  async isSignedIn(owner: string): Promise<boolean> {
    return (await this.#read()).stored.tokens[owner] !== undefined;
  }

  async token(owner: string): Promise<string | undefined> {
    return (await this.#read()).stored.tokens[owner]?.access_token;
  }

  /** Resolves when somebody has signed in. */
  signedIn(owner: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, [...waiting, resolve].slice(-MAX_WAITING));
    return promise;
  }

  /** Reads again what other nodes may have changed. Returns the owners that have signed in since. */
  async reload(): Promise<string[]> {
    const before = await this.#read();
    this.#forget();
    const { stored } = await this.#read();
    return Object.entries(stored.tokens).flatMap(([owner, { access_token }]) => {
      if (before.stored.tokens[owner]?.access_token === access_token) return [];
      this.#announce(owner);
      return [owner];
    });
  }

  #announce(owner: string): void {
    for (const resolve of this.#waiting.get(owner) ?? []) resolve();
    this.#waiting.delete(owner);
  }

  #forget(): void {
    this.#known = null;
  }

  /** After a 401: renews the tokens. Throws `SignInNeeded` if a person has to. */
  async renew(owner: string, response: Response): Promise<void> {
    const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    this.#challenges.set(owner, { scope, metadata: resourceMetadataUrl });
    const used = await this.token(owner);
    this.#forget();
    // Another call, or another node, has renewed them.
    if ((await this.token(owner)) !== used) return;
    const running = this.#renewals.get(owner) ?? this.#refresh(owner);
    this.#renewals.set(owner, running);
    await running.finally(() => this.#renewals.delete(owner));
  }

  async #refresh(owner: string): Promise<void> {
    const { stored } = await this.#read();
    const grant = stored.tokens[owner];
    if (!grant?.refresh_token) throw new SignInNeeded(owner);
    const { auth } = await import('@modelcontextprotocol/client');
    const provider = {
      ...this.#provider(owner, grant.redirect, grant.requested),
      saveCodeVerifier: () => undefined,
      codeVerifier: () => '',
      redirectToAuthorization() {
        throw new SignInNeeded(owner);
      },
    };
    await auth(provider, this.#asked(owner, null));
  }

  /** After a 403: throws `SignInNeeded` if a sign-in with more scopes may help, otherwise a `Fault`. */
  async stepUp(owner: string, challenge: Challenge): Promise<never> {
    const { computeScopeUnion, isStrictScopeSuperset } = await import('@modelcontextprotocol/client');
    const grant = (await this.#read()).stored.tokens[owner];
    const granted = [grant?.scope, grant?.requested].filter((scope) => scope).join(' ') || undefined;
    const wanted = computeScopeUnion(granted, challenge.scope);
    if (grant && !isStrictScopeSuperset(wanted, granted))
      throw new Fault(
        'tool_failed',
        `The MCP server ${this.#name} refuses this with the scopes that it gave.`,
      );
    this.#challenges.set(owner, { ...challenge, scope: wanted });
    throw new SignInNeeded(owner);
  }

  /** The address to open in a browser. `origin` is the one under which the browser reaches this server. */
  async begin(owner: string, origin: string | null): Promise<string> {
    const { stored } = await this.#read();
    const own = origin ?? this.#options.publicUrl ?? stored.origin;
    if (own === null)
      throw new Fault(
        'invalid',
        'Open the console once, so that this server knows its own address, or set PARLANCE_PUBLIC_URL.',
      );
    const redirect = `${own}${SIGN_IN_PATH}`;
    const state = randomText();
    const { auth } = await import('@modelcontextprotocol/client');
    let link: URL | null = null;
    let verifier = '';
    let discovery: OAuthDiscoveryState | null = null;
    const provider = {
      ...this.#provider(owner, redirect, null),
      state: () => state,
      saveCodeVerifier(text: string) {
        verifier = text;
      },
      codeVerifier: () => verifier,
      saveDiscoveryState(found: OAuthDiscoveryState) {
        discovery = found;
      },
      redirectToAuthorization(url: URL) {
        link = url;
      },
    };
    try {
      await auth(provider, { ...this.#asked(owner, await this.#scope(owner)), forceReauthorization: true });
    } catch (thrown) {
      throw this.#fault(thrown);
    }
    // Assigned by the callbacks above.
    const [url, found] = [link as URL | null, discovery as OAuthDiscoveryState | null];
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      throw new Fault('invalid', `The MCP server ${this.#name} named no address to sign in at.`);
    if (JSON.stringify(found).length > MAX_METADATA)
      throw new Fault('too_large', `The metadata of the sign-in to ${this.#name} is too large.`);
    const scope = url.searchParams.get('scope');
    const now = this.#now();
    await this.#change((before) => {
      const current = Object.entries(before.pending).filter(([, { at }]) => now - at < PENDING_MS);
      const pending: Pending = { owner, at: now, verifier, redirect, scope, discovery: found };
      const next = [...current, [hashed(state), pending] as const].slice(-MAX_PENDING);
      return { ...before, origin: own, pending: Object.fromEntries(next) };
    });
    return url.href;
  }

  /** Whether the parameters belong to a sign-in that was begun here. */
  async knows(parameters: URLSearchParams): Promise<boolean> {
    this.#forget();
    const { stored } = await this.#read();
    return stored.pending[hashed(parameters.get('state') ?? '')] !== undefined;
  }

  /** What the browser came back with. `owners`: for whom the user may sign in. Each link works once. */
  async finish(owners: readonly string[], parameters: URLSearchParams): Promise<string> {
    const state = hashed(parameters.get('state') ?? '');
    const claimed: { pending?: Pending } = {};
    await this.#change((before) => {
      const { [state]: pending, ...rest } = before.pending;
      if (!pending || this.#now() - pending.at > PENDING_MS || !owners.includes(pending.owner)) return null;
      claimed.pending = pending;
      return { ...before, pending: rest };
    });
    const { pending } = claimed;
    if (!pending)
      throw new Fault('not_found', 'This sign-in is not known, has expired or was begun by somebody else.');
    const { owner, redirect, scope, verifier, discovery } = pending;
    const iss = parameters.get('iss') ?? undefined;
    const { auth, validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
    const provider = {
      ...this.#provider(owner, redirect, scope),
      invalidateCredentials: () => undefined,
      saveCodeVerifier: () => undefined,
      codeVerifier: () => verifier,
      discoveryState: () => discovery ?? undefined,
      saveDiscoveryState: () => undefined,
      redirectToAuthorization() {
        throw new Fault('invalid', 'The sign-in was not completed: begin again.');
      },
    };
    const code = parameters.get('code');
    try {
      if (code === null) {
        const metadata = discovery?.authorizationServerMetadata;
        // Text of somebody else is not shown.
        validateAuthorizationResponseIssuer({
          iss,
          expectedIssuer: metadata?.issuer,
          issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
        });
        const reason = parameters.get('error_description') ?? parameters.get('error') ?? 'no code was given';
        throw new Fault('invalid', `The sign-in was refused: ${cutText(reason, 300)}`);
      }
      await auth(provider, {
        ...this.#asked(owner, scope),
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
      });
    } catch (thrown) {
      throw this.#fault(thrown);
    }
    this.#challenges.delete(owner);
    this.#announce(owner);
    return owner;
  }

  async signOut(owner: string): Promise<void> {
    this.#challenges.delete(owner);
    await this.#change((before) => {
      if (!before.tokens[owner]) return null;
      const { [owner]: _, ...tokens } = before.tokens;
      return { ...before, tokens };
    });
  }

  /** Removes all that is stored, because the server was removed. */
  async clear(): Promise<void> {
    this.#challenges.clear();
    if ((await this.#read()).version > 0) await this.#change(() => nothingFor(this.#server.url));
  }

  async #scope(owner: string): Promise<string | null> {
    const { computeScopeUnion } = await import('@modelcontextprotocol/client');
    return computeScopeUnion(this.#server.oauth?.scope, this.#challenges.get(owner)?.scope) ?? null;
  }

  #asked(owner: string, scope: string | null) {
    const { url, oauth } = this.#server;
    const metadata = this.#challenges.get(owner)?.metadata;
    return {
      serverUrl: url,
      fetchFn: signInFetch([url, ...(oauth?.issuer ? [oauth.issuer] : [])]),
      ...(scope !== null && { scope }),
      ...(metadata && { resourceMetadataUrl: metadata }),
    };
  }

  /** What all flows have in common. */
  #provider(owner: string, redirect: string, scope: string | null) {
    const options = this.#options;
    const { oauth } = this.#server;
    const key = (issuer: string) => `${issuer} ${redirect}`;
    return {
      redirectUrl: redirect,
      ...clientDocumentOf(redirect, options.clientDocument),
      clientMetadata: clientMetadata(redirect),
      clientInformation: async (context) => {
        const issuer = context?.issuer ?? '';
        const { clients } = (await this.#read()).stored;
        if (!oauth?.clientId) return clients[key(issuer)];
        return {
          client_id: oauth.clientId,
          ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
          ...(oauth.issuer !== undefined && { issuer: oauth.issuer }),
        };
      },
      saveClientInformation: async (client, context) => {
        if (oauth?.clientId) {
          // Registered by the operator. With another authorization server, it would be another client.
          if (client.client_id === oauth.clientId) return;
          throw new Fault('tool_failed', 'The authorization server is not the one that is configured.');
        }
        await this.#change((before) => {
          const clients = [...Object.entries(before.clients), [key(context?.issuer ?? ''), client] as const];
          return { ...before, clients: Object.fromEntries(clients.slice(-MAX_CLIENTS)) };
        });
      },
      tokens: async () => (await this.#read()).stored.tokens[owner],
      saveTokens: async (tokens) => {
        await this.#change((before) => {
          const grant: Grant = { ...tokens, redirect, requested: scope };
          const { [owner]: _, ...others } = before.tokens;
          if (Object.keys(others).length >= MAX_OWNERS)
            throw new Fault('limited', `Too many users have signed in to ${this.#name}.`);
          return { ...before, tokens: { ...others, [owner]: grant } };
        });
      },
      invalidateCredentials: async (what) => {
        if (what === 'tokens') await this.signOut(owner);
        if (what === 'client')
          await this.#change((before) => ({
            ...before,
            clients: Object.fromEntries(
              Object.entries(before.clients).filter(([name]) => !name.endsWith(` ${redirect}`)),
            ),
          }));
      },
    } satisfies Partial<OAuthClientProvider>;
  }

  async #read(): Promise<{ readonly version: number; readonly stored: Stored }> {
    if (this.#known) return this.#known;
    const { settings, vault } = this.#options;
    const found = await settings.read(this.#document);
    const opened = found && ((await vault.unseal(String(found.value.sealed))) as Stored | null);
    // Tokens of another address are never sent to this one.
    const stored = opened?.url === this.#server.url ? opened : nothingFor(this.#server.url);
    this.#known = { version: found?.version ?? 0, stored };
    this.#count = Object.keys(stored.tokens).length;
    return this.#known;
  }

  get #document(): string {
    return `mcp-sign-in:${this.#name}`;
  }

  /** `edit` may run several times; null changes nothing. */
  async #change(edit: (before: Stored) => Stored | null): Promise<void> {
    const { settings, vault } = this.#options;
    for (let tries = 0; tries < WRITES; tries++) {
      const { version, stored } = await this.#read();
      const next = edit(stored);
      if (next === null) return;
      const sealed = await vault.seal(JSON.parse(JSON.stringify(next)) as JsonObject);
      if (sealed.length > MAX_CHARACTERS) throw new Fault('too_large', 'Too many sign-ins are stored.');
      this.#forget();
      if (await settings.write(this.#document, { sealed }, version)) return;
    }
    throw new Fault('busy', 'The sign-ins change too often: try again.');
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** The reason in words; errors of the network and of the authorization server are no bugs of this one. */
  #fault(thrown: unknown): Fault {
    if (thrown instanceof Fault)
      return thrown.code === 'tool_failed' ? new Fault('invalid', thrown.message, { cause: thrown }) : thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return new Fault('invalid', `The sign-in to ${this.#name} failed: ${cutText(reason, 500)}`, {
      cause: thrown,
    });
  }
}

const nothingFor = (url: string): Stored => ({ url, origin: null, clients: {}, tokens: {}, pending: {} });

const clientMetadata = (redirect: string) => ({
  client_name: 'Parlance',
  redirect_uris: [redirect],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
});

/** What authorization servers may read about this server at `origin`. */
export const clientDocument = (origin: string) => ({
  client_id: `${origin}${CLIENT_PATH}`,
  ...clientMetadata(`${origin}${SIGN_IN_PATH}`),
  token_endpoint_auth_method: 'none',
});

/** An authorization server can read the document only at a public address. */
function clientDocumentOf(redirect: string, given: string | undefined): { clientMetadataUrl?: string } {
  if (given !== undefined) return { clientMetadataUrl: given };
  const { protocol, origin, hostname } = new URL(redirect);
  const isPublic =
    protocol === 'https:' && hostname.includes('.') && !/^[\d.]+$|\.(?:local|internal)$/.test(hostname);
  return isPublic ? { clientMetadataUrl: `${origin}${CLIENT_PATH}` } : {};
}

const randomText = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

const hashed = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');
