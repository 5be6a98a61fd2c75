/** Applies a request to its session. */
import {
  type CallResult,
  type CommandInput,
  Fault,
  type InputId,
  type Part,
  type TurnTerms,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import { allResults, continueTurn, giveAnswers, type Target } from './continue.ts';
import { type AcceptedInput, inputOf, latestInput, runningInput } from './log.ts';
import { inputData, type StoredInput } from './message-ids.ts';
import { historyItems, instructionsOf, userParts } from './messages.ts';
import type { ChatRequest, Message } from './schemas.ts';
import type { FollowTarget } from './turn-follower.ts';

/** Throws a `Fault` if the request is not possible; nothing is stored then. */
export async function begin(target: Target, body: ChatRequest): Promise<FollowTarget> {
  const { engine, ref } = target;
  const { messages, messageId } = body;
  const isNew = (await engine.record(ref)) === null;
  const named = messageId == null ? undefined : messages.findLast(({ id }) => id === messageId);
  const last = messages.findLast(({ role }) => role !== 'system');
  const continued = [named, last].find((message) => message?.role === 'assistant');
  const latest = messages.findLast(({ role }) => role === 'user');
  if (body.trigger !== 'regenerate-message' && continued && (named === continued || !named)) {
    if (isNew) throw new Fault('not_found', 'There is no such chat.');
    return continueTurn(target, continued);
  }
  if (!latest) throw new Fault('invalid', 'There is no user message.');
  const sent = { message: latest, parts: userParts(latest), terms: termsOf(body) };
  if (isNew) return first(target, sent, messages);
  if (body.trigger === 'regenerate-message') return again(target, sent, 'stored');
  return named === latest ? again(target, sent, 'sent') : submit(target, sent, messages);
}

type NewMessage = {
  readonly message: Message;
  readonly parts: readonly Part[];
  readonly terms: TurnTerms;
};

function termsOf({ tools, system, messages }: ChatRequest): TurnTerms {
  const instructions = instructionsOf(messages, system);
  const named = Array.isArray(tools)
    ? tools
    : tools && Object.entries(tools).map(([name, tool]) => ({ name, ...tool }));
  return {
    ...(named && {
      tools: named.map(({ name, description, inputSchema, parameters }) => ({
        name,
        description: description ?? '',
        parameters: inputSchema ?? parameters ?? {},
      })),
    }),
    ...(instructions !== undefined && { instructions }),
  };
}

/** Creates the session with the earlier messages as imported history. */
async function first(target: Target, sent: NewMessage, messages: readonly Message[]): Promise<FollowTarget> {
  const { engine, ref, caller } = target;
  const history = historyItems(messages.slice(0, messages.indexOf(sent.message)));
  if (history.length > 0) await engine.send(ref, { type: 'session.create', history }, caller);
  return submit(target, sent, []);
}

async function submit(target: Target, sent: NewMessage, messages: readonly Message[]): Promise<FollowTarget> {
  const { engine, ref } = target;
  const { message } = sent;
  const before = await engine.snapshot(ref);
  const answers = messages.filter(({ role }) => role === 'assistant');
  const withResults = await submitWithResults(target, sent, { before, answers });
  if (withResults) return { ref, input: withResults, known: null };
  await giveAnswers(target, before, answers);
  const mode = await modeFor(target, before);
  const input =
    (await accept(target, sent, { key: message.id, mode })) ?? (await sentBefore(target, message));
  return { ref, input, known: null };
}

/**
 * Submits the message with the results before it in one command, so that its turn continues from them. Null if
 * that is not possible.
 */
async function submitWithResults(
  target: Target,
  sent: NewMessage,
  { before, answers }: { readonly before: SessionSnapshot; readonly answers: readonly Message[] },
): Promise<AcceptedInput | null> {
  const results = allResults(before, answers);
  const isWaiting = (await target.engine.record(target.ref))?.status === 'waiting';
  if (!results || !isWaiting) return null;
  try {
    return await accept(target, sent, { key: sent.message.id, mode: 'supersede', results });
  } catch (thrown) {
    // Another tab has sent one of the results in the meantime.
    if (thrown instanceof Fault && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

/** The input of a message that was already sent. */
async function sentBefore({ engine, ref }: Target, { id }: Message): Promise<AcceptedInput> {
  const { seq: head } = await engine.snapshot(ref);
  const input = await inputOf(engine, { ref, head }, id);
  if (input?.type !== 'input.accepted') throw new Fault('busy', 'This message has already been answered.');
  return input;
}

/**
 * A message instead of the results that a page owes closes the calls that wait for them. Other messages are
 * queued.
 */
async function modeFor({ engine, ref }: Target, before: SessionSnapshot): Promise<'queue' | 'supersede'> {
  if (before.deferred.length === 0) return 'queue';
  const now = await engine.snapshot(ref);
  const input = now.deferred.length > 0 ? await runningInput(engine, now) : null;
  const names = input?.dialect === 'aisdk' ? input.tools?.map(({ name }) => name) : [];
  return now.deferred.some(({ tool }) => names?.includes(tool)) ? 'supersede' : 'queue';
}

/**
 * The message is edited (`sent`) or answered again (`stored`): it and everything after it leave the context. A
 * message that the session does not have was not accepted before, and is accepted now.
 */
async function again(target: Target, sent: NewMessage, content: 'sent' | 'stored'): Promise<FollowTarget> {
  const { engine, ref } = target;
  const now = await engine.snapshot(ref);
  const known = await inputOf(engine, { ref, head: now.seq }, sent.message.id);
  if (!known?.input) return submit(target, sent, []);
  const same = content === 'sent' ? await unchanged(target, now, { known, sent }) : null;
  if (same) return { ref, input: same, known: null };
  const parts = content === 'stored' ? storedParts(known) : sent.parts;
  const input = await accept(target, { ...sent, parts }, { replaces: known.input });
  if (!input) throw new Error('an input without a key was not accepted');
  return { ref, input, known: null };
}

/**
 * The input of a message that is repeated, rather than edited: its answer is running, or nothing followed it.
 */
async function unchanged(
  { engine, ref }: Target,
  now: SessionSnapshot,
  { known, sent }: { readonly known: StoredInput; readonly sent: NewMessage },
): Promise<AcceptedInput | null> {
  if (!Bun.deepEquals(storedParts(known), sent.parts)) return null;
  const running = await runningInput(engine, now);
  const latest = running ?? (await latestInput(engine, { ref, head: now.seq }));
  const isAnswered = running !== null || now.finished.at(-1)?.ok === true;
  return isAnswered && latest?.input === known.input ? latest : null;
}

function storedParts(known: StoredInput): readonly Part[] {
  if (known.type === 'input.accepted') return known.parts;
  const [first] = known.items;
  return first?.type === 'user' ? first.parts : [];
}

type SubmitOptions = {
  readonly key?: string;
  readonly mode?: 'queue' | 'supersede';
  readonly replaces?: InputId;
  readonly results?: CallResult[];
};

/** Null if an input with this key was already accepted. */
async function accept(
  { engine, ref, caller }: Target,
  { message, parts, terms }: NewMessage,
  { key, ...options }: SubmitOptions,
): Promise<AcceptedInput | null> {
  const data = inputData(message.id, message.metadata);
  const command: CommandInput = { type: 'input.submit', parts: [...parts], data, ...options, ...terms };
  const { events } = await engine.send(ref, command, { ...caller, key });
  return events.find((event): event is AcceptedInput => event.type === 'input.accepted') ?? null;
}
