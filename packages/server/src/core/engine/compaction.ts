/**
 * Compacts a context: replaces older turns with a summary and keeps newer ones. The event log does not
 * change.
 */
import {
  asFault,
  type DurableEvent,
  type DurableEventBody,
  Fault,
  type Json,
  type JsonObject,
  textOf,
  textPart,
} from '@parlance/protocol';
import { type Prompt, type PromptItem, type Provider, promptItemsOf } from '../ports/provider.ts';
import { type Cut, cutContext, evolveContext } from '../session/context.ts';
import type { SessionState, Turn } from '../session/session-state.ts';
import { countTokens, itemTokens, overheadTokens } from '../session/tokens.ts';

import { constantPart, estimateOf, nextRequest, type Request, tokensIn } from './model-step.ts';
import { type Completion, complete, type ModelAccess, usageRecorded } from './questions.ts';
import type { Session } from './session.ts';
import type { Authority } from './session-link.ts';
import { recordUsage, type TurnDeps } from './turn-deps.ts';

/** Old outputs and inputs are cut to this many characters in a summary prompt. */
const PRUNED_LENGTH = 2_000;
/** Maximum length of the summary, as a share of the content that it replaces. */
const SHRINK = 0.5;
/** Maximum share of the model's context for the kept turns. */
const KEPT_SHARE = 0.3;
/**
 * Maximum share of the room below the threshold for the kept turns; the rest is for the summary and later
 * turns.
 */
const KEPT_BELOW_THRESHOLD = 0.5;
/**
 * Share of the model's context for the summary prompt: at first, and after the vendor rejects it as too long.
 */
const SUMMARISED_SHARES = [0.9, 0.5, 0.25];

const INSTRUCTIONS =
  "Summarise the conversation so far for your own use: the user's goals, decisions, completed work and open points. Be short and concrete.";

/**
 * The request to the session's model, its abort signal, and the authority for the append (default: driver).
 */
type CompactionRequest = {
  readonly request: Request;
  /** models that summarise instead; a step asks its next model itself */
  readonly others?: readonly Provider[];
  readonly signal: AbortSignal;
  readonly authority?: Authority;
};

/** Runs before a step: compacts if the context exceeds the threshold. Never drops the running turn. */
export async function compactIfFull(
  session: Session,
  deps: TurnDeps,
  options: CompactionRequest & { readonly turn: Turn },
): Promise<void> {
  const { request, turn } = options;
  const { strategy, threshold } = deps.context;
  if (strategy === 'none') return;
  const context = await session.context();
  const tokens = tokensIn(context, request);
  const limit = request.provider.contextLimit;
  if (tokens <= threshold * limit) return;
  const constant = constantPart(tokens, context, request);
  const room = Math.min(KEPT_SHARE * limit, KEPT_BELOW_THRESHOLD * (threshold * limit - constant));
  // `room` is in the vendor's tokens, `budget` in our estimate.
  const budget = (room * context.tokens) / Math.max(1, tokens - constant);
  const cut = cutContext(context, budget, context.turns.at(-1)?.started);
  if (!cut) return;
  await compact(session, deps, { ...options, cut, holds: (state) => state.turn?.id === turn.id });
}

/** Runs on demand. Throws if there is nothing to compact, or if another compaction finished first. */
export async function compactNow(
  session: Session,
  deps: TurnDeps,
  options: Pick<CompactionRequest, 'signal'> & Partial<CompactionRequest>,
): Promise<DurableEvent[]> {
  const { signal, authority } = options;
  const request = options.request ?? nextRequest(session, deps);
  const others = options.request ? [] : request.chain.slice(1);
  const context = await session.context();
  const running = session.state.turn ? context.turns.at(-1)?.started : undefined;
  const budget = KEPT_SHARE * Math.min(request.provider.contextLimit, context.tokens);
  const cut = cutContext(context, budget, running);
  if (!cut) throw new Fault('nothing_to_compact', 'There is nothing to compact yet.');
  const events = await compact(session, deps, { request, others, signal, authority, cut, holds: () => true });
  if (events.length === 0) throw new Fault('nothing_to_compact', 'The context has already been compacted.');
  return events;
}

/**
 * Runs after the vendor rejected the prompt as too long, once per step. True if the prompt is shorter now.
 */
export async function compactForVendor(
  session: Session,
  deps: TurnDeps,
  options: CompactionRequest,
): Promise<boolean> {
  const last = session.eventsSinceIdle.findLast(
    (event) => event.type === 'step.ended' || event.type === 'context.compacted',
  );
  if (last?.type === 'context.compacted') return false;
  try {
    await compactNow(session, deps, options);
    return true;
  } catch (thrown) {
    if (asFault(thrown).code === 'nothing_to_compact') return false;
    throw thrown;
  }
}

type Compacting = CompactionRequest & {
  readonly cut: Cut;
  /** whether the compaction is still valid */
  readonly holds: (state: SessionState) => boolean;
};

/** Records the compaction with current token counts. Appends no event if it is no longer valid. */
async function compact(
  session: Session,
  deps: TurnDeps,
  { request, others, signal, authority, cut, holds }: Compacting,
): Promise<DurableEvent[]> {
  const { cutAt } = session.state;
  const { text: summary, used } = await summaryOf(session, deps, { request, others, signal, cut });
  const wanted = (state: SessionState) => state.cutAt === cutAt && holds(state);
  for (;;) {
    const { seq } = session.state;
    const event = await measured(session, request, {
      type: 'context.compacted',
      summary,
      oldTokens: 0,
      newTokens: 0,
      strategy: deps.context.strategy,
      keepFrom: cut.keepFrom,
      readFrom: cut.readFrom,
    });
    const events = await session.transact(
      (state) => (wanted(state) && state.seq === seq ? [event, used] : []),
      authority,
    );
    if (events.length > 0) return events;
    if (wanted(session.state)) continue;
    await recordUsage(session, [used]);
    return [];
  }
}

/** Instructions and tools are a constant part of both counts. The rest of the vendor's count shrinks in proportion to our estimate. */
async function measured(
  session: Session,
  request: Request,
  event: DurableEventBody<'context.compacted'>,
): Promise<DurableEventBody> {
  const before = await session.context();
  const after = evolveContext(before, event as DurableEvent);
  const oldTokens = tokensIn(before, request);
  const constant = constantPart(oldTokens, before, request);
  const overhead = overheadTokens(request);
  const estimate = estimateOf(after, request);
  const share = (estimate - overhead) / Math.max(1, estimateOf(before, request) - overhead);
  return { ...event, oldTokens, estimate, newTokens: Math.round(constant + (oldTokens - constant) * share) };
}

async function summaryOf(
  session: Session,
  deps: TurnDeps,
  { request, others, signal, cut }: CompactionRequest & { readonly cut: Cut },
): Promise<{ readonly text: string; readonly used: DurableEventBody<'usage.recorded'> }> {
  const { turn, agent } = session.state;
  const about = { session: session.ref, turn: turn?.id, signal };
  const model = { ...deps, provider: request.provider, others };
  const completion = await summaryOfItems(model, promptItemsOf(cut.dropped), about);
  return {
    text: shortened(completion.text, Math.floor(cut.droppedTokens * SHRINK)),
    used: usageRecorded(completion, {
      task: 'compaction',
      agent: (turn?.agent ?? agent).id,
      apiKey: turn?.apiKey,
      during: turn?.id,
    }),
  };
}

/** The model writes a summary of the newest items that fit its context. Stores nothing. */
export async function summaryOfItems(
  model: ModelAccess,
  items: readonly PromptItem[],
  about: Parameters<typeof complete>[2],
): Promise<Completion> {
  const material = items.map(pruned);
  for (const [attempt, share] of SUMMARISED_SHARES.entries()) {
    const fits = fitting(material, share * model.provider.contextLimit);
    const prompt: Prompt = { task: 'compaction', instructions: INSTRUCTIONS, items: fits, tools: [] };
    try {
      const answer = await complete(model, prompt, about);
      if (answer.text !== '') return answer;
      break;
    } catch (thrown) {
      const last = attempt === SUMMARISED_SHARES.length - 1;
      if (last || asFault(thrown).code !== 'context_too_long') throw thrown;
    }
  }
  throw new Fault('provider_unavailable', 'The model gave no summary of the conversation.');
}

/** The last summary and the newest items that fit. Drops results without their call: vendors reject those. */
function fitting(items: readonly PromptItem[], budget: number): PromptItem[] {
  const isSummary = (item: PromptItem) => item.kind === 'summary';
  const newestFirst = [...items].reverse();
  const kept = new Set<PromptItem>();
  let left = budget;
  for (const item of [...newestFirst.filter(isSummary), ...newestFirst.filter((item) => !isSummary(item))]) {
    left -= itemTokens(item);
    if (left < 0 && kept.size > 0) break;
    kept.add(item);
  }
  const calls = new Set([...kept].map((item) => (item.kind === 'call' ? item.call : null)));
  return items.filter((item) => kept.has(item) && (item.kind !== 'result' || calls.has(item.call)));
}

/** Shortens long texts in outputs and inputs to their beginning and end. */
function pruned(item: PromptItem): PromptItem {
  if (item.kind === 'call') return { ...item, input: prunedTexts(item.input) as JsonObject };
  if (item.kind !== 'result') return item;
  const text = textOf(item.parts);
  return text.length <= PRUNED_LENGTH ? item : { ...item, parts: [textPart(headAndTail(text))] };
}

function prunedTexts(value: Json): Json {
  if (typeof value === 'string') return value.length <= PRUNED_LENGTH ? value : headAndTail(value);
  if (Array.isArray(value)) return value.map(prunedTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, prunedTexts(inner)]));
}

function headAndTail(text: string): string {
  const half = PRUNED_LENGTH / 2;
  return `${text.slice(0, half)}\n…\n${text.slice(-half)}`.toWellFormed();
}

function shortened(text: string, tokens: number): string {
  if (countTokens(text) <= tokens) return text;
  let length = Math.min(text.length, tokens * 4);
  while (length > 0 && countTokens(text.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  return text.slice(0, length).toWellFormed();
}
