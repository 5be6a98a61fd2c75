/**
 * The turn loop. What comes next follows from the state alone (`nextMove`), so a turn goes on the same way after an
 * approval, after a week, and after the process was killed.
 */
import {
  asFault,
  type BlockId,
  type CallId,
  type FactBody,
  Fault,
  type Sealed,
  type TurnId,
} from '@parlance/protocol';
import type { Roster } from './agents.ts';
import type { ApprovalMode, Rule } from './approvals.ts';
import { settleCall } from './call.ts';
import type { ClientDesk } from './clients.ts';
import { compactForVendor, compactIfFull } from './compaction.ts';
import { contextAfter, estimateOf, readContext, useOf, withContextUse } from './context-use.ts';
import { abortedCalls, closedBlock, turnBegun, unknownOutcome } from './decide.ts';
import { GrowingText } from './growing-text.ts';
import type { LiveSession, OpenBlock, TakenUp } from './live-session.ts';
import { ModelCall, type Observers } from './model-call.ts';
import type { Log } from './ports/log.ts';
import type { PromptItem, Provider, TakeWords } from './ports/provider.ts';
import type { Tool } from './ports/tool.ts';
import { promptOf, type Request, requestBy } from './prompt.ts';
import { addUsage, type OpenCall, type SessionState, type Turn } from './session.ts';

/** Everything a turn works with, besides its session. */
export type TurnTools = Observers & {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clients: ClientDesk;
  readonly roster: Roster;
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

export type Move =
  | { readonly kind: 'rest' }
  | { readonly kind: 'begin' }
  | { readonly kind: 'think'; readonly turn: Turn }
  | { readonly kind: 'call'; readonly turn: Turn; readonly call: OpenCall }
  | { readonly kind: 'end'; readonly turn: Turn };

/** What the session does next. It rests when nothing was asked, or when a person has to answer. */
export function nextMove(state: SessionState): Move {
  const { turn } = state;
  if (!turn) return { kind: state.queue.length > 0 ? 'begin' : 'rest' };
  const call = turn.calls[0];
  if (call)
    return call.phase === 'waiting' || call.phase === 'deferred'
      ? { kind: 'rest' }
      : { kind: 'call', turn, call };
  return turn.answered ? { kind: 'end', turn } : { kind: 'think', turn };
}

/**
 * Moves the session forward until it rests. `stopping` ends it between two moves; the log knows where it was. Throws
 * where nothing can be recorded any more.
 */
export async function drive(session: LiveSession, tools: TurnTools, stopping: () => boolean): Promise<void> {
  if (session.interrupted) await takeUp(session, session.interrupted);
  while (!stopping()) {
    const move = nextMove(session.state);
    if (move.kind === 'rest') return;
    const signal = move.kind === 'begin' ? null : session.signal(move.turn.id);
    try {
      if (move.kind === 'begin') await begin(session, tools);
      else if (move.kind === 'think') await think(session, tools, move.turn);
      else if (move.kind === 'call') await settleCall(session, tools, move.turn, move.call);
      else await end(session, tools, move.turn, []);
    } catch (thrown) {
      if (move.kind === 'begin') throw thrown;
      if (!signal?.aborted) await brokeOff(session, tools, move, thrown);
    }
    // A cancel may be on its way to the log: what comes next is decided after it.
    await session.settled();
  }
}

/** The facts belong to this turn: they are dropped where it was cancelled or superseded meanwhile. */
export const recordIn = (session: LiveSession, turn: TurnId, facts: readonly FactBody[]): Promise<unknown> =>
  session.transact((state) => (state.turn?.id === turn ? facts : []));

async function takeUp(session: LiveSession, broken: TakenUp): Promise<void> {
  await recordIn(session, broken.turn, [broken]);
  session.interrupted = null;
}

/**
 * The turn fails. Where not even that can be recorded, it is taken up again later, and that begins with a fact: as
 * long as nothing can be stored, no model is asked for what would be lost.
 */
async function brokeOff(
  session: LiveSession,
  tools: TurnTools,
  move: Exclude<Move, { kind: 'rest' | 'begin' }>,
  thrown: unknown,
): Promise<void> {
  const turn = move.turn.id;
  const fault = asFault(thrown).data();
  session.interrupted =
    move.kind === 'think'
      ? { type: 'step.restarted', turn, attempt: 1, delayMs: 0, fault, ...shownBlock(session) }
      : { type: 'turn.resumed', turn };
  await fail(session, tools, move.turn, thrown);
  session.interrupted = null;
}

async function begin(session: LiveSession, tools: TurnTools): Promise<void> {
  await session.transact(({ turn, queue: [next], agent }) =>
    turn || !next ? [] : turnBegun(next, tools.newId() as TurnId, agent),
  );
}

/** One answer of the model: streams it, then records its blocks and calls at once. */
async function think(session: LiveSession, tools: TurnTools, turn: Turn): Promise<void> {
  if (turn.steps >= tools.maxSteps) {
    throw new Fault('too_many_steps', `The turn was stopped after ${turn.steps} steps.`);
  }
  const signal = session.signal(turn.id);
  if (signal.aborted) return;
  session.voidBlock();
  const request = requestBy(turn.agent.id, session, tools);
  const { provider } = request;
  await compactIfFull(session, tools, { turn, request, signal });
  const prompt = await promptOf(session, request);
  const calls: FactBody<'call.requested'>[] = [];
  using asked = new ModelCall(tools, {
    provider: provider.name,
    model: provider.model,
    task: prompt.task,
    session: session.ref,
    turn: turn.id,
  });
  const take: TakeWords = (kind, text) => {
    if (signal.aborted || session.open?.kind !== kind) return false;
    stream(session, tools, turn, kind, text);
    return true;
  };
  for await (const event of provider.stream(prompt, signal, take)) {
    if (signal.aborted) return;
    switch (event.type) {
      case 'text':
      case 'reasoning':
        if (session.open && session.open.kind !== event.type) await endBlock(session, tools, turn);
        if (signal.aborted) return;
        stream(session, tools, turn, event.type, event.text);
        break;
      case 'call':
        calls.push({ ...event, type: 'call.requested', turn: turn.id, call: callId(event.call, calls) });
        break;
      case 'sealed':
        await sealReasoning(session, tools, turn, event.sealed);
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
        const said = [...blockFacts(session, tools), ...calls];
        const counted = provider.counts && (await countedStep(session, request, said));
        const facts = [...said, { type: 'step.ended', turn: turn.id, usage, stop, ...counted } as const];
        const spent = { ...turn, usage: addUsage(turn.usage, usage) };
        return calls.length > 0
          ? void (await recordIn(session, turn.id, facts))
          : end(session, tools, spent, facts);
      }
      case 'failed':
        asked.failed(event.fault.code);
        if (
          event.fault.code === 'context_too_long' &&
          (await compactForVendor(session, tools, { request, signal }))
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
  said: readonly FactBody[],
): Promise<Pick<FactBody<'step.ended'>, 'counted' | 'estimate'>> {
  return { counted: true, estimate: estimateOf(contextAfter(await session.context(), said), request) };
}

/** Models have been seen to give two calls of one answer the same id. */
const callId = (id: string, before: readonly FactBody<'call.requested'>[]): CallId =>
  (before.some(({ call }) => call === id) ? `${id}_${before.length + 1}` : id) as CallId;

/** On the path of a token. */
function stream(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  kind: OpenBlock['kind'],
  text: string,
): void {
  if (text === '') return;
  const open = session.open ?? openBlock(kind, turn.id, tools);
  session.open = open;
  open.text.add(text);
  const type = kind === 'text' ? 'text.delta' : 'reasoning.delta';
  session.publish({ type, turn: turn.id, block: open.block, text });
}

const openBlock = (kind: 'text' | 'reasoning', turn: TurnId, tools: TurnTools): OpenBlock => ({
  kind,
  turn,
  block: tools.newId() as BlockId,
  startedAt: tools.now(),
  text: new GrowingText(),
});

async function endBlock(session: LiveSession, tools: TurnTools, turn: Turn): Promise<void> {
  await recordIn(session, turn.id, blockFacts(session, tools));
}

/** What a vendor sealed belongs to a block of reasoning, which may have no text to show. */
async function sealReasoning(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  sealed: Sealed,
): Promise<void> {
  const facts = blockFacts(session, tools);
  const last = facts.at(-1);
  const reasoning: FactBody<'reasoning.ended'> =
    last?.type === 'reasoning.ended'
      ? last
      : { type: 'reasoning.ended', turn: turn.id, block: tools.newId() as BlockId, text: '', durationMs: 0 };
  await recordIn(session, turn.id, [...facts.filter((fact) => fact !== reasoning), { ...reasoning, sealed }]);
}

function blockFacts(session: LiveSession, tools: TurnTools): FactBody[] {
  const { open } = session;
  if (!open) return [];
  const { turn, block } = open;
  const text = String(open.text);
  if (open.kind === 'text') return [{ type: 'text.ended', turn, block, text }];
  return [{ type: 'reasoning.ended', turn, block, text, durationMs: tools.now() - open.startedAt }];
}

async function end(session: LiveSession, tools: TurnTools, turn: Turn, facts: FactBody[]): Promise<void> {
  const use = useOf(contextAfter(await session.context(), facts), session, tools);
  const durationMs = tools.now() - turn.startedAt;
  const ended: FactBody = { type: 'turn.ended', turn: turn.id, usage: turn.usage, durationMs, context: use };
  await recordIn(session, turn.id, [...facts, ended]);
}

async function fail(session: LiveSession, tools: TurnTools, turn: Turn, thrown: unknown): Promise<void> {
  const fault = asFault(thrown);
  const ids = { session: session.ref.id, turn: turn.id, connection: turn.via };
  if (fault.code === 'internal') tools.log.error({ ...ids, err: fault.cause }, 'turn failed');
  else tools.log.warn({ ...ids, code: fault.code, reason: fault.message }, 'turn failed');
  const durationMs = tools.now() - turn.startedAt;
  await readContext(session, tools);
  const failed = (state: SessionState): FactBody[] =>
    state.turn?.id !== turn.id
      ? []
      : [
          ...closedBlock(turn, shownSoFar(session, tools.now)),
          ...state.turn.calls.flatMap((call) =>
            call.phase === 'running'
              ? unknownOutcome(call, turn.id, 'The server could not record what came of this.')
              : abortedCalls([call], turn.id),
          ),
          { type: 'turn.failed', turn: turn.id, fault: fault.data(), durationMs },
        ];
  await session.transact((state) => withContextUse(failed(state), session, tools));
}

/** The open block as far as it was streamed. */
export function shownSoFar(session: LiveSession, now: () => number) {
  const { open } = session;
  if (!open) return null;
  const { kind, block } = open;
  return { kind, block, text: String(open.text), durationMs: now() - open.startedAt };
}
