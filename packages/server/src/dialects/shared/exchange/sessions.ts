/** Which session a request is about, and what it begins there. */
import type {
  CallId,
  DurableEvent,
  HistoryItem,
  InputId,
  Part,
  Principal,
  TurnId,
  TurnTerms,
} from '@parlance/protocol';
import { type Caller, labelKey, type SessionRecord, type SessionRef } from '../../../core/api/index.ts';
import type { DialectContext } from '../dialect.ts';
import { KeyedQueue } from '../keyed-queue.ts';
import type { Answer } from './answer.ts';
import { ConversationDigest } from './digest.ts';
import { importable } from './history.ts';
import { type Followed, Reading } from './reading.ts';
import { invalid } from './request-fault.ts';

/** The digest of the conversation after the last answer here. */
const HISTORY = '@exchange.history';
/** The idempotency key of the last request that had one, and where the session was then. */
const KEY = '@exchange.key';
const KEY_AT = 'exchange.at';

export type Question = {
  readonly dialect: string;
  readonly principal: Principal;
  readonly items: readonly HistoryItem[];
  /** the items from here on follow the last message of the assistant */
  readonly newFrom: number;
  readonly terms: TurnTerms;
  /** the agent that answers; absent: the session's, or the default one */
  readonly agent?: string;
  /** the session that the request names */
  readonly session: string | null;
  /** digest of the idempotency key */
  readonly key: string | null;
};

/** How far a request has come. */
export type Progress = {
  session: string | null;
  /** an input or a result was stored: the same request again would be a second one */
  accepted: boolean;
};

export type Begun = {
  readonly ref: SessionRef;
  readonly reading: Reading;
  readonly followed: Followed;
  /** an earlier request with the same key began it */
  readonly again: boolean;
};

type SessionsContext = Pick<DialectContext, 'engine' | 'log' | 'newId'>;

export class Sessions {
  readonly #queue = new KeyedQueue();

  constructor(private readonly ctx: SessionsContext) {}

  /** Requests about the same conversation begin one after another. */
  begin(question: Question, progress: Progress): Promise<Begun> {
    const { principal, session, key, items, newFrom } = question;
    if (newFrom >= items.length) throw invalid('messages', 'There is no new message of the user or a tool.');
    const history = new ConversationDigest(items.slice(0, newFrom)).value;
    const about = session ?? key ?? (newFrom > 0 ? history : this.ctx.newId());
    return this.#queue.run(`${principal.id} ${about}`, () => this.#begin(question, { progress, history }));
  }

  /** The next request that has this conversation and the answer as its history goes on in the session. */
  async remember(ref: SessionRef, { principal, dialect, items }: Question, answer: Answer): Promise<void> {
    const digest = new ConversationDigest(items);
    if (answer.text !== '') digest.add({ type: 'text', text: answer.text });
    for (const { call, tool, input } of answer.calls) digest.add({ type: 'call', call, tool, input });
    const labels = { [HISTORY]: digest.value };
    await this.ctx.engine.send(ref, { type: 'session.label', labels }, { principal, dialect });
  }

  async #begin(
    question: Question,
    { progress, history }: { progress: Progress; history: string },
  ): Promise<Begun> {
    const { engine } = this.ctx;
    const found = await this.#find(question, history);
    const ref = found?.ref ?? (await this.#newRef(question));
    progress.session = ref.id;
    const again = found && (await this.#again(found, question));
    if (again) {
      progress.accepted = true;
      return {
        ref,
        reading: await Reading.open(engine, ref, again.after),
        followed: again.followed,
        again: true,
      };
    }
    const reading = await Reading.open(engine, ref, 'now');
    try {
      const followed = found
        ? await this.#goOn(ref, question, progress)
        : await this.#start(ref, question, progress);
      return { ref, reading, followed, again: false };
    } catch (thrown) {
      reading.stop();
      throw thrown;
    }
  }

  async #newRef({ principal, session }: Question): Promise<SessionRef> {
    return this.ctx.engine.resolve(principal, session ?? this.ctx.newId());
  }

  async #find(question: Question, history: string): Promise<SessionRecord | null> {
    const { principal, session, key, newFrom } = question;
    const { engine } = this.ctx;
    if (session !== null) return engine.record(await engine.resolve(principal, session));
    const labelled = async (
      name: typeof KEY | typeof HISTORY,
      value: string,
    ): Promise<SessionRecord | null> => {
      const ref = await engine.lookup(principal, labelKey(name, value), 'own');
      const record = ref && (await engine.record(ref));
      return record && record.labels[name] === value ? record : null;
    };
    const byKey = key === null ? null : await labelled(KEY, key);
    if (byKey || newFrom === 0) return byKey;
    const byHistory = await labelled(HISTORY, history);
    return byHistory && byHistory.status !== 'running' && !byHistory.archived ? byHistory : null;
  }

  /** What an earlier request with the same key has begun. */
  async #again(
    { ref, labels }: SessionRecord,
    question: Question,
  ): Promise<{ readonly after: number; readonly followed: Followed } | null> {
    const { key } = question;
    if (key === null || labels[KEY] !== key) return null;
    const after = Number(labels[KEY_AT]);
    const events = await this.ctx.engine.events(ref, after, 100);
    const answered = new Set(resultsOf(question).map(({ call }) => String(call)));
    let input: InputId | null = null;
    let turn: TurnId | null = null;
    for (const event of events) {
      if (event.type === 'input.accepted' && event.key === key) input = event.input;
      if (event.type === 'tool.ended' && answered.has(event.call)) turn = event.turn;
    }
    return input === null && turn === null ? null : { after, followed: { input, turn, answered } };
  }

  /** A new session: it begins with the history, without asking a model. */
  async #start(ref: SessionRef, question: Question, progress: Progress): Promise<Followed> {
    const { engine } = this.ctx;
    const { items, newFrom, agent, key } = question;
    const parts = partsOf(question);
    const history = importable(items.filter((item, at) => at < newFrom || item.type === 'result'));
    if (history.length > 0 || key !== null) {
      const labels = key === null ? undefined : { [KEY]: key, [KEY_AT]: '0' };
      await engine.send(ref, { type: 'session.create', agent, history, labels }, callerOf(question));
    }
    const continues = parts.length === 0;
    if (continues && history.length === 0) throw invalid('messages', 'There is no message of the user.');
    const input = await this.#submit(ref, question, { parts, continues });
    progress.accepted = true;
    return { input, turn: null, answered: new Set() };
  }

  /** A session that exists: results answer its open calls, messages are an input. */
  async #goOn(ref: SessionRef, question: Question, progress: Progress): Promise<Followed> {
    const { engine } = this.ctx;
    const caller = callerOf(question);
    const { deferred, turn, seq } = await engine.snapshot(ref);
    const results = resultsOf(question).filter(({ call }) => deferred.some((open) => open.call === call));
    const unanswered = deferred.filter(({ call }) => !results.some((result) => result.call === call));
    const parts = partsOf(question);
    if (parts.length === 0) checkResults(results, unanswered);
    if (question.key !== null) {
      const labels = { [KEY]: question.key, [KEY_AT]: String(seq) };
      await engine.send(ref, { type: 'session.label', labels }, caller);
    }
    for (const { call, parts: result } of results) {
      await engine.send(ref, { type: 'call.answer', call, parts: result }, caller);
      progress.accepted = true;
    }
    const answered = new Set(results.map(({ call }) => String(call)));
    if (parts.length === 0) return { input: null, turn, answered };
    // A message instead of a result closes the calls that wait for one.
    const mode = unanswered.length > 0 && deferred.length > 0 ? 'supersede' : 'queue';
    const input = await this.#submit(ref, question, { parts, mode });
    progress.accepted = true;
    return { input, turn: results.length > 0 && mode === 'queue' ? turn : null, answered };
  }

  async #submit(
    ref: SessionRef,
    question: Question,
    what: { parts: Part[]; mode?: 'queue' | 'supersede'; continues?: boolean },
  ): Promise<InputId | null> {
    const { agent, terms } = question;
    const command = { type: 'input.submit', ...what, agent, answeredBy: agent, ...terms } as const;
    const { events } = await this.ctx.engine.send(ref, command, callerOf(question));
    const accepted = events.find(
      (event): event is DurableEvent<'input.accepted'> => event.type === 'input.accepted',
    );
    return accepted?.input ?? null;
  }
}

const callerOf = ({ principal, dialect, key }: Question): Caller => ({
  principal,
  dialect,
  ...(key !== null && { key }),
});

/** The new messages of the user are one input. */
const partsOf = ({ items, newFrom }: Question): Part[] =>
  items.slice(newFrom).flatMap((item) => (item.type === 'user' ? item.parts : []));

type Result = Extract<HistoryItem, { type: 'result' }>;

const resultsOf = ({ items, newFrom }: Question): Result[] => {
  const results = new Map<CallId, Result>();
  for (const item of items.slice(newFrom)) if (item.type === 'result') results.set(item.call, item);
  return [...results.values()];
};

function checkResults(results: readonly Result[], unanswered: readonly { readonly call: CallId }[]): void {
  const missing = unanswered.map(({ call }) => call).join(', ');
  if (missing !== '')
    throw invalid(
      'messages',
      `Each call needs a message of role 'tool' with its result. Missing: ${missing}`,
    );
  if (results.length === 0) throw invalid('messages', 'No call waits for these results.');
}
