/**
 * The turn loop. What comes next follows from the state alone (`nextAction`), so a turn goes on the same way after an
 * approval, after a week, and after the process was killed.
 */
import {
  asFault,
  type BlockId,
  type CallId,
  type DurableEventBody,
  Fault,
  type Sealed,
  type TurnId,
} from '@parlance/protocol';
import type { AgentCatalog } from '../domain/agent-catalog.ts';
import type { ApprovalMode, Rule } from '../domain/approvals.ts';
import { abortedCalls, closedBlock, turnBegun, unknownOutcome } from '../domain/decide.ts';
import { addUsage, type OpenCall, type SessionState, type Turn } from '../domain/session-state.ts';
import type { Log } from '../ports/logger.ts';
import type { OnDelta, PromptItem, Provider } from '../ports/provider.ts';
import type { Tool } from '../ports/tool.ts';
import type { ClientToolBroker } from './client-tool-broker.ts';
import { compactForVendor, compactIfFull } from './compaction.ts';
import { contextAfter, estimateOf, readContext, useOf, withContextUse } from './context-use.ts';
import type { LiveSession, OpenBlock, ResumeEvent } from './live-session.ts';
import { ModelCall, type Observers } from './model-call.ts';
import { promptOf, type Request, requestBy } from './prompt.ts';
import { TextBuffer } from './text-buffer.ts';
import { settleCall } from './tool-call.ts';

/** Everything a turn works with, besides its session. */
export type TurnDeps = Observers & {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clients: ClientToolBroker;
  readonly catalog: AgentCatalog;
  readonly instructions: string;
  readonly root: string;
  readonly approvalMode: ApprovalMode;
  readonly rules?: readonly Rule[];
  /** leaves out of a prompt what is stale, such as earlier states of a page */
  readonly trim?: (items: PromptItem[]) => readonly PromptItem[];
  /** for agents that name a model of their own */
  readonly providerFor?: (model: string) => Provider;
  readonly context: { readonly strategy: 'threshold' | 'none'; readonly threshold: number };
  readonly maxSteps: number;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
};

export type NextAction =
  | { readonly kind: 'idle' }
  | { readonly kind: 'startTurn' }
  | { readonly kind: 'callModel'; readonly turn: Turn }
  | { readonly kind: 'runTools'; readonly turn: Turn; readonly call: OpenCall }
  | { readonly kind: 'endTurn'; readonly turn: Turn };

/** What the session does next. It rests when nothing was asked, or when a person has to answer. */
export function nextAction(state: SessionState): NextAction {
  const { turn } = state;
  if (!turn) return { kind: state.queue.length > 0 ? 'startTurn' : 'idle' };
  const call = turn.calls[0];
  if (call)
    return call.phase === 'waiting' || call.phase === 'deferred'
      ? { kind: 'idle' }
      : { kind: 'runTools', turn, call };
  return turn.answered ? { kind: 'endTurn', turn } : { kind: 'callModel', turn };
}

/**
 * Moves the session forward until it rests. `stopping` ends it between two moves; the log knows where it was. Throws
 * where nothing can be recorded any more.
 */
export async function drive(session: LiveSession, deps: TurnDeps, stopping: () => boolean): Promise<void> {
  if (session.interrupted) await resumeTurn(session, session.interrupted);
  while (!stopping()) {
    const action = nextAction(session.state);
    if (action.kind === 'idle') return;
    const signal = action.kind === 'startTurn' ? null : session.signal(action.turn.id);
    try {
      if (action.kind === 'startTurn') await startTurn(session, deps);
      else if (action.kind === 'callModel') await callModel(session, deps, action.turn);
      else if (action.kind === 'runTools') await settleCall(session, deps, action.turn, action.call);
      else await endTurn(session, deps, action.turn, []);
    } catch (thrown) {
      if (action.kind === 'startTurn') throw thrown;
      if (!signal?.aborted) await failTurn(session, deps, action, thrown);
    }
    // A cancel may be on its way to the log: what comes next is decided after it.
    await session.settled();
  }
}

/** The events belong to this turn: they are dropped where it was cancelled or superseded meanwhile. */
export const recordIn = (
  session: LiveSession,
  turn: TurnId,
  events: readonly DurableEventBody[],
): Promise<unknown> => session.transact((state) => (state.turn?.id === turn ? events : []));

async function resumeTurn(session: LiveSession, broken: ResumeEvent): Promise<void> {
  await recordIn(session, broken.turn, [broken]);
  session.interrupted = null;
}

/**
 * The turn fails. Where not even that can be recorded, it is taken up again later, and that begins with an event: as
 * long as nothing can be stored, no model is asked for what would be lost.
 */
async function failTurn(
  session: LiveSession,
  deps: TurnDeps,
  action: Exclude<NextAction, { kind: 'idle' | 'startTurn' }>,
  thrown: unknown,
): Promise<void> {
  const turn = action.turn.id;
  const fault = asFault(thrown).data();
  session.interrupted =
    action.kind === 'callModel'
      ? { type: 'step.restarted', turn, attempt: 1, delayMs: 0, fault, ...shownBlock(session) }
      : { type: 'turn.resumed', turn };
  await recordFailure(session, deps, action.turn, thrown);
  session.interrupted = null;
}

async function startTurn(session: LiveSession, deps: TurnDeps): Promise<void> {
  await session.transact(({ turn, queue: [next], agent }) =>
    turn || !next ? [] : turnBegun(next, deps.newId() as TurnId, agent),
  );
}

/** One answer of the model: streams it, then records its blocks and calls at once. */
async function callModel(session: LiveSession, deps: TurnDeps, turn: Turn): Promise<void> {
  if (turn.steps >= deps.maxSteps) {
    throw new Fault('too_many_steps', `The turn was stopped after ${turn.steps} steps.`);
  }
  const signal = session.signal(turn.id);
  if (signal.aborted) return;
  session.voidBlock();
  const request = requestBy(turn.agent.id, session, deps);
  const { provider } = request;
  await compactIfFull(session, deps, { turn, request, signal });
  const prompt = await promptOf(session, request);
  const calls: DurableEventBody<'call.requested'>[] = [];
  using asked = new ModelCall(deps, {
    provider: provider.name,
    model: provider.model,
    task: prompt.task,
    session: session.ref,
    turn: turn.id,
  });
  const onDelta: OnDelta = (kind, text) => {
    if (signal.aborted || session.open?.kind !== kind) return false;
    stream(session, deps, turn, kind, text);
    return true;
  };
  for await (const event of provider.stream(prompt, signal, onDelta)) {
    if (signal.aborted) return;
    switch (event.type) {
      case 'text':
      case 'reasoning':
        if (session.open && session.open.kind !== event.type) await endBlock(session, deps, turn);
        if (signal.aborted) return;
        stream(session, deps, turn, event.type, event.text);
        break;
      case 'call':
        calls.push({ ...event, type: 'call.requested', turn: turn.id, call: callId(event.call, calls) });
        break;
      case 'sealed':
        await sealReasoning(session, deps, turn, event.sealed);
        if (signal.aborted) return;
        break;
      case 'retrying': {
        const { attempt, delayMs, fault, host } = event;
        calls.length = 0;
        asked.retried(fault.code);
        const shown = await showsStep(session);
        await recordIn(session, turn.id, [
          { type: 'step.restarted', turn: turn.id, attempt, delayMs, fault, host, ...shown },
        ]);
        if (signal.aborted) return;
        break;
      }
      case 'ended': {
        const { usage, stop } = event;
        asked.ended(usage, stop);
        const said = [...blockEvents(session, deps), ...calls];
        const counted = provider.counts && (await countedStep(session, request, said));
        const events = [...said, { type: 'step.ended', turn: turn.id, usage, stop, ...counted } as const];
        const spent = { ...turn, usage: addUsage(turn.usage, usage) };
        return calls.length > 0
          ? void (await recordIn(session, turn.id, events))
          : endTurn(session, deps, spent, events);
      }
      case 'failed':
        asked.failed(event.fault.code);
        if (
          event.fault.code === 'context_too_long' &&
          (await compactForVendor(session, deps, { request, signal }))
        )
          return;
        throw new Fault(event.fault.code, event.fault.message);
    }
  }
  if (!signal.aborted)
    throw new Fault('provider_unavailable', 'The model stopped in the middle of its answer.');
}

const shownBlock = (session: LiveSession): { shown?: true } => (session.open ? { shown: true } : {});

/** Whether anything of the step that is under way has been streamed or recorded. */
async function showsStep(session: LiveSession): Promise<{ shown?: true }> {
  const { entries, settled } = await session.context();
  return entries.length > settled ? { shown: true } : shownBlock(session);
}

/** What the vendor's count stands for: the request and its answer, as we count them. */
async function countedStep(
  session: LiveSession,
  request: Request,
  said: readonly DurableEventBody[],
): Promise<Pick<DurableEventBody<'step.ended'>, 'counted' | 'estimate'>> {
  return { counted: true, estimate: estimateOf(contextAfter(await session.context(), said), request) };
}

/** Models have been seen to give two calls of one answer the same id. */
const callId = (id: string, before: readonly DurableEventBody<'call.requested'>[]): CallId =>
  (before.some(({ call }) => call === id) ? `${id}_${before.length + 1}` : id) as CallId;

/** On the path of a token. */
function stream(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  kind: OpenBlock['kind'],
  text: string,
): void {
  if (text === '') return;
  const open = session.open ?? openBlock(kind, turn.id, deps);
  session.open = open;
  open.text.add(text);
  const type = kind === 'text' ? 'text.delta' : 'reasoning.delta';
  session.publish({ type, turn: turn.id, block: open.block, text });
}

const openBlock = (kind: 'text' | 'reasoning', turn: TurnId, deps: TurnDeps): OpenBlock => ({
  kind,
  turn,
  block: deps.newId() as BlockId,
  startedAt: deps.now(),
  text: new TextBuffer(),
});

async function endBlock(session: LiveSession, deps: TurnDeps, turn: Turn): Promise<void> {
  await recordIn(session, turn.id, blockEvents(session, deps));
}

/** What a vendor sealed belongs to a block of reasoning, which may have no text to show. */
async function sealReasoning(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  sealed: Sealed,
): Promise<void> {
  const events = blockEvents(session, deps);
  const last = events.at(-1);
  const reasoning: DurableEventBody<'reasoning.ended'> =
    last?.type === 'reasoning.ended'
      ? last
      : { type: 'reasoning.ended', turn: turn.id, block: deps.newId() as BlockId, text: '', durationMs: 0 };
  await recordIn(session, turn.id, [
    ...events.filter((event) => event !== reasoning),
    { ...reasoning, sealed },
  ]);
}

function blockEvents(session: LiveSession, deps: TurnDeps): DurableEventBody[] {
  const { open } = session;
  if (!open) return [];
  const { turn, block } = open;
  const text = String(open.text);
  if (open.kind === 'text') return [{ type: 'text.ended', turn, block, text }];
  return [{ type: 'reasoning.ended', turn, block, text, durationMs: deps.now() - open.startedAt }];
}

async function endTurn(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  events: DurableEventBody[],
): Promise<void> {
  const use = useOf(contextAfter(await session.context(), events), session, deps);
  const durationMs = deps.now() - turn.startedAt;
  const ended: DurableEventBody = {
    type: 'turn.ended',
    turn: turn.id,
    usage: turn.usage,
    durationMs,
    context: use,
  };
  await recordIn(session, turn.id, [...events, ended]);
}

async function recordFailure(
  session: LiveSession,
  deps: TurnDeps,
  turn: Turn,
  thrown: unknown,
): Promise<void> {
  const fault = asFault(thrown);
  const ids = { session: session.ref.id, turn: turn.id, connection: turn.via };
  if (fault.code === 'internal') deps.log.error({ ...ids, err: fault.cause }, 'turn failed');
  else deps.log.warn({ ...ids, code: fault.code, reason: fault.message }, 'turn failed');
  const durationMs = deps.now() - turn.startedAt;
  await readContext(session, deps);
  const failed = (state: SessionState): DurableEventBody[] =>
    state.turn?.id !== turn.id
      ? []
      : [
          ...closedBlock(turn, shownSoFar(session, deps.now)),
          ...state.turn.calls.flatMap((call) =>
            call.phase === 'running'
              ? unknownOutcome(call, turn.id, 'The server could not record what came of this.')
              : abortedCalls([call], turn.id),
          ),
          { type: 'turn.failed', turn: turn.id, fault: fault.data(), durationMs },
        ];
  await session.transact((state) => withContextUse(failed(state), session, deps));
}

/** The open block as far as it was streamed. */
export function shownSoFar(session: LiveSession, now: () => number) {
  const { open } = session;
  if (!open) return null;
  const { kind, block } = open;
  return { kind, block, text: String(open.text), durationMs: now() - open.startedAt };
}
