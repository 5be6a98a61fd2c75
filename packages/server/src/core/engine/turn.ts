/**
 * The turn loop. The next action depends only on the state (`session/next-action.ts`), so a turn continues the
 * same way after an approval and after a crash.
 */
import {
  addSpent,
  asFault,
  type BlockId,
  type CallId,
  type DurableEventBody,
  type Fallback,
  Fault,
  type FaultData,
  NOTHING_SPENT,
  type Sealed,
  type Spent,
  type Usage,
} from '@parlance/protocol';
import { LeaseLost } from '../ports/lease.ts';
import type { OnDelta, Prompt, Provider, ProviderEvent } from '../ports/provider.ts';
import { joining, labelsFit } from '../session/decide.ts';
import { isSameModel, mayFallBack } from '../session/fallback.ts';
import { type NextAction, nextAction } from '../session/next-action.ts';
import { addUsage, type SessionState } from '../session/session-state.ts';
import { promptTokens } from '../session/tokens.ts';
import { abortedCalls, closedBlock, turnStarted, unknownOutcome } from '../session/turn-events.ts';
import { questionAsked } from './call-plan.ts';
import { compactForVendor, compactIfFull } from './compaction.ts';
import {
  answering,
  contextAfter,
  estimateOf,
  ModelCall,
  promptOf,
  type Request,
  readContext,
  requestBy,
  tokensIn,
  useOf,
  withContextUse,
} from './model-step.ts';
import { blockEnd, type OpenBlock, openBlock, streamedSoFar } from './open-output.ts';
import { readProject } from './project.ts';
import { restoreFiles } from './rewind.ts';
import type { Session } from './session.ts';
import { type Permit, pricedUsage, spenderOf } from './spending.ts';
import { titleSession } from './titles.ts';
import { runTools, type StartedCalls, startCalls } from './tool-calls.ts';
import type { ResumeEvent } from './turn-abort.ts';

import { type ActiveTurn, activeTurn, record, recordUsage, type TurnDeps } from './turn-deps.ts';
import { mergeWorktree } from './worktree.ts';

/**
 * Runs the session while this node drives it, until it is idle or `stopping` returns true between two
 * actions. Throws if an event cannot be stored; the session then resumes from the log later.
 */
export async function drive(session: Session, deps: TurnDeps, stopping: () => boolean): Promise<void> {
  while (!stopping() && session.role.isDriver && !session.abandoned) {
    if (session.interrupted) await resumeTurn(session, session.interrupted);
    const action = nextAction(session.state);
    if (action.kind === 'idle') return;
    if (action.kind === 'restoreFiles') await restoreFiles(session, deps, action.rewind);
    else if (action.kind === 'settle') await deps.subAgents.settle(session);
    else if (action.kind === 'startTurn') await startTurn(session);
    else await advance(activeTurn({ session, deps, stopping }, action.turn), action);
    // A cancel may be in the middle of its append: decide the next action after it.
    await session.settled();
  }
}

type TurnAction = Exclude<NextAction, { kind: 'idle' | 'startTurn' | 'restoreFiles' | 'settle' }>;

async function advance(active: ActiveTurn, action: TurnAction): Promise<void> {
  let { kind } = action;
  try {
    switch (kind) {
      case 'callModel': {
        const startedCalls = await callModel(active);
        kind = 'runTools';
        return startedCalls ? await runTools(active, startedCalls) : undefined;
      }
      case 'runTools':
        return await runTools(active);
      case 'endTurn': {
        const merged = await mergeWorktree(active);
        if (merged === 'asked') return;
        return merged === null ? await endTurn(active, []) : await endTurn(active, saidAtEnd(active, merged));
      }
    }
  } catch (thrown) {
    if (thrown instanceof LeaseLost) throw thrown;
    if (!active.signal.aborted) await failTurn(active, kind, thrown);
  }
}

async function startTurn(session: Session): Promise<void> {
  await session.transact(({ turn, queue: [next], agent }) => (turn || !next ? [] : turnStarted(next, agent)));
}

async function resumeTurn(session: Session, event: ResumeEvent): Promise<void> {
  await session.transact((state) =>
    state.turn?.id === event.turn && session.interrupted === event ? [event] : [],
  );
  session.interrupted = null;
}

// One model response: streams it, then records its blocks and calls in one append.

type Step = {
  readonly active: ActiveTurn;
  readonly request: Request;
  /** when the request was sent: the settings may have changed since */
  readonly model: string;
  readonly modelCall: ModelCall;
  readonly calls: DurableEventBody<'call.requested'>[];
  /** ids of the calls whose arguments are being streamed, by position */
  readonly streamed: CallId[];
  /** the model has failed before: it is not tried twice */
  readonly isProbe: boolean;
  readonly received: Received;
  /** null without limits */
  readonly permit: Permit | null;
};

/** What has arrived of an answer. It counts if the rest never does. */
type Received = {
  /** our estimate */
  outputTokens: number;
  /** what the vendor has counted so far */
  usage: Usage | null;
};

/** On the token path: by the script of its first character. */
const receivedTokens = (text: string): number =>
  text.charCodeAt(0) < 0x1100 ? text.length / 4 : text.length;

/**
 * Returns the calls that the step ended with, if any. Throws a `Fault` if the model fails. Records nothing
 * more once the turn is cancelled.
 */
async function callModel(active: ActiveTurn): Promise<StartedCalls | null> {
  const { session, deps, turn, signal } = active;
  if (signal.aborted) return null;
  session.voidStreamed();
  if (turn.steps >= deps.maxSteps) {
    await pauseTurn(active);
    return null;
  }
  for (const gate of deps.gates ?? []) {
    const asked = gate(session, turn, signal);
    const question = asked instanceof Promise ? await asked : asked;
    if (!question) continue;
    await record(active, [questionAsked(active, question)]);
    return null;
  }
  if (joining(session.state).length > 0)
    await session.transact((state) => (state.turn?.id === turn.id ? joining(state) : []));
  if (await readProject(active)) return null;
  if (signal.aborted || !session.role.isDriver) return null;
  const request = requestBy(turn.agent.id, session, deps);
  if (request.chain.length > 1) {
    const provider = await chosenModel(active, request);
    return ask(active, { ...request, provider });
  }
  return ask(active, request);
}

/** The model of the chain that answers. Readers are told before it does, if it is another one than they know of. */
async function chosenModel(active: ActiveTurn, request: Request): Promise<Provider> {
  const { session, deps, turn } = active;
  const { chain } = request;
  const tokens = tokensIn(await session.context(), request);
  const choice = answering(chain, { session, deps, tokens });
  const [first = request.provider] = chain;
  if (!choice) return first;
  const { model, passed } = choice;
  const { fallback } = turn;
  const isKnown = fallback ? isSameModel(fallback, model) : model === first;
  if (model === first || isKnown) return model;
  const why = passed.find((one) => isSameModel(one, first));
  const code = deps.coolDowns.reason(first);
  const message =
    why?.reason === 'cooling' ? `${first.model} failed recently.` : `${first.model} does not answer.`;
  const { name: provider } = model;
  await record(active, [
    {
      type: 'step.restarted',
      turn: turn.id,
      attempt: 1,
      delayMs: 0,
      fault: { code, message },
      fallback: { provider, model: model.model, passed },
    },
  ]);
  return model;
}

/** Asks the model of the request. */
async function ask(active: ActiveTurn, request: Request): Promise<StartedCalls | null> {
  const { session, deps, turn, signal } = active;
  const { provider, chain } = request;
  using permit = deps.spending.isLimited(session)
    ? await deps.spending.begin(spenderOf(session), session, await leastOf(session, request, deps))
    : null;
  try {
    await compactIfFull(session, deps, { turn, request, signal });
  } catch (thrown) {
    const fault = asFault(thrown);
    if (signal.aborted || !mayFallBack(fault)) throw thrown;
    await fallBack(active, request, fault.data());
    return null;
  }
  if (provider !== chain[0] && tokensIn(await session.context(), request) > provider.contextLimit) {
    await fallBack(active, request, TOO_SMALL);
    return null;
  }
  const prompt = await promptOf(session, request);
  if (!session.role.isDriver) return null;
  using asked = chain.length > 1 ? deps.coolDowns.ask(provider) : undefined;
  const { name, model } = provider;
  using modelCall = new ModelCall(deps, {
    provider: name,
    model,
    task: prompt.task,
    session: session.ref,
    turn: turn.id,
  });
  const isProbe = asked?.isProbe === true;
  const received: Received = { outputTokens: 0, usage: null };
  const step: Step = {
    active,
    request,
    model,
    modelCall,
    calls: [],
    streamed: [],
    isProbe,
    received,
    permit,
  };
  try {
    return await read(step, prompt);
  } finally {
    if (signal.aborted) await recordBrokenOff(step, prompt);
  }
}

async function read(step: Step, prompt: Prompt): Promise<StartedCalls | null> {
  const { active, received } = step;
  const { session, turn, signal } = active;
  const onDelta: OnDelta = (kind, text) => {
    if (signal.aborted || session.open?.kind !== kind) return false;
    received.outputTokens += receivedTokens(text);
    stream(active, kind, text);
    return true;
  };
  for await (const event of step.request.provider.stream(prompt, signal, onDelta)) {
    if (signal.aborted) return null;
    switch (event.type) {
      case 'text':
      case 'reasoning':
        received.outputTokens += receivedTokens(event.text);
        if (session.open && session.open.kind !== event.type) await endBlock(active);
        if (signal.aborted) return null;
        stream(active, event.type, event.text);
        break;
      case 'arguments':
        received.outputTokens += receivedTokens(event.text);
        streamArguments(step, event);
        break;
      case 'usage':
        received.usage = event.usage;
        break;
      case 'call': {
        const before = step.calls.map(({ call }) => call);
        const call = uniqueCallId(event.call, before);
        step.calls.push({ ...event, type: 'call.requested', turn: turn.id, call });
        break;
      }
      case 'sealed':
        await sealReasoning(active, event.sealed);
        break;
      case 'retrying':
        if (isRetryPointless(step, event)) {
          await failStep(step, prompt, event.fault);
          return null;
        }
        await restartStep(step, prompt, event);
        break;
      case 'ended':
        received.outputTokens = 0;
        received.usage = null;
        return endStep(step, event);
      case 'failed':
        await failStep(step, prompt, event.fault);
        return null;
    }
    if (signal.aborted) return null;
  }
  if (signal.aborted) return null;
  throw new Fault('provider_unavailable', "The model's stream ended before the answer was complete.");
}

/** The prompt, as it is now: what the step uses at least, if the vendor has it in its cache. */
async function leastOf(session: Session, request: Request, { priceOf }: TurnDeps): Promise<Spent> {
  const context = await session.context();
  const { name, model } = request.provider;
  const tokens = estimateOf(context, request);
  const usage = { inputTokens: tokens, cachedTokens: tokens, outputTokens: 0 };
  return { tokens, cost: pricedUsage(usage, { name, model }, priceOf).cost ?? 0 };
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

/** Ends the turn as an answer that says so: clients of every dialect show it, and the model sees it later. */
async function pauseTurn(active: ActiveTurn): Promise<void> {
  const { turn } = active;
  const text = `Paused after ${turn.steps} step${turn.steps === 1 ? '' : 's'}, the limit of one turn (maxSteps, MAX_ITERATIONS). Send a message to continue.`;
  await endTurn(active, saidAtEnd(active, text), { paused: 'max_steps' });
}

function saidAtEnd(active: ActiveTurn, text: string): DurableEventBody[] {
  const { session, deps, turn } = active;
  stream(active, 'text', text);
  const step = { type: 'step.ended', turn: turn.id, usage: NO_USAGE, stop: 'done' } as const;
  return [...blockEnd(session.open, deps.now), step];
}

/** On the token path: no promise, no copy. */
function stream({ session, deps, turn }: ActiveTurn, kind: OpenBlock['kind'], text: string): void {
  if (text === '') return;
  const open = session.open ?? openBlock(kind, turn.id, deps);
  session.open = open;
  open.text.add(text);
  const type = kind === 'text' ? 'text.delta' : 'reasoning.delta';
  session.publish({ type, turn: turn.id, block: open.block, text });
}

function streamArguments(
  { active: { session, turn }, streamed }: Step,
  { index, call: given, tool, text }: Extract<ProviderEvent, { type: 'arguments' }>,
): void {
  streamed[index] ??= uniqueCallId(given, streamed.slice(0, index));
  const call = streamed[index];
  const offset = session.openArguments.length(call);
  const delta = { type: 'call.arguments.delta', turn: turn.id, call, tool, offset, text } as const;
  session.openArguments.add(delta);
  session.publish(delta);
}

async function endBlock(active: ActiveTurn): Promise<void> {
  await record(active, blockEnd(active.session.open, active.deps.now));
}

/** Sealed data belongs to a reasoning block, which may have no text. */
async function sealReasoning(active: ActiveTurn, sealed: Sealed): Promise<void> {
  const { session, deps, turn } = active;
  const events = blockEnd(session.open, deps.now);
  const last = events.at(-1);
  const reasoning: DurableEventBody<'reasoning.ended'> =
    last?.type === 'reasoning.ended'
      ? last
      : { type: 'reasoning.ended', turn: turn.id, block: deps.newId() as BlockId, text: '', durationMs: 0 };
  await record(active, [...events.filter((event) => event !== reasoning), { ...reasoning, sealed }]);
}

/** Counts what has arrived of an answer whose rest does not. Called again, it counts only what has arrived since. */
function brokenOff({ active, request, model, received }: Step, prompt: Prompt): DurableEventBody[] {
  const { outputTokens, usage: reported } = received;
  if (outputTokens === 0 && reported === null) return [];
  received.outputTokens = 0;
  received.usage = null;
  const { turn, deps } = active;
  const usage = {
    ...(reported ?? { inputTokens: promptTokens(prompt) }),
    outputTokens: Math.max(reported?.outputTokens ?? 0, Math.ceil(outputTokens)),
  };
  const { cost } = pricedUsage(usage, { name: request.provider.name, model }, deps.priceOf);
  return [
    {
      type: 'usage.recorded',
      task: 'chat',
      model,
      usage,
      estimated: true,
      during: turn.id,
      agent: turn.agent.id,
      ...(cost !== undefined && { cost }),
      ...(turn.apiKey !== undefined && { apiKey: turn.apiKey }),
    },
  ];
}

async function recordBrokenOff(step: Step, prompt: Prompt): Promise<void> {
  const { session, deps } = step.active;
  try {
    await recordUsage(session, brokenOff(step, prompt));
  } catch (err) {
    deps.log.warn({ err, session: session.ref.id }, 'failed to count an answer that was broken off');
  }
}

async function restartStep(
  step: Step,
  prompt: Prompt,
  event: Extract<ProviderEvent, { type: 'retrying' }>,
): Promise<void> {
  const { active, modelCall, calls, streamed } = step;
  const { turn } = active;
  const { attempt, delayMs, fault, host } = event;
  calls.length = 0;
  streamed.length = 0;
  modelCall.retried(fault.code);
  const shown = (await hasShown(active)) ? { shown: true as const } : {};
  await record(active, [
    ...brokenOff(step, prompt),
    { type: 'step.restarted', turn: turn.id, attempt, delayMs, fault, host, ...shown },
  ]);
}

/** A longer wait for a model is not worth it if another one is ready. */
const PATIENCE_MS = 5_000;

/** Whether another model is asked at once: if the model was only probed, or wants to be left alone for long. */
function isRetryPointless(
  { active: { session, deps, turn }, request: { chain, provider }, isProbe }: Step,
  { delayMs, fault }: Extract<ProviderEvent, { type: 'retrying' }>,
): boolean {
  if (chain.length === 1 || !mayFallBack(fault) || !(isProbe || delayMs > PATIENCE_MS)) return false;
  const passed = withPassed(turn.fallback, provider, { reason: 'failed' });
  const next = answering(chain, { session, deps, passed });
  return next !== null && (isProbe || next.isReady);
}

const withPassed = (
  fallback: Fallback | undefined,
  model: Provider,
  why: Pick<Fallback['passed'][number], 'reason' | 'until'>,
): Fallback['passed'] => [
  ...(fallback?.passed ?? []).filter((one) => !isSameModel(one, model)),
  { provider: model.name, model: model.model, ...why },
];

const TOO_SMALL: FaultData = {
  code: 'context_too_long',
  message: 'The conversation is too long for the model.',
};

const noneLeft = ([first]: readonly Provider[], { model }: Provider): string =>
  `${first?.model} does not answer, and the conversation is too long for ${model}.`;

/** Restarts the step on the next model of the chain. Throws the fault if it is not one that another model can help with, or if none is left. */
async function fallBack(active: ActiveTurn, request: Request, fault: FaultData): Promise<void> {
  const { chain, provider } = request;
  const { session, deps, turn } = active;
  const isTooSmall = fault.code === 'context_too_long' && provider !== chain[0];
  if (chain.length === 1 || !(isTooSmall || mayFallBack(fault))) throw Fault.from(fault);
  const passed = withPassed(
    session.state.turn?.fallback,
    provider,
    isTooSmall
      ? { reason: 'too_small' }
      : { reason: 'failed', until: deps.coolDowns.failed(provider, fault) },
  );
  const tokens = tokensIn(await session.context(), request);
  const next = answering(chain, { session, deps, tokens, passed });
  if (!next && isTooSmall) throw new Fault('provider_unavailable', noneLeft(chain, provider));
  if (!next) throw Fault.from(fault);
  const { name, model } = next.model;
  deps.meter.add('model_fallbacks', fault.code);
  deps.log.warn(
    { session: session.ref.id, turn: turn.id, model: provider.model, fallback: model, code: fault.code },
    'model fallback',
  );
  const shown = (await hasShown(active)) ? { shown: true as const } : {};
  await record(active, [
    {
      type: 'step.restarted',
      turn: turn.id,
      attempt: 1,
      delayMs: 0,
      fault,
      ...shown,
      fallback: { provider: name, model, passed: next.passed },
    },
  ]);
}

/** Whether the step has streamed or recorded anything. */
async function hasShown({ session }: ActiveTurn): Promise<boolean> {
  const { entries, settled } = await session.context();
  return entries.length > settled || session.open !== null;
}

async function endStep(
  step: Step,
  event: Extract<ProviderEvent, { type: 'ended' }>,
): Promise<StartedCalls | null> {
  const { active, request, model, modelCall, calls, permit } = step;
  const { session, deps, turn } = active;
  const { usage, stop } = event;
  modelCall.ended(usage, stop);
  const answer = [...blockEnd(session.open, deps.now), ...calls];
  const isOfChain = request.chain.length > 1;
  if (isOfChain) deps.coolDowns.answered(request.provider);
  const counted = {
    ...(request.provider.counts && (await countedStep(active, request, answer))),
    ...((request.provider.counts || isOfChain) && { model }),
  };
  const { cost } = pricedUsage(usage, { name: request.provider.name, model }, deps.priceOf);
  const priced = cost === undefined ? {} : { cost };
  const ended = { type: 'step.ended', turn: turn.id, usage, stop, ...counted, ...priced } as const;
  const spent = addSpent(NOTHING_SPENT, ended);
  const notices = permit ? await permit.announce(turn.id, session, spent) : [];
  const events = [...answer, ended, ...notices];
  if (calls.length > 0) return startCalls(active, calls, events);
  if (session.state.created?.worktree) await record(active, events);
  else await endTurn(active, events, { usage: addUsage(turn.usage, usage) });
  return null;
}

/** Compacts once if the vendor rejects the prompt as too long, or asks another model; the step then runs again. */
async function failStep(step: Step, prompt: Prompt, fault: FaultData): Promise<void> {
  const { active, request, modelCall } = step;
  const { session, deps, signal, turn } = active;
  modelCall.failed(fault.code);
  await recordBrokenOff(step, prompt);
  if (fault.code !== 'context_too_long') return fallBack(active, request, fault);
  try {
    if (!(await compactForVendor(session, deps, { request, signal })))
      return fallBack(active, request, fault);
  } catch (thrown) {
    const unavailable = asFault(thrown);
    if (signal.aborted || !mayFallBack(unavailable)) throw thrown;
    return fallBack(active, request, unavailable.data());
  }
  // Readers must discard what the first attempt has shown.
  if (await hasShown(active))
    await record(active, [
      { type: 'step.restarted', turn: turn.id, attempt: 1, delayMs: 0, fault, shown: true },
    ]);
}

/** The vendor counted the request and its answer; `estimate` is our count of the same content. */
async function countedStep(
  { session }: ActiveTurn,
  request: Request,
  answer: readonly DurableEventBody[],
): Promise<Pick<DurableEventBody<'step.ended'>, 'counted' | 'estimate'>> {
  return { counted: true, estimate: estimateOf(contextAfter(await session.context(), answer), request) };
}

/** Some models give two calls of one answer the same id. `before` holds the ids of the earlier calls. */
const uniqueCallId = (id: string, before: readonly string[]): CallId =>
  (before.includes(id) ? `${id}_${before.length + 1}` : id) as CallId;

// Ends a turn that succeeds or fails. Cancelling is decided in `session/decide.ts`.

/** Records the last events of the turn together with its end. */
async function endTurn(
  active: ActiveTurn,
  events: readonly DurableEventBody[],
  end: Partial<Pick<DurableEventBody<'turn.ended'>, 'usage' | 'paused'>> = {},
): Promise<void> {
  const { session, deps, turn } = active;
  const context = useOf(contextAfter(await session.context(), events), session, deps);
  const durationMs = deps.now() - turn.startedAt;
  const ended = {
    type: 'turn.ended',
    turn: turn.id,
    usage: turn.usage,
    durationMs,
    context,
    ...end,
  } as const;
  await record(active, [...events, ...labelled(active), ended]);
  void titleSession(session, deps, { events, turn });
}

/** A label that does not fit is left to those who ask for it: it must not fail the turn. */
const labelled = ({ session, turn }: ActiveTurn): DurableEventBody[] =>
  [...session.labellers].flatMap((labeller) => {
    const labels = labeller(turn.id);
    return labels && labelsFit(session.state, labels) ? [{ type: 'session.labelled', labels }] : [];
  });

/**
 * Records that the turn failed. If that cannot be stored either, the turn resumes later and first records
 * `session.interrupted`, so no model is called while the store is unavailable.
 */
async function failTurn(active: ActiveTurn, action: NextAction['kind'], thrown: unknown): Promise<void> {
  const { session } = active;
  const turn = active.turn.id;
  const fault = asFault(thrown).data();
  session.interrupted =
    action === 'callModel'
      ? {
          type: 'step.restarted',
          turn,
          attempt: 1,
          delayMs: 0,
          fault,
          ...(session.open ? { shown: true } : {}),
        }
      : { type: 'turn.resumed', turn };
  if (session.isOutage(thrown)) throw thrown;
  await recordFailure(active, thrown);
  if (!active.signal.aborted) session.interrupted = null;
}

async function recordFailure({ session, deps, turn, signal }: ActiveTurn, thrown: unknown): Promise<void> {
  const fault = asFault(thrown);
  const ids = { session: session.ref.id, turn: turn.id, connection: turn.via };
  if (fault.code === 'internal') deps.log.error({ ...ids, err: fault.cause }, 'turn failed');
  else deps.log.warn({ ...ids, code: fault.code, reason: fault.message }, 'turn failed');
  const durationMs = deps.now() - turn.startedAt;
  await readContext(session, deps);
  const failed = (state: SessionState): DurableEventBody[] =>
    state.turn?.id !== turn.id || signal.aborted
      ? []
      : [
          ...closedBlock(turn, streamedSoFar(session.open, deps.now)),
          ...state.turn.calls.flatMap((call) =>
            call.phase === 'running'
              ? unknownOutcome(call, turn.id, 'The server could not record the outcome.')
              : abortedCalls([call], turn.id),
          ),
          { type: 'turn.failed', turn: turn.id, fault: fault.data(), durationMs },
        ];
  await session.transact((state) => withContextUse(failed(state), session, deps));
}
