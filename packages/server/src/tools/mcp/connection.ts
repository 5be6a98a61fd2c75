/**
 * One MCP server, reconnected with growing delays if it is lost. Its last listed tools stay known; calls fail
 * immediately until it is back.
 */

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  CallToolResult,
  Client,
  Tool as Definition,
  GetPromptResult,
  JsonSchemaValidator,
  jsonSchemaValidator,
  Prompt,
  ReadResourceResult,
  Resource,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { Fault, type JsonObject } from '@parlance/protocol';
import { version } from '../../../package.json' with { type: 'json' };
import type { Log } from '../../core/ports/telemetry.ts';
import { cutText } from '../cut.ts';
import { APPS } from './apps.ts';
import { currentCall, type LiveCall, type McpAnswer } from './live-call.ts';
import type { ServerRequest } from './requests.ts';
import { type Redact, redactorFor } from './secrets.ts';
import type { McpServer } from './servers.ts';
import { type SignIn, SignInNeeded } from './sign-in.ts';
import { openTransport, type TransportAuth } from './transport.ts';

export type { Definition };

export type ConnectionOptions = {
  readonly log: Log;
  /** delay before the first restart, in milliseconds; doubles each time */
  readonly pauseMs?: number;
};

/** The sign-in of a connection: of all users, or of one. */
export type ConnectionSignIn = { readonly signIn: SignIn; readonly owner: string };

type State =
  | { readonly phase: 'new' }
  | { readonly phase: 'starting'; readonly abort: AbortController }
  | { readonly phase: 'ready'; readonly client: Client; readonly since: number }
  /** waits until somebody has signed in */
  | { readonly phase: 'signing-in' }
  | { readonly phase: 'pausing'; readonly timer: ReturnType<typeof setTimeout> }
  | { readonly phase: 'closed' };

export type McpOffers = { readonly prompts: readonly Prompt[]; readonly resources: readonly Resource[] };

const NO_OFFERS: McpOffers = { prompts: [], resources: [] };

/** A call, or its next round: `rounds` has what the server asked for. */
export type McpCall = {
  readonly definition: Definition;
  readonly input: JsonObject;
  readonly rounds?: { readonly responses?: JsonObject; readonly state?: string } | undefined;
  readonly live: LiveCall;
};

/** `away`: unreachable or lost; retried after a delay. */
export type McpState = 'starting' | 'ready' | 'sign-in' | 'away' | 'closed';

const STATES = {
  new: 'starting',
  starting: 'starting',
  ready: 'ready',
  'signing-in': 'sign-in',
  pausing: 'away',
  closed: 'closed',
} satisfies Record<State['phase'], McpState>;

/** The last error of a server, without secrets. */
export type McpError = { readonly at: number; readonly message: string };

/** A process of a server, from its start to its end. */
type Run = {
  /** the latest lines of stderr; they may arrive after the end */
  readonly lines: string[];
  /** how it ended by itself, as the end of a sentence */
  ending: string | null;
  /** why it was disconnected because of what it sent */
  exceeded: string | null;
};

const START_MS = 30_000;
/** Longer than any limit of a call, with the answers of a user in it. */
const MAX_CALL_MS = 24 * 3_600_000;
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
/** After this uptime, the delays start again from the first. */
const WELL_MS = 60_000;
/** A server that was disconnected because of what it sent is retried as if it had failed that many times. */
const EXCEEDED_FAILURES = 7;
/** Notifications of changed tools that arrive within this time lead to one list. */
const LIST_PAUSE_MS = 500;
/** For lists and reads that a user waits for. */
const OFFER_MS = 15_000;
const MAX_PROMPTS = 100;
const MAX_RESOURCES = 500;
const MAX_TOOLS = 256;
/** Links of one refusal that the user is asked to open. */
const MAX_LINKS = 3;
/** Number of output lines kept for admins. */
const MAX_LINES = 200;
const DEFINITION_CHARACTERS = 64_000;

export class McpConnection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #options: ConnectionOptions;
  readonly #signIn: ConnectionSignIn | null;
  readonly #redact: Redact;
  /** the calls that run */
  readonly #live = new Set<LiveCall>();
  #state: State = { phase: 'new' };
  #failures = 0;
  #definitions: readonly Definition[] = [];
  /** with the process that it is about, if it was lost or did not start */
  #lastError: (McpError & { readonly run: Run | null }) | null = null;
  #run: Run = { lines: [], ending: null, exceeded: null };
  readonly #output: string[] = [];
  /** called when the list of tools changes */
  onChange: () => void = () => undefined;
  /** called when the prompts or resources have changed, as the server says */
  onOffers: () => void = () => undefined;

  constructor(
    name: string,
    server: McpServer,
    options: ConnectionOptions & { readonly signIn: ConnectionSignIn | null },
  ) {
    this.#name = name;
    this.#signIn = options.signIn;
    this.#server = server;
    this.#options = options;
    this.#redact = redactorFor(server);
  }

  get definitions(): readonly Definition[] {
    return this.#definitions;
  }

  definitionOf(tool: string): Definition | undefined {
    return this.#definitions.find(({ name }) => name === tool);
  }

  get state(): McpState {
    return STATES[this.#state.phase];
  }

  get lastError(): McpError | null {
    if (!this.#lastError) return null;
    const { at, message, run } = this.#lastError;
    if (run?.exceeded) return { at, message: `closed: ${run.exceeded}` };
    if (!run) return { at, message };
    const reason = reasonIn(run.lines);
    const what = run.ending === null ? message : `the program ${run.ending}`;
    return { at, message: cutText(reason === undefined ? what : `${what}: ${reason}`, 2_000) };
  }

  /** The latest lines of stderr, including those of earlier processes. */
  get output(): readonly string[] {
    return this.#output;
  }

  /** Resolves after the first attempt, successful or not. Never throws. */
  async start(): Promise<void> {
    const abort = new AbortController();
    this.#state = { phase: 'starting', abort };
    try {
      await this.#connect(abort.signal);
    } catch (caught) {
      const thrown = await this.#refusal(caught);
      if (this.#closed()) return;
      if (thrown instanceof SignInNeeded) {
        this.#state = { phase: 'signing-in' };
        this.#lastError = null;
        this.#options.log.info({ server: this.#name }, 'MCP server waits for a sign-in');
        return;
      }
      const reason = this.#recordError(thrown, this.#run);
      this.#options.log.warn({ server: this.#name, reason }, 'failed to connect to MCP server');
      this.#pause();
    }
  }

  /** Connects if it waited for a sign-in. */
  async signedIn(): Promise<void> {
    if (this.#state.phase === 'signing-in') await this.start();
  }

  /** What a refusal of the server means: a sign-in may be needed. */
  async #refusal(thrown: unknown): Promise<unknown> {
    const { InsufficientScopeError } = await import('@modelcontextprotocol/client');
    if (!(thrown instanceof InsufficientScopeError) || !this.#signIn) return thrown;
    const { signIn, owner } = this.#signIn;
    const { requiredScope: scope, resourceMetadataUrl: metadata } = thrown;
    return signIn.stepUp(owner, { scope, metadata }).catch((reason: unknown) => reason);
  }

  /**
   * Runs a call, and answers what the server asked for in an earlier round. Throws a `Fault` if there is no response: the
   * server is unavailable or too slow, or the call is cancelled.
   */
  async call({ definition, input, rounds, live }: McpCall): Promise<McpAnswer> {
    const state = this.#state;
    const run = this.#run;
    const { signal } = live;
    if (signal.aborted) throw signal.reason;
    if (state.phase === 'signing-in') return { kind: 'sign-in' };
    if (state.phase !== 'ready') throw this.#away();
    const { isInputRequiredResult, ProtocolError, SdkError, SdkErrorCode, UrlElicitationRequiredError } =
      await import('@modelcontextprotocol/client');
    const { outputSchema: _, ...toolDefinition } = definition;
    const params = {
      name: definition.name,
      arguments: input,
      ...(rounds?.responses && { inputResponses: rounds.responses }),
      ...(rounds?.state !== undefined && { requestState: rounds.state }),
    };
    this.#live.add(live);
    try {
      const result: unknown = await state.client.callTool(params, {
        // The call has its own limit, which stands still while the user is asked.
        ...{ signal, timeout: MAX_CALL_MS, allowInputRequired: true, toolDefinition },
        onprogress: ({ progress, total, message }) =>
          live.progressed({
            ...(total && { progress: Math.min(1, progress / total) }),
            ...(message !== undefined && { message: cutText(message, 500) }),
          }),
      });
      if (!isInputRequiredResult(result)) return { kind: 'done', result: result as CallToolResult };
      const { inputRequests, requestState } = result;
      return {
        kind: 'input',
        requests: (inputRequests ?? {}) as Readonly<Record<string, ServerRequest>>,
        ...(requestState !== undefined && { state: requestState }),
      };
    } catch (caught) {
      if (signal.aborted) throw signal.reason;
      const thrown = await this.#refusal(caught);
      if (thrown instanceof SignInNeeded) return { kind: 'sign-in' };
      if (thrown instanceof Fault) throw thrown;
      if (thrown instanceof UrlElicitationRequiredError)
        return { kind: 'input', requests: linksOf(thrown), refused: true };
      if (thrown instanceof ProtocolError) return { kind: 'refused', message: this.#reason(thrown) };
      const reason = this.#recordError(thrown, run.exceeded === null ? null : run);
      this.#options.log.warn({ server: this.#name, reason }, 'MCP call failed');
      if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult) {
        throw new Fault('tool_failed', `The answer of the MCP server ${this.#name} cannot be read.`);
      }
      void this.#lose(state.client);
      const why = run.exceeded === null ? '' : ` (${run.exceeded})`;
      const message = `The MCP server ${this.#name} was lost during the call${why}; the outcome is unknown.`;
      throw new Fault('tool_failed', message);
    } finally {
      this.#live.delete(live);
    }
  }

  /** What the server offers to users, at this moment; nothing while it is unavailable. */
  async offers(): Promise<McpOffers> {
    const state = this.#state;
    if (state.phase !== 'ready') return NO_OFFERS;
    const capabilities = state.client.getServerCapabilities();
    const options = { timeout: OFFER_MS };
    const [prompts, resources] = await Promise.all([
      capabilities?.prompts ? state.client.listPrompts(undefined, options) : { prompts: [] },
      capabilities?.resources ? state.client.listResources(undefined, options) : { resources: [] },
    ]).catch((thrown: unknown) => {
      this.#options.log.warn(
        { server: this.#name, reason: this.#reason(thrown) },
        'failed to list MCP prompts',
      );
      return [{ prompts: [] }, { resources: [] }] as const;
    });
    return {
      prompts: prompts.prompts.slice(0, MAX_PROMPTS),
      resources: resources.resources.slice(0, MAX_RESOURCES),
    };
  }

  /** Throws a `Fault` if the server is unavailable or refuses. */
  async prompt(name: string, input: Readonly<Record<string, string>>): Promise<GetPromptResult> {
    return this.#asked((client) =>
      client.getPrompt({ name, arguments: { ...input } }, { timeout: OFFER_MS }),
    );
  }

  /** Throws like `prompt`. */
  async resource(uri: string): Promise<ReadResourceResult> {
    return this.#asked((client) => client.readResource({ uri }, { timeout: OFFER_MS }));
  }

  async #asked<Result>(ask: (client: Client) => Promise<Result>): Promise<Result> {
    const state = this.#state;
    if (state.phase !== 'ready')
      throw new Fault('not_found', `The MCP server ${this.#name} is not available.`);
    try {
      return await ask(state.client);
    } catch (thrown) {
      throw new Fault('invalid', `The MCP server ${this.#name} refused: ${this.#reason(thrown)}`, {
        cause: thrown,
      });
    }
  }

  /** Stops the process or closes the connection, without a restart. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { phase: 'closed' };
    if (state.phase === 'pausing') clearTimeout(state.timer);
    if (state.phase === 'starting') state.abort.abort();
    if (state.phase === 'ready') await this.#end(state.client);
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const client = await this.#newClient();
    const run: Run = { lines: [], ending: null, exceeded: null };
    this.#run = run;
    let isClosing = false;
    const way = {
      name: this.#name,
      server: this.#server,
      auth: this.#auth(),
      redact: this.#redact,
      keep: (line: string) => this.#keep(line, run),
      ended: (ending: string) => {
        if (!isClosing) run.ending = ending;
      },
      exceeded: (reason: string) => {
        run.exceeded = reason;
      },
    };
    try {
      await client.connect(await openTransport(way, log), { signal, timeout: START_MS });
      const { tools } = await client.listTools(undefined, { signal, timeout: START_MS });
      if (signal.aborted) throw new Fault('cancelled', 'aborted');
      // The server may have died after its response: then this start has failed.
      if (!client.transport) throw new Error('the server closed the connection');
      this.#state = { phase: 'ready', client, since: Date.now() };
      this.#learn(tools);
    } catch (thrown) {
      isClosing = true;
      await this.#end(client);
      throw thrown;
    }
    log.info({ server: this.#name, tools: this.#definitions.length }, 'MCP server is ready');
  }

  #auth(): TransportAuth | null {
    if (!this.#signIn) return null;
    const { signIn, owner } = this.#signIn;
    return { token: () => signIn.token(owner), renew: (response) => signIn.renew(owner, response) };
  }

  #keep(line: string, { lines }: Run): void {
    for (const kept of [this.#output, lines]) {
      kept.push(line);
      if (kept.length > MAX_LINES) kept.shift();
    }
  }

  async #newClient(): Promise<Client> {
    const { Client, ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/client');
    const client = new Client(
      { name: 'parlance', version },
      {
        // Version negotiation would cost a second process for a stdio server.
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, extensions: APPS },
        // A question outlives this process: the call goes on with the answer in its next round.
        inputRequired: { autoFulfill: false },
        versionNegotiation: { mode: 'url' in this.#server ? 'auto' : 'legacy' },
        jsonSchemaValidator: asTheyCome,
        listChanged: {
          tools: {
            debounceMs: LIST_PAUSE_MS,
            onChanged: (error, tools) => this.#relearn(client, error, tools),
          },
          // They are listed when somebody looks at them.
          prompts: { autoRefresh: false, debounceMs: LIST_PAUSE_MS, onChanged: () => this.onOffers() },
          resources: { autoRefresh: false, debounceMs: LIST_PAUSE_MS, onChanged: () => this.onOffers() },
        },
      },
    );
    for (const method of ['elicitation/create', 'sampling/createMessage'] as const)
      client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
        const call = this.#callOf();
        const request = { method, params: params as JsonObject };
        if (call) return call.ask(request, mcpReq.signal) as never;
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'No call of this server runs.');
      });
    client.setRequestHandler('roots/list', async () => ({ roots: rootsOf(this.#callOf()?.root) }));
    client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
      const text = cutText(this.#redact(typeof data === 'string' ? data : JSON.stringify(data)), 2_000);
      this.#keep(`${level}: ${text}`, this.#run);
    });
    client.onclose = () => void this.#lose(client);
    client.onerror = (error) =>
      this.#options.log.debug({ server: this.#name, reason: this.#reason(error) }, 'MCP connection failed');
    return client;
  }

  /** The call that a request of the server belongs to; null if that cannot be told. */
  #callOf(): LiveCall | null {
    const current = currentCall.getStore();
    if (current && this.#live.has(current)) return current;
    const [first, ...others] = this.#live;
    return first && others.every(({ session }) => session === first.session) ? first : null;
  }

  #relearn(client: Client, error: Error | null, tools: readonly Definition[] | null): void {
    if (this.#state.phase !== 'ready' || this.#state.client !== client) return;
    if (tools) this.#learn(tools);
    else
      this.#options.log.warn(
        { server: this.#name, reason: this.#reason(error) },
        'failed to refresh MCP tools',
      );
  }

  #learn(listed: readonly Definition[]): void {
    const fitting = listed.filter((tool) => JSON.stringify(tool).length <= DEFINITION_CHARACTERS);
    const kept = fitting.slice(0, MAX_TOOLS);
    if (kept.length < listed.length) {
      const leftOut = listed.length - kept.length;
      this.#options.log.warn({ server: this.#name, leftOut }, 'MCP tools left out: too many or too large');
    }
    if (Bun.deepEquals(kept, this.#definitions)) return;
    this.#definitions = kept;
    this.onChange();
  }

  /** Runs once per client, even if several callers notice the loss. */
  async #lose(client: Client): Promise<void> {
    const state = this.#state;
    if (state.phase !== 'ready' || state.client !== client) return;
    if (Date.now() - state.since > WELL_MS) this.#failures = 0;
    const reason = this.#recordError('the server closed the connection', this.#run);
    this.#options.log.warn({ server: this.#name, reason }, 'MCP server lost');
    this.#pause();
    await this.#end(client);
  }

  #pause(): void {
    if (this.#run.exceeded) this.#failures = Math.max(this.#failures, EXCEEDED_FAILURES);
    const max = Math.min(MAX_PAUSE_MS, (this.#options.pauseMs ?? PAUSE_MS) * 2 ** this.#failures++);
    const timer = setTimeout(() => void this.start(), max * (0.5 + Math.random() / 2));
    timer.unref();
    this.#state = { phase: 'pausing', timer };
  }

  async #end(client: Client): Promise<void> {
    await client.close().catch((thrown) => {
      this.#options.log.debug(
        { server: this.#name, reason: this.#reason(thrown) },
        'failed to close MCP server',
      );
    });
  }

  #closed(): boolean {
    return this.#state.phase === 'closed';
  }

  #away(): Fault {
    const retryHint = this.#closed() ? '' : '; it is being started again';
    return new Fault('tool_failed', `The MCP server ${this.#name} is not running${retryHint}.`);
  }

  #recordError(thrown: unknown, run: Run | null = null): string {
    const message = this.#reason(thrown);
    this.#lastError = { at: Date.now(), message, run };
    return this.lastError?.message ?? message;
  }

  #reason(thrown: unknown): string {
    return cutText(this.#redact(thrown instanceof Error ? thrown.message : String(thrown)), 2_000);
  }
}

/** The line that says why a program failed: the first error of npm, the last error of others, or the last line. */
function reasonIn(lines: readonly string[]): string | undefined {
  const npm = lines.find((line) => /^npm (?:error|ERR!) (?!code\b|errno\b|A complete log)\S/.test(line));
  return (
    npm ??
    lines.findLast((line) => /^\W*(?:[\w.]*(?:error|exception)|fatal|panic)\b/i.test(line)) ??
    lines.at(-1)
  );
}

/** The working folder of a session, as a root. */
export const rootsOf = (folder: string | undefined): { uri: string; name: string }[] =>
  folder === undefined ? [] : [{ uri: pathToFileURL(folder).href, name: basename(folder) }];

/** Links that the user must open before the call can run. */
const linksOf = ({ elicitations }: UrlElicitationRequiredError): Readonly<Record<string, ServerRequest>> =>
  Object.fromEntries(
    elicitations
      .slice(0, MAX_LINKS)
      .map((params, index) => [
        String(index + 1),
        { method: 'elicitation/create', params: { ...params } as JsonObject },
      ]),
  );

/** Passes results through without validating them against the server's own schema. */
const asTheyCome: jsonSchemaValidator = {
  getValidator:
    <Value>(): JsonSchemaValidator<Value> =>
    (input) => ({ valid: true, data: input as Value, errorMessage: undefined }),
};
