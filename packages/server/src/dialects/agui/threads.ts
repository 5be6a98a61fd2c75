/** Finds or creates the thread of a request, and applies the request to it. */
import { type CallResult, type DurableEvent, Fault, type Part, TurnTerms, textOf } from '@parlance/protocol';
import type { SessionRef, SessionSnapshot } from '../../core/api/index.ts';
import type { DialectContext } from '../shared/dialect.ts';
import { importable } from '../shared/exchange/history.ts';
import { KeyedQueue } from '../shared/keyed-queue.ts';
import { Answers } from './answers.ts';
import { type Asked, type Begun, callerOf, type Followed, followedInput, followedTurn } from './asked.ts';
import { inputParts, isUser, itemsOf, spoken, termsOf, type UserMessage } from './conversation.ts';
import { findInput, findTurn, type KnownInput } from './log.ts';
import type { Message, RunAgentInput } from './schemas.ts';

/** The new messages of the user, validated. */
type Brought = {
  readonly messages: readonly UserMessage[];
  readonly parts: Part[];
  readonly terms: TurnTerms;
};

export class Threads {
  readonly #queue = new KeyedQueue();

  constructor(private readonly ctx: Pick<DialectContext, 'engine'>) {}

  /** Runs requests about the same thread one after another. A refused request changes nothing. */
  async begin(asked: Asked): Promise<Begun> {
    const { engine } = this.ctx;
    const ref = await engine.resolve(asked.principal, asked.run.threadId);
    return this.#queue.run(`${ref.owner} ${ref.id}`, async () =>
      (await engine.record(ref)) ? this.#continue(ref, asked) : this.#start(ref, asked),
    );
  }

  /** Creates a thread with the messages before the new ones as history, without calling a model. */
  async #start(ref: SessionRef, asked: Asked): Promise<Begun> {
    const { engine } = this.ctx;
    const { run, agent } = asked;
    const messages = spoken(run.messages);
    const brought = broughtBy(run, lastOfUser(messages));
    const before = messages.slice(0, messages.length - brought.messages.length);
    const continues = brought.messages.length === 0;
    if (run.resume?.length || (continues && before.at(-1)?.role !== 'tool'))
      throw new Fault('not_found', 'There is no such thread.');
    const history = importable(itemsOf(before));
    if (history.length > 0)
      await engine.send(ref, { type: 'session.create', agent, history }, callerOf(asked));
    const followed = await this.#submit(ref, asked, { ...brought, continues });
    return { ref, followed, owns: true };
  }

  /** The log is authoritative: messages that it does not have are new. */
  async #continue(ref: SessionRef, asked: Asked): Promise<Begun> {
    const { engine } = this.ctx;
    const { run } = asked;
    const now = await engine.snapshot(ref);
    const messages = spoken(run.messages);
    const known = await this.#known(now, run, messages);
    const brought = broughtBy(run, freshOf(messages, known));
    const answers = await Answers.check(engine, { ref, asked, now });
    if (brought.messages.length === 0 && answers.isEmpty)
      return { ref, followed: await this.#again(now, messages, known), owns: false };
    const joined = brought.messages.length > 0 && (await this.#withResults(ref, asked, { brought, answers }));
    if (joined) return { ref, followed: startingAt(joined, now), owns: true };
    const { followed, owns } = await answers.give();
    if (brought.messages.length === 0) return { ref, followed, owns };
    // A message instead of a result closes the calls that wait for one.
    const mode = answers.unanswered.length > 0 ? 'supersede' : 'queue';
    const next = await this.#submit(ref, asked, { ...brought, mode });
    if (!followed || mode === 'supersede') return { ref, followed: startingAt(next, now), owns: true };
    return { ref, followed: { ...followed, more: followed.more + 1 }, owns: true };
  }

  /** Submits the message with the results before it in one command; null if that is not possible. */
  async #withResults(
    ref: SessionRef,
    asked: Asked,
    { brought, answers }: { readonly brought: Brought; readonly answers: Answers },
  ): Promise<Followed | null> {
    const isWaiting = (await this.ctx.engine.record(ref))?.status === 'waiting';
    if (!isWaiting || !answers.resultsAlone) return null;
    const { results } = answers;
    try {
      return await this.#submit(ref, asked, { ...brought, mode: 'supersede', results });
    } catch (thrown) {
      // Another client has sent one of the results in the meantime.
      if (thrown instanceof Fault && thrown.code === 'not_found') return null;
      throw thrown;
    }
  }

  #known(now: SessionSnapshot, run: RunAgentInput, messages: readonly Message[]): Promise<KnownInput | null> {
    const users = messages.filter(isUser);
    const sought = new Set(users.map(({ id }) => id));
    const log = { engine: this.ctx.engine, ref: now.ref, head: now.seq };
    return findInput(log, { messages: sought, run: run.runId, parts: inputParts(lastOfUser(messages)) });
  }

  /**
   * The turn of the last message, if the request ends with it, which means it is repeated. Null: the request
   * shows the thread.
   */
  async #again(
    now: SessionSnapshot,
    messages: readonly Message[],
    known: KnownInput | null,
  ): Promise<Followed | null> {
    const last = messages.at(-1);
    if (known?.seq && last?.role === 'user') return followedInput({ ...known, seq: known.seq });
    if (last?.role !== 'tool') return null;
    const log = { engine: this.ctx.engine, ref: now.ref, head: now.seq };
    const { toolCallId } = last;
    const turn = await findTurn(log, (event) => event.type === 'tool.ended' && event.call === toolCallId);
    return turn && followedTurn(turn, turn.seq);
  }

  async #submit(
    ref: SessionRef,
    asked: Asked,
    what: Brought & {
      readonly mode?: 'queue' | 'supersede';
      readonly continues?: boolean;
      readonly results?: CallResult[];
    },
  ): Promise<Followed> {
    const { engine } = this.ctx;
    const { run, agent } = asked;
    const { messages, parts, terms, mode, continues, results } = what;
    const command = {
      type: 'input.submit',
      parts,
      mode,
      continues,
      results,
      agent,
      answeredBy: agent,
      data: { run: run.runId },
      ...terms,
    } as const;
    const { events, seq } = await engine.send(ref, command, callerOf(asked, messages.at(-1)?.id));
    const accepted = events.find(
      (event): event is DurableEvent<'input.accepted'> => event.type === 'input.accepted',
    );
    if (accepted) return followedInput(accepted);
    // Another node has accepted the same message in the meantime.
    const sought = { messages: new Set(messages.map(({ id }) => id)), run: run.runId, parts };
    const known = await findInput({ engine, ref, head: seq }, sought);
    if (!known?.seq) throw new Fault('invalid', 'The message is part of the history of this thread.');
    return followedInput({ ...known, seq: known.seq });
  }
}

/** The messages of the user at the end. */
const lastOfUser = (messages: readonly Message[]): UserMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1).filter(isUser);

/** The messages of the user after the latest one in the log. */
function freshOf(messages: readonly Message[], known: KnownInput | null): UserMessage[] {
  if (known?.message === null) return [];
  if (!known) return lastOfUser(messages);
  return messages.slice(messages.findLastIndex(({ id }) => id === known.message) + 1).filter(isUser);
}

/** Throws `empty` or `invalid` if the messages cannot be submitted. */
function broughtBy(run: RunAgentInput, messages: readonly UserMessage[]): Brought {
  for (const { id, content } of messages) {
    const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
    if (isText && textOf(inputParts([{ id, role: 'user', content }])).trim() === '')
      throw new Fault('empty', `The message ${id} is empty.`);
  }
  const terms = TurnTerms.safeParse(termsOf(run));
  if (!terms.success) {
    const [issue] = terms.error.issues;
    throw new Fault('invalid', `${issue?.path.join('.')}: ${issue?.message}`);
  }
  return { messages, parts: inputParts(messages), terms: terms.data };
}

/** Reads from the start of the current turn: it may wait for an answer that blocks the input. */
const startingAt = (followed: Followed, { began }: SessionSnapshot): Followed => ({
  ...followed,
  after: Math.min(followed.after, (began ?? Number.POSITIVE_INFINITY) - 1),
});
