/** Makes a context smaller: the older turns become a summary, the newer ones stay. The facts stay in the log. */
import { asFault, type Fact, type FactBody, Fault, textOf, textPart } from '@parlance/protocol';
import { type Cut, contextUse, cutContext, evolveContext } from './context.ts';
import type { LiveSession } from './live-session.ts';
import type { Prompt, PromptItem } from './ports/provider.ts';
import { complete } from './questions.ts';
import type { Turn } from './session.ts';
import { countTokens } from './tokens.ts';
import type { TurnTools } from './turn.ts';

/** How much of an old output a summary is made from, in characters. */
const PRUNED_LENGTH = 2_000;
/** A summary is never longer than this part of what it stands for. */
const SHRINK = 0.5;
/** How much of the model's context the turns that stay may take. */
const KEPT_SHARE = 0.3;

const INSTRUCTIONS =
  'Summarise the conversation so far for your own later use: what the user wants, what was decided, what was done and what is still open. Be short and concrete.';

/** Before a step: compacts where the context is strictly above the threshold. The running turn always stays. */
export async function compactIfFull(
  session: LiveSession,
  tools: TurnTools,
  turn: Turn,
  signal: AbortSignal,
): Promise<void> {
  const { strategy, threshold } = tools.context;
  if (strategy === 'none') return;
  const use = await currentUse(session, tools);
  if (use.tokens <= threshold * use.limit) return;
  const { cutAt } = session.state;
  const context = await session.context();
  const running = context.turns.at(-1)?.started;
  const cut = cutContext(context, KEPT_SHARE * use.limit, running);
  if (!cut) return;
  const fact = await compacted(session, tools, cut, use.tokens, signal);
  await session.transact((state) => (state.turn?.id === turn.id && state.cutAt === cutAt ? [fact] : []));
}

/** On demand. Throws where there is nothing to compact, or where the context was cut by someone else meanwhile. */
export async function compactNow(
  session: LiveSession,
  tools: TurnTools,
  signal: AbortSignal,
): Promise<Fact[]> {
  const { cutAt } = session.state;
  const use = await currentUse(session, tools);
  const context = await session.context();
  const running = session.state.turn ? context.turns.at(-1)?.started : undefined;
  const budget = Math.min(KEPT_SHARE * use.limit, context.tokens * KEPT_SHARE);
  const cut = cutContext(context, budget, running);
  if (!cut) throw new Fault('nothing_to_compact', 'There is nothing to compact yet.');
  const fact = await compacted(session, tools, cut, use.tokens, signal);
  const facts = await session.transact((state) => (state.cutAt === cutAt ? [fact] : []));
  if (facts.length === 0) throw new Fault('nothing_to_compact', 'The context was made smaller meanwhile.');
  return facts;
}

export const currentUse = async (session: LiveSession, tools: TurnTools) =>
  contextUse(await session.context(), [], limitsOf(tools));

export const limitsOf = (tools: TurnTools) => ({
  instructions: tools.instructions,
  limit: tools.provider.contextLimit,
  strategy: tools.context.strategy,
});

/** The vendor refused the prompt as too long. True where it is shorter now; a second time in one step it is not tried. */
export async function compactForVendor(
  session: LiveSession,
  tools: TurnTools,
  signal: AbortSignal,
): Promise<boolean> {
  const last = session.recent.findLast(
    (fact) => fact.type === 'step.ended' || fact.type === 'context.compacted',
  );
  if (last?.type === 'context.compacted') return false;
  try {
    await compactNow(session, tools, signal);
    return true;
  } catch (thrown) {
    if (asFault(thrown).code === 'nothing_to_compact') return false;
    throw thrown;
  }
}

async function compacted(
  session: LiveSession,
  tools: TurnTools,
  cut: Cut,
  oldTokens: number,
  signal: AbortSignal,
): Promise<FactBody> {
  const prompt: Prompt = {
    task: 'compaction',
    instructions: INSTRUCTIONS,
    items: cut.dropped.map(pruned),
    tools: [],
  };
  const about = { session: session.ref, turn: session.state.turn?.id };
  const text = await complete(tools, prompt, signal, about);
  if (text === '') throw new Fault('provider_unavailable', 'The model gave no summary of the conversation.');
  const summary = shortened(text, Math.floor(cut.droppedTokens * SHRINK));
  const fact: FactBody = {
    type: 'context.compacted',
    summary,
    oldTokens,
    newTokens: 0,
    strategy: tools.context.strategy,
    keepFrom: cut.keepFrom,
    readFrom: cut.readFrom,
  };
  const before = await session.context();
  const after = evolveContext(before, fact as Fact);
  if (!before.counted) return { ...fact, newTokens: contextUse(after, [], limitsOf(tools)).tokens };
  // In the terms of the vendor's count, so that old and new can be compared.
  return { ...fact, newTokens: Math.round((oldTokens * after.tokens) / before.tokens) };
}

/** Old outputs are long and soon stale: of those the summary is made from, the beginning and the end will do. */
function pruned(item: PromptItem): PromptItem {
  if (item.kind !== 'result') return item;
  const text = textOf(item.parts);
  if (text.length <= PRUNED_LENGTH) return item;
  const half = PRUNED_LENGTH / 2;
  return { ...item, parts: [textPart(`${text.slice(0, half)}\n…\n${text.slice(-half)}`)] };
}

function shortened(text: string, tokens: number): string {
  if (countTokens(text) <= tokens) return text;
  let length = Math.min(text.length, tokens * 4);
  while (length > 0 && countTokens(text.slice(0, length)) > tokens) length = Math.floor(length * 0.9);
  return text.slice(0, length).toWellFormed();
}
