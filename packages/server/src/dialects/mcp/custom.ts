/**
 * What the operator's modules offer: tools as direct calls of the core, with its approvals, in a session of their own; prompts and
 * resources, which are read at once. All of them can ask the client something.
 */
import { Fault, isObject, type Json, type JsonObject, type Principal, TurnId } from '@parlance/protocol';
import type { CallPeer, CustomContext, CustomPrompt, CustomResource } from '../../core/index.ts';
import {
  invalidParams,
  notificationMessage,
  type Params,
  type RequestId,
  RpcFault,
} from '../kit/json-rpc.ts';
import { parseBody } from '../kit/serve-endpoints.ts';
import { readUpdates } from '../kit/turn-updates.ts';
import type { Context, Peer } from './clients.ts';
import { CODES, META } from './contract.ts';
import type { CallStream, FollowedTurn } from './follow-turn.ts';
import { contentOf } from './outbound.ts';

export type CustomCaller = {
  readonly principal: Principal;
  readonly peer: Peer;
  /** the agent whose tools are offered; the default one if undefined */
  readonly agent: string | undefined;
};

// Tools

export const customTools = ({ engine }: Context, { principal, agent }: CustomCaller) =>
  engine.customTools(principal, agent);

/** Throws if the tool needs a capability that the client does not have. */
export function checkNeeds(ctx: Context, caller: CustomCaller, { name }: Params): void {
  const tool = customTools(ctx, caller).find((one) => one.name === name);
  const missing = tool?.needs.filter((capability) => !(capability in caller.peer.capabilities)) ?? [];
  if (missing.length === 0) return;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  throw new RpcFault(CODES.capability, `The tool needs a client with the capability ${missing.join(', ')}.`, {
    requiredCapabilities,
  });
}

type CustomCall = {
  readonly stream: CallStream | null;
  readonly progressToken: RequestId | undefined;
  readonly params: Params;
};

/** Starts a direct call. Throws a `Fault` if its arguments are invalid. */
export async function startCustomCall(
  ctx: Context,
  { principal, peer, agent }: CustomCaller,
  tool: string,
  call: CustomCall,
): Promise<FollowedTurn> {
  const { engine, newId } = ctx;
  const input = (call.params.arguments ?? {}) as JsonObject;
  if (!isObject(input)) throw new Fault('tool_invalid', 'The arguments must be an object.');
  engine.checkCall(tool, input);
  const ref = await engine.resolve(principal, newId());
  const turn = TurnId.parse(newId());
  const client = new CallClient(ctx, principal, peer, ref.id, call);
  const remove = engine.clients.addPeer(ref, client);
  try {
    await engine.send(
      ref,
      { type: 'session.create', ephemeral: true, agent, named: false },
      { principal, dialect: 'mcp' },
    );
    const { seq: after } = await engine.snapshot(ref);
    const command = { type: 'input.submit' as const, parts: [], call: { tool, input }, answeredBy: agent };
    await engine.send(ref, command, { principal, dialect: 'mcp', turn });
    const reader = await readUpdates(engine, ref, { after });
    reader.follow(
      { input: null, turn },
      {
        update: () => undefined,
        status: () => undefined,
        ended() {
          remove();
          ctx.clients.forgetAsked(ref.id);
          reader.stop();
        },
      },
    );
    return { ref, turn, after };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

/** The notifications of a call go to the stream of the request that follows it. */
export function attachCall(
  { engine }: Context,
  { ref }: FollowedTurn,
  call: Omit<CustomCall, 'params'>,
): void {
  const client = engine.clients.peerOf(ref);
  if (client instanceof CallClient) client.attach(call);
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export const isLevel = (level: unknown): level is string => LEVELS.includes(String(level));

const NEEDED: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Throws a `Fault` if the client cannot answer the request. */
function checkRequest(peer: Peer, method: string): void {
  const needed = NEEDED[method];
  if (needed === undefined) throw new Fault('tool_failed', `Clients do not have the method ${method}.`);
  if (!(needed in peer.capabilities))
    throw new Fault('tool_failed', `The client does not have the capability ${needed}.`);
}

/** The client of a call, as the tool sees it. */
class CallClient implements CallPeer {
  readonly capabilities: JsonObject;
  #stream: CallStream | null;
  #progressToken: RequestId | undefined;
  readonly #given: Params;
  readonly #level: string | null;

  constructor(
    private readonly ctx: Context,
    private readonly principal: Principal,
    private readonly peer: Peer,
    private readonly session: string,
    { stream, progressToken, params }: CustomCall,
  ) {
    this.capabilities = peer.capabilities as JsonObject;
    this.#stream = stream;
    this.#progressToken = progressToken;
    this.#given = isObject(params.inputResponses) ? params.inputResponses : {};
    const level = isObject(params._meta) ? params._meta[META.logLevel] : undefined;
    // Since 2026-07-28 a client says with each request what it wants; before, everything but `debug` is the default.
    this.#level =
      peer.era === 'modern' ? (isLevel(level) ? level : null) : ctx.clients.levelOf(principal.id, peer);
  }

  attach({ stream, progressToken }: Omit<CustomCall, 'params'>): void {
    this.#stream = stream;
    this.#progressToken = progressToken;
  }

  async request(name: string, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    checkRequest(this.peer, method);
    const given = this.#given[name];
    if (isObject(given)) return given as JsonObject;
    if (this.peer.era === 'legacy' && !this.#stream)
      throw new Fault('tool_failed', 'The client accepts no requests during this call.');
    return this.ctx.clients.ask(
      { principal: this.principal.id, session: this.session, name, method, params },
      signal,
    );
  }

  progress(update: { readonly progress: number; readonly total?: number; readonly message?: string }): void {
    if (this.#progressToken === undefined) return;
    const params = { progressToken: this.#progressToken, ...update };
    this.#stream?.send(notificationMessage('notifications/progress', params));
  }

  log(level: string, data: Json): void {
    if (this.#level === null || LEVELS.indexOf(level) < LEVELS.indexOf(this.#level)) return;
    this.#stream?.send(notificationMessage('notifications/message', { level, data }));
  }
}

// Prompts

const promptNamed = ({ custom }: Context, name: unknown): CustomPrompt => {
  const prompt = custom.prompts.find((one) => one.name === name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${String(name).slice(0, 200)}`);
  return prompt;
};

export const listPrompts = ({ custom }: Context) => ({
  prompts: custom.prompts.map(({ name, title, description, arguments: given }) => ({
    name,
    ...(title !== undefined && { title }),
    description,
    arguments: given.map(({ complete: _, ...argument }) => argument),
  })),
});

export async function getPrompt(ctx: Context, caller: CustomCaller, params: Params): Promise<object> {
  const prompt = promptNamed(ctx, params.name);
  const given = textsOf(params.arguments);
  for (const { name, required } of prompt.arguments)
    if (required && given[name] === undefined) throw invalidParams(`The argument ${name} is missing.`);
  return withQuestions(caller, params, async (context) => ({
    description: prompt.description,
    messages: (await prompt.run(given, context)).flatMap(({ role, parts }) =>
      parts.map((part) => ({ role, content: contentOf(part) })),
    ),
  }));
}

const textsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

// Resources

const view = ({ name, title, description, mime }: CustomResource) => ({
  name,
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(mime !== undefined && { mimeType: mime }),
});

export const customResources = ({ custom }: Context) =>
  custom.resources.filter(({ isTemplate }) => !isTemplate).map((one) => ({ uri: one.uri, ...view(one) }));

export const customTemplates = ({ custom }: Context) =>
  custom.resources
    .filter(({ isTemplate }) => isTemplate)
    .map((one) => ({ uriTemplate: one.uri, ...view(one) }));

/** Undefined if the address is not that of an own resource. */
export function customResourceAt({ custom }: Context, uri: unknown) {
  if (typeof uri !== 'string') return undefined;
  for (const resource of custom.resources) {
    const params = resource.match(uri);
    if (params) return { resource, params };
  }
  return undefined;
}

/** Null if there is no such resource. */
export async function readCustom(
  caller: CustomCaller,
  { resource, params: values }: NonNullable<ReturnType<typeof customResourceAt>>,
  params: Params,
): Promise<object | null> {
  const uri = String(params.uri);
  let isMissing = false;
  const result = await withQuestions(caller, params, async (context) => {
    const content = await resource.read(values, context);
    isMissing = content === null;
    const mimeType =
      resource.mime ?? (typeof content === 'string' ? 'text/plain' : 'application/octet-stream');
    const body =
      typeof content === 'string'
        ? { text: content }
        : { blob: Buffer.from(content ?? []).toString('base64') };
    return { contents: [{ uri, mimeType, ...body }] };
  });
  return isMissing ? null : result;
}

// Completions

const MAX_VALUES = 100;

export async function complete(ctx: Context, params: Params): Promise<object> {
  const { ref, argument, context } = params;
  if (
    !isObject(ref) ||
    !isObject(argument) ||
    typeof argument.name !== 'string' ||
    typeof argument.value !== 'string'
  )
    throw invalidParams('ref and argument are required.');
  const completer =
    ref.type === 'ref/prompt'
      ? promptNamed(ctx, ref.name).arguments.find(({ name }) => name === argument.name)?.complete
      : ctx.custom.resources.find(({ uri }) => uri === ref.uri)?.complete[argument.name];
  const others = textsOf(isObject(context) ? context.arguments : undefined);
  const values = (await completer?.(argument.value, others)) ?? [];
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

// Prompts and resources that ask the client something, since 2026-07-28: they run again from the start with all answers. The state has the
// answers of earlier rounds; they are the client's own, so that it may change them.

async function withQuestions(
  { principal, peer }: CustomCaller,
  params: Params,
  run: (context: CustomContext) => Promise<object>,
): Promise<object> {
  const answers = {
    ...earlierAnswers(params.requestState),
    ...(isObject(params.inputResponses) ? params.inputResponses : {}),
  };
  const asked: Record<string, object> = {};
  const { promise: waits, resolve } = Promise.withResolvers<null>();
  const abandoned = new AbortController();
  const request = async (name: string, method: string, given: JsonObject = {}): Promise<JsonObject> => {
    checkRequest(peer, method);
    const answer = answers[name];
    if (isObject(answer)) return answer as JsonObject;
    if (peer.era === 'legacy')
      throw new Fault('tool_failed', 'The client accepts requests only during calls of tools.');
    asked[name] = { method, params: given };
    // What is asked at the same time is one result.
    setTimeout(() => resolve(null));
    return new Promise(() => undefined);
  };
  const client = { capabilities: peer.capabilities as JsonObject, request };
  const result = await Promise.race([run({ signal: abandoned.signal, user: principal.id, client }), waits]);
  if (result) return result;
  abandoned.abort();
  const known = Object.fromEntries(Object.entries(answers).filter(([, answer]) => isObject(answer)));
  return {
    resultType: 'input_required',
    inputRequests: asked,
    requestState: Buffer.from(JSON.stringify({ answers: known })).toString('base64url'),
  };
}

function earlierAnswers(state: unknown): Params {
  if (state === undefined) return {};
  const parsed = typeof state === 'string' ? parseBody(Buffer.from(state, 'base64url')) : {};
  const value = 'value' in parsed && isObject(parsed.value) ? parsed.value.answers : undefined;
  if (!isObject(value)) throw invalidParams('The requestState is not one of this server.');
  return value;
}
