/** Metrics and trace of one model call. */
import {
  type CallerTool,
  type ContextUse,
  type DurableEvent,
  type DurableEventBody,
  type Fallback,
  Fault,
  type FaultCode,
  type JsonObject,
  type ModelOptions,
  type PrincipalId,
  type TurnOptions,
  type Usage,
} from '@parlance/protocol';
import { z } from 'zod';
import type { ProjectContent } from '../ports/project.ts';
import {
  type ContextItem,
  type Prompt,
  type PromptItem,
  type Provider,
  promptItemsOf,
  type ToolSpec,
} from '../ports/provider.ts';
import type { ModelCallInfo, ModelOutcome, ModelTrace, Observers } from '../ports/telemetry.ts';
import { defineTool, type Tool } from '../ports/tool.ts';
import type { Agent } from '../session/agent-catalog.ts';
import { evolveContext, type ModelContext } from '../session/context.ts';
import { type Choice, chooseModel } from '../session/fallback.ts';
import { paired } from '../session/history.ts';
import type { SessionState } from '../session/session-state.ts';
import { overheadTokens, promptTokens } from '../session/tokens.ts';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Disposing it before `ended` or `failed` records the call as aborted. */
export class ModelCall implements Disposable {
  readonly #trace: ModelTrace;
  #over = false;

  constructor(
    private readonly observers: Observers,
    called: ModelCallInfo,
  ) {
    this.#trace = observers.tracer.startModelCall(called);
  }

  retried(code: FaultCode): void {
    this.#trace.retried(code);
  }

  ended(usage: Usage, stop: string): void {
    this.observers.meter.add('tokens', 'input', usage.inputTokens);
    this.observers.meter.add('tokens', 'output', usage.outputTokens);
    this.#end({ kind: 'ended', usage, stop });
  }

  failed(code: FaultCode): void {
    this.#end({ kind: 'failed', code });
  }

  [Symbol.dispose](): void {
    if (!this.#over) this.#end({ kind: 'broken-off' });
  }

  #end(outcome: ModelOutcome): void {
    this.#over = true;
    this.#trace.end(outcome);
  }
}

// Builds the request to a model from a session.

/** A request to a model without the conversation. */
export type Request = {
  readonly provider: Provider;
  /** the models that may answer, in order; the provider is one of them */
  readonly chain: readonly Provider[];
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly options?: ModelOptions;
  /** the conversation as the model reads it, without stale items */
  readonly trim: (items: readonly ContextItem[]) => readonly PromptItem[];
};

/** The agent's request. Throws a `Fault` if the agent no longer exists or its model cannot be used. */
export function requestBy(agentId: string, session: Session, deps: TurnDeps): Request {
  const agent = deps.catalog.agent(agentId);
  return requestWith(chainOf(deps, agent, session.state), agent, { session, deps });
}

/**
 * The next request of the session. Never throws: uses the server's defaults if the agent or model no longer
 * exists.
 */
export function nextRequest(session: Session, deps: TurnDeps): Request {
  const { catalog, provider } = deps;
  try {
    return requestBy(session.state.agent.id, session, deps);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const agent = catalog.agent(catalog.first(catalog.defaultDomain).id);
    return requestWith([provider], agent, { session, deps });
  }
}

function requestWith(
  chain: Chain,
  agent: Agent,
  { session, deps }: { session: Session; deps: TurnDeps },
): Request {
  const terms = session.state.turn?.terms ?? {};
  const choice = chain.length > 1 ? answering(chain, { session, deps }) : null;
  const provider = choice?.model ?? chain[0];
  const most = session.state.created?.parent?.tools;
  const { owner } = session.ref;
  return {
    provider,
    chain,
    ...requestFor(agent, { terms, owner, deps, project: session.project, most }),
  };
}

type RequestOf = {
  readonly terms: TurnOptions;
  readonly owner: PrincipalId;
  readonly deps: TurnDeps;
  readonly project?: ProjectContent | null;
  /** of a sub-agent: the tools that it may have */
  readonly most?: readonly string[] | undefined;
};

/** The request of an agent in a turn with the given terms. */
export function requestFor(
  agent: Agent,
  { terms, owner, deps, project = null, most }: RequestOf,
): Omit<Request, 'provider' | 'chain'> {
  const skills = skillsOf(project, agent);
  const own = `${deps.instructions}\n\nYou are ${agent.name}. ${agent.instructions}${projectText(project, skills)}`;
  const instructions = terms.instructions ?? own;
  return {
    instructions: terms.context === undefined ? instructions : `${instructions}\n\n${terms.context}`,
    ...(terms.options ? { options: terms.options } : {}),
    tools: [...offeredTo(deps, agent.id, terms, most).values()]
      .filter((tool) => (tool === deps.project?.tool ? skills.length > 0 : (tool.available?.(owner) ?? true)))
      .map(toolSpec),
    trim: (items) => paired(promptItemsOf(deps.trim?.(items) ?? items)),
  };
}

/** The skills that the agent may use: those that it names, or all. */
const skillsOf = (project: ProjectContent | null, { skills: named }: Agent): ProjectContent['skills'] =>
  (project?.skills ?? []).filter(({ name }) => !named || named.includes(name));

/** What follows the agent's instructions; empty if there is nothing. */
function projectText(project: ProjectContent | null, skills: ProjectContent['skills']): string {
  const files = (project?.instructions ?? []).map(
    ({ path, text }) => `<file path=${JSON.stringify(path)}>\n${text.trimEnd()}\n</file>`,
  );
  const parts: string[] = [];
  if (files.length > 0)
    parts.push(
      `# Instructions of this project\n\nA person has accepted these files as instructions. If they contradict each other, the later one is right; what the user says in the conversation comes before both.\n\n${files.join('\n')}`,
    );
  if (skills.length > 0)
    parts.push(
      `# Skills\n\nBefore a task that one of these skills describes, load it with the tool skill. A message that begins with / and the name of a skill asks for that skill.\n\n${skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
    );
  return parts.map((part) => `\n\n${part}`).join('');
}

export async function promptOf(session: Session, request: Request): Promise<Prompt> {
  const { instructions, tools, trim, options } = request;
  const { entries } = await session.context();
  return {
    task: 'chat',
    instructions,
    items: trim(entries.map(({ item }) => item)),
    tools,
    ...(options && { options }),
  };
}

type Chain = readonly [Provider, ...Provider[]];

/** The session's model, else the agent's chain, else the server's. A model that a caller has named stands alone unless the operator allows it. */
function chainOf(
  { provider, providerFor, fallbackFromNamed }: TurnDeps,
  agent: Agent,
  { model: chosen, turn }: Pick<SessionState, 'model' | 'turn'>,
): Chain {
  const named = (model: string | undefined) => (model !== undefined && providerFor?.(model)) || provider;
  const first = named(chosen ?? agent.model);
  const isNamed = chosen !== null || turn?.terms.namesModel === true;
  if (isNamed && !fallbackFromNamed) return [first];
  const own = chosen === null ? [] : [named(agent.model)];
  const rest = [first, ...own].flatMap((one) => [one, ...(one.fallbacks ?? [])]);
  const isRepeated = ({ name, model }: Provider, index: number) =>
    rest.findIndex((one) => one.name === name && one.model === model) < index;
  return [first, ...rest.filter((one, index) => index > 0 && !isRepeated(one, index))];
}

/** The session's model, else the agent's, else the server's: the first of its chain. */
export const providerOf = (deps: TurnDeps, agent: Agent, chosen: string | null): Provider =>
  chainOf(deps, agent, { model: chosen, turn: null })[0];

/** The model of the chain that answers next; null if all have failed in this step. */
export function answering(
  chain: readonly Provider[],
  { session, deps, tokens = 0, passed = session.state.turn?.fallback?.passed ?? [] }: Answering,
): Choice<Provider> | null {
  const { strategy, threshold } = deps.context;
  return chooseModel(chain, {
    passed,
    coolingUntil: (model) => deps.coolDowns.until(model),
    tokens,
    threshold: strategy === 'none' ? 1 : threshold,
    now: deps.now(),
  });
}

type Answering = {
  readonly session: Session;
  readonly deps: TurnDeps;
  /** of the request; 0: all contexts are large enough */
  readonly tokens?: number;
  readonly passed?: Fallback['passed'];
};

/** The tools that the agent names, or all of them, at most those of `most`, plus those of the turn's caller. */
export function offeredTo(
  deps: TurnDeps,
  agentId: string,
  terms: Pick<TurnOptions, 'tools' | 'agentTools'>,
  most?: readonly string[],
): ReadonlyMap<string, Tool> {
  const { tools: named } = deps.catalog.agent(agentId);
  const own = [...deps.tools].filter(
    ([name, tool]) =>
      !tool.onlyDirect &&
      (named ? named.includes(name) : !tool.optIn) &&
      (most === undefined || most.includes(name)),
  );
  return withCallerTools(new Map(own), terms);
}

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool as models and clients see it, cached per tool. */
export function toolSpec(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    const parameters = tool.parameters ?? (z.toJSONSchema(tool.input, { io: 'input' }) as JsonObject);
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}

// Tools that the caller of a turn offers in addition to those of the agent.

/** The caller executes the call, however late, and validates its input itself. */
const callerTool = ({ name, description, parameters }: CallerTool): Tool =>
  defineTool({
    name,
    description,
    parameters,
    input: z.record(z.string(), z.unknown()),
    deferred: true,
    approval: () => null,
    run: async () => ({ parts: [] }),
  });

/** The tools of a turn. If two have the same name, the caller's wins. */
function withCallerTools(
  own: ReadonlyMap<string, Tool>,
  { tools = [], agentTools = true }: Pick<TurnOptions, 'tools' | 'agentTools'>,
): ReadonlyMap<string, Tool> {
  if (agentTools && tools.length === 0) return own;
  return new Map([
    ...(agentTools ? own : []),
    ...tools.map((tool) => [tool.name, callerTool(tool)] as const),
  ]);
}

// Measures how full the model's context is: instructions, tools and conversation of the next request. If a vendor has counted
// a request of the session, its count is used, plus our estimate of later changes.

/** Our token estimate of the request. */
export const estimateOf = (context: ModelContext, { trim, ...request }: Request): number =>
  promptTokens({ ...request, items: trim(context.entries.map(({ item }) => item)) });

/** Tokens of the request: the vendor's count if there is one. */
export function tokensIn(context: ModelContext, request: Request): number {
  const estimate = estimateOf(context, request);
  const { counted } = context;
  return counted ? Math.max(0, counted.tokens + estimate - counted.estimate) : estimate;
}

/** The tokens of instructions and tools in `tokens`: our estimate, scaled down if the vendor counts less. */
export function constantPart(tokens: number, context: ModelContext, request: Request): number {
  const overhead = overheadTokens(request);
  return Math.min(overhead, (tokens * overhead) / Math.max(1, estimateOf(context, request)));
}

/** The context after these events. */
export const contextAfter = (context: ModelContext, bodies: readonly DurableEventBody[]): ModelContext =>
  bodies.reduce((after, body) => evolveContext(after, body as DurableEvent), context);

export const currentUse = async (session: Session, deps: TurnDeps): Promise<ContextUse> =>
  useOf(await session.context(), session, deps);

export function useOf(context: ModelContext, session: Session, deps: TurnDeps): ContextUse {
  const request = nextRequest(session, deps);
  return {
    tokens: tokensIn(context, request),
    limit: request.provider.contextLimit,
    items: context.entries.length,
    strategy: deps.context.strategy,
  };
}

/** Reads the context for `withContextUse`. An unreadable context must not prevent the end of a turn. */
export async function readContext(session: Session, { log }: Pick<TurnDeps, 'log'>): Promise<void> {
  try {
    await session.context();
  } catch (thrown) {
    log.warn({ err: thrown, session: session.ref.id }, 'context unreadable: its use is not reported');
  }
}

type TurnEnd = DurableEventBody<'turn.failed' | 'turn.cancelled'>;

const endsTurn = (body: DurableEventBody): body is TurnEnd =>
  body.type === 'turn.failed' || body.type === 'turn.cancelled';

/** Adds the use of the context to events that end a turn early, if the session's context has been read. */
export function withContextUse(
  bodies: readonly DurableEventBody[],
  session: Session,
  deps: TurnDeps,
): readonly DurableEventBody[] {
  const context = session.loadedContext;
  if (!context) return bodies;
  return bodies.map((body, index) =>
    endsTurn(body)
      ? { ...body, context: useOf(contextAfter(context, bodies.slice(0, index)), session, deps) }
      : body,
  );
}
