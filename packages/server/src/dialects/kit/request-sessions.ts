/** Finds or creates the session of a request, and applies the request to it. */
import {
  type CallId,
  type DurableEvent,
  Fault,
  type HistoryItem,
  type SessionEvent,
  type TurnOptions,
  turnOptionsOf,
} from '@parlance/protocol';
import {
  type Engine,
  labelKey,
  type SessionRecord,
  type SessionRef,
  type SessionSnapshot,
  type Watch,
} from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import {
  type Accepted,
  type ChatRequest,
  callerOf,
  invalidConversation,
  type Progress,
  partsOf,
  RequestFault,
  type Result,
  resultsOf,
  type StartedTurn,
  systemOf,
} from './chat-request.ts';
import type { DialectContext } from './dialect.ts';
import { importable } from './history.ts';
import {
  conversationDigest,
  type EarlierRequest,
  earlierRequest,
  followTarget,
  KEY,
  keyLabels,
} from './request-keys.ts';
import { cancelTurn, type Answer as RequestAnswer, type RequestTurn } from './request-turn.ts';
import { readUpdates } from './turn-updates.ts';

/** The digest of the conversation after the last answer in this session. */
const HISTORY = '@exchange.history';

type Target = {
  readonly ref: SessionRef;
  /** null if the session does not exist */
  readonly record: SessionRecord | null;
  readonly earlier: EarlierRequest | null;
  readonly history: string | null;
};

export class Sessions {
  readonly #queue = new KeyedQueue();

  constructor(private readonly ctx: Pick<DialectContext, 'engine' | 'log' | 'newId'>) {}

  /** Applies the request, and follows the answer. */
  begin(chat: ChatRequest, progress: Progress): Promise<StartedTurn> {
    const { engine } = this.ctx;
    return this.#inOrder(chat, progress, async (target) => {
      const { ref, earlier } = target;
      const reader = await readUpdates(engine, ref, { after: earlier?.after ?? 'now' });
      try {
        return { ...(await this.#accept(chat, progress, target)), reader };
      } catch (thrown) {
        reader.stop();
        throw thrown;
      }
    });
  }

  /** Applies the request. The answer can be read from the first event that it caused. */
  accept(chat: ChatRequest, progress: Progress): Promise<Accepted> {
    return this.#inOrder(chat, progress, (target) => this.#accept(chat, progress, target));
  }

  /** Stores what `remember` stores with the end of the turn, if the answer is complete then. */
  rememberAtEnd(
    { ref, history, again, reader }: StartedTurn,
    { items, newFrom }: ChatRequest,
    requestTurn: Pick<RequestTurn, 'done'>,
    answer: Pick<RequestAnswer, 'items'>,
  ): void {
    if (history === null || again) return;
    const stop = this.ctx.engine.labelTurns(ref, (turn) =>
      turn === reader.turn ? digestLabel(history, [...items.slice(newFrom), ...answer.items]) : null,
    );
    requestTurn.done.then(stop, stop);
  }

  /**
   * Stores the digest of the conversation with this answer, so that the next request with that history continues the
   * session. If this fails, that request creates a new session with the same history: no reason to fail this one.
   */
  async remember(
    { ref, history, again }: Accepted,
    { items, newFrom, principal, dialect }: ChatRequest,
    answer: readonly HistoryItem[],
  ): Promise<void> {
    if (history === null || again) return;
    const { engine, log } = this.ctx;
    const labels = digestLabel(history, [...items.slice(newFrom), ...answer]);
    try {
      const { labels: present } = await engine.snapshot(ref);
      if (present[HISTORY] !== labels[HISTORY])
        await engine.send(ref, { type: 'session.label', labels }, { principal, dialect });
    } catch (thrown) {
      log.warn({ err: thrown, session: ref.id }, 'failed to store history digest');
    }
  }

  /** Runs requests about the same conversation one after another. */
  #inOrder<Result>(
    chat: ChatRequest,
    progress: Progress,
    work: (target: Target) => Promise<Result>,
  ): Promise<Result> {
    const { principal, session, key, items, newFrom, approvals = [] } = chat;
    if (newFrom >= items.length && approvals.length === 0)
      throw invalidConversation(chat, 'There is no new message of the user or a tool.');
    const history = conversationDigest(items.slice(0, newFrom));
    const about = session ?? key ?? (newFrom > 0 ? history : this.ctx.newId());
    return this.#queue.run(`${principal.id} ${about}`, async () => {
      const target = await this.#target(chat, history);
      progress.session = target.ref.id;
      return work(target);
    });
  }

  async #target(chat: ChatRequest, history: string): Promise<Target> {
    const { principal, session } = chat;
    const { engine, newId } = this.ctx;
    const record = await this.#find(chat, history);
    const earlier = record && (await earlierRequest(engine, record, chat));
    const ref = record?.ref ?? (await engine.resolve(principal, session ?? newId()));
    // A request that names its session may have only a part of the history.
    const known = session === null || !record ? history : (record.labels[HISTORY] ?? null);
    return { ref, record, earlier, history: known };
  }

  async #find(chat: ChatRequest, history: string): Promise<SessionRecord | null> {
    const { principal, session, key, newFrom, branches } = chat;
    const { engine } = this.ctx;
    if (session !== null) return engine.record(await engine.resolve(principal, session));
    const labelled = async (name: typeof KEY | typeof HISTORY, value: string) => {
      const ref = await engine.lookup(principal, labelKey(name, value), 'own');
      return ref && engine.record(ref);
    };
    const byKey = key === null ? null : await labelled(KEY, key);
    if (byKey || newFrom === 0 || branches) return byKey;
    const byHistory = await labelled(HISTORY, history);
    const holds = byHistory?.labels[HISTORY] === history;
    return holds && byHistory.status !== 'running' && !byHistory.archived ? byHistory : null;
  }

  /** Before anything is stored. */
  async #checkLinks(chat: ChatRequest, ref: SessionRef): Promise<void> {
    const input = { parts: partsOf(chat), agent: chat.agent };
    await this.ctx.engine.checkLinks(ref, input).catch((thrown: unknown) => {
      throw thrown instanceof Fault && thrown.code === 'invalid'
        ? invalidConversation(chat, thrown.message)
        : thrown;
    });
  }

  async #accept(chat: ChatRequest, progress: Progress, target: Target): Promise<Accepted> {
    const { ref, record, earlier, history } = target;
    if (earlier) {
      progress.accepted = true;
      return { ref, start: earlier.start, target: earlier.target, again: true, history };
    }
    await this.#checkLinks(chat, ref);
    const context = { ...this.ctx, progress };
    const requestEvents = record
      ? await continueSession(context, record, chat)
      : await startSession(context, ref, chat);
    const [start] = requestEvents;
    if (!start) throw new RequestFault('invalid', 'The idempotency key was used before in this session.');
    return { ref, start, target: followTarget(requestEvents), again: false, history };
  }
}

const digestLabel = (history: string, items: readonly HistoryItem[]) => ({
  [HISTORY]: conversationDigest(items, history),
});

// The effect of a request on its session: a new session, an input, or answers that a turn waits for.

type RequestContext = Pick<DialectContext, 'engine' | 'log'> & { readonly progress: Progress };

/** Creates the session with the imported history, without calling a model. */
async function startSession(
  { engine, progress }: RequestContext,
  ref: SessionRef,
  chat: ChatRequest,
): Promise<DurableEvent[]> {
  const { items, newFrom, agent, key, approvals = [] } = chat;
  if (approvals.length > 0) throw invalidConversation(chat, 'No approval request waits for this answer.');
  const parts = partsOf(chat);
  const history = importable(items.filter((item, at) => at < newFrom || item.type === 'result'));
  const continues = parts.length === 0;
  if (continues && history.length === 0) throw invalidConversation(chat, 'There is no user message.');
  if (history.length > 0 || key !== null || chat.labels) {
    const labels = { ...chat.labels, ...keyLabels({}, chat, 0) };
    const { untrusted } = chat;
    await engine.send(ref, { type: 'session.create', agent, history, untrusted, labels }, callerOf(chat));
  }
  const events = await submit(engine, ref, { chat, parts, continues });
  progress.accepted = true;
  return events;
}

/** In an existing session: results and approvals answer what its turn waits for, messages are an input. */
async function continueSession(
  { engine, log, progress }: RequestContext,
  { ref, labels }: SessionRecord,
  chat: ChatRequest,
): Promise<DurableEvent[]> {
  const now = await engine.snapshot(ref);
  const parts = partsOf(chat);
  const results = resultsOf(chat).filter(({ call }) => now.deferred.some((open) => open.call === call));
  const unanswered = now.deferred.filter(({ call }) => !results.some((result) => result.call === call));
  checkApprovals(chat, now);
  const continues = parts.length === 0 && isInstruction(chat) && now.deferred.length === 0;
  const isAnswer = parts.length === 0 && !continues;
  if (isAnswer) checkResults(chat, results, unanswered);
  const fresh = {
    ...newLabels(labels, chat.labels),
    ...keyLabels(labels, chat, now.seq),
  };
  if (Object.keys(fresh).length > 0)
    await engine.send(ref, { type: 'session.label', labels: fresh }, callerOf(chat));
  const requestEvents: DurableEvent[] = [];
  for (const command of answersOf(chat, isAnswer ? results : [], now)) {
    const { events } = await engine.send(ref, command, callerOf(chat));
    requestEvents.push(...events);
    progress.accepted = true;
  }
  if (isAnswer) return requestEvents;
  // A message closes the calls that wait for an answer; results in the same request are stored first.
  const mode = waitsForCaller(now, chat) ? 'supersede' : 'queue';
  const events = await submit(engine, ref, { chat, parts, mode, continues, results });
  progress.accepted = true;
  const accepted = events.find((event) => event.type === 'input.accepted');
  if (accepted && mode === 'queue') await closeCallsBefore({ engine, log }, { ref, chat, accepted });
  return mode === 'supersede' ? events : [...requestEvents, ...events];
}

/** The request has only instructions for the model. */
const isInstruction = ({ items, newFrom }: ChatRequest): boolean =>
  items.slice(newFrom).every(({ type }) => type === 'system') && newFrom < items.length;

const newLabels = (present: SessionRecord['labels'], given: ChatRequest['labels'] = {}) =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => present[name] !== value));

type Answer = Extract<Parameters<Engine['send']>[1], { type: 'call.answer' | 'approval.answer' }>;

/** The last answer carries the terms of the request, because the turn continues with it. */
function answersOf(chat: ChatRequest, results: readonly Result[], now: SessionSnapshot): Answer[] {
  const attributes = chat.data;
  const terms = isSame(chat.terms, now.terms) ? undefined : chat.terms;
  const answers: Answer[] = [
    ...results.map(({ call, parts, failed }) => ({
      type: 'call.answer' as const,
      call,
      parts,
      ...(failed && { failed }),
      attributes,
    })),
    ...(chat.approvals ?? []).map(({ approval, approve, reason }) => ({
      type: 'approval.answer' as const,
      approval,
      answer: approve ? ('once' as const) : ('deny' as const),
      reason,
      attributes,
    })),
  ];
  const { before, after } = systemOf(chat) ?? {};
  const system = [before, after].filter(Boolean).join('\n\n');
  return answers.map((answer, at) =>
    at === answers.length - 1
      ? { ...answer, terms, ...(answer.type === 'call.answer' && system !== '' && { system }) }
      : answer,
  );
}

const isSame = (terms: TurnOptions, present: TurnOptions | null): boolean =>
  JSON.stringify(turnOptionsOf(terms)) === JSON.stringify(present && turnOptionsOf(present));

async function submit(
  engine: Pick<Engine, 'send'>,
  ref: SessionRef,
  {
    chat,
    results = [],
    ...input
  }: {
    readonly chat: ChatRequest;
    readonly parts: ReturnType<typeof partsOf>;
    readonly mode?: 'queue' | 'supersede';
    readonly continues?: boolean;
    readonly results?: readonly Result[];
  },
): Promise<DurableEvent[]> {
  const { agent, terms, data } = chat;
  const answered = results.map(({ call, parts, failed }) => ({ call, parts, failed }));
  const command = {
    type: 'input.submit',
    answers: true,
    ...input,
    ...(answered.length > 0 && { results: answered }),
    system: systemOf(chat),
    agent,
    answeredBy: agent,
    data,
    ...terms,
  } as const;
  const { events } = await engine.send(ref, command, callerOf(chat)).catch((thrown: unknown) => {
    throw thrown instanceof Fault && thrown.code === 'empty'
      ? invalidConversation(chat, thrown.message)
      : thrown;
  });
  const isAnswered = (id: CallId) => results.some(({ call }) => call === id);
  return events.filter(
    (event) => event.type === 'input.accepted' || (event.type === 'tool.ended' && isAnswered(event.call)),
  );
}

function checkResults(
  chat: ChatRequest,
  results: readonly Result[],
  unanswered: SessionSnapshot['deferred'],
): void {
  const missing = unanswered.map(({ call }) => call).join(', ');
  if (missing !== '') throw invalidConversation(chat, `Each call needs a result. Missing: ${missing}`);
  if (results.length === 0 && !chat.approvals?.length)
    throw invalidConversation(chat, 'No call waits for these results.');
}

/** Validates before anything is answered. The core also refuses answers that come too late. */
function checkApprovals(chat: ChatRequest, { approvals }: SessionSnapshot): void {
  const late = chat.approvals?.find(
    ({ approval }) => !approvals.some((waiting) => waiting.approval === approval),
  );
  if (late)
    throw invalidConversation(
      chat,
      `The approval request ${late.approval} is unknown or has already been answered.`,
    );
}

// Messages that are queued behind a running turn.

type Queued = {
  readonly ref: SessionRef;
  readonly chat: ChatRequest;
  readonly accepted: DurableEvent<'input.accepted'>;
};

/**
 * Cancels a turn before the queued message as soon as it waits for its caller: the message closes the open calls,
 * as a message does that arrives later. Watches the session until the message is processed or withdrawn.
 */
async function closeCallsBefore(
  { engine, log }: Pick<DialectContext, 'engine' | 'log'>,
  { ref, chat, accepted }: Queued,
): Promise<void> {
  const { principal, dialect } = chat;
  let watch: Watch | null = null;
  let isOver = false;
  const cancelWaiting = ({ turn, ...now }: SessionSnapshot) => {
    if (turn === null || !waitsForCaller(now, chat)) return;
    void cancelTurn({ engine, log }, ref, { principal, dialect }, turn);
  };
  const take = (event: SessionEvent) => {
    isOver ||= isLastOf(accepted, event);
    if (isOver) watch?.stop();
    else if (watch && asksCaller(event)) cancelWaiting(watch.snapshot());
  };
  const begin = (begun: Watch) => {
    watch = begun;
    if (isOver) begun.stop();
    else cancelWaiting(begun.snapshot());
  };
  await engine.watch(ref, take, { after: accepted.seq, begin });
}

/** Callers of some endpoints cannot answer approvals: their messages wait until somebody else has. */
const waitsForCaller = (
  { deferred, approvals }: Pick<SessionSnapshot, 'deferred' | 'approvals'>,
  chat: ChatRequest,
): boolean =>
  deferred.length > 0 ||
  (chat.approvals !== undefined &&
    approvals.some(({ approval }) => !chat.approvals?.some((answer) => answer.approval === approval)));

const asksCaller = ({ type }: SessionEvent): boolean =>
  type === 'call.deferred' || type === 'approval.requested';

/** Whether the message is processed from now on, or never. */
const isLastOf = ({ input }: { readonly input: string }, event: SessionEvent): boolean =>
  event.type === 'session.erased' ||
  ((event.type === 'turn.started' || event.type === 'input.joined' || event.type === 'input.cancelled') &&
    event.input === input);
