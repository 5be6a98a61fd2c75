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
} from '../../../core/index.ts';
import type { DialectContext } from '../dialect.ts';
import { KeyedQueue } from '../keyed-queue.ts';

import { conversationDigest } from './digest.ts';
import { importable } from './history.ts';
import {
  type Accepted,
  callerOf,
  invalidConversation,
  type Progress,
  partsOf,
  type Question,
  type Result,
  resultsOf,
  type StartedExchange,
  systemOf,
} from './question.ts';
import { Reading } from './reading.ts';
import { RequestFault } from './request-fault.ts';
import { type EarlierRequest, earlierRequest, followTarget, KEY, keyLabels } from './request-keys.ts';

export type { Accepted, Progress, Question, StartedExchange } from './question.ts';

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
  begin(question: Question, progress: Progress): Promise<StartedExchange> {
    const { engine } = this.ctx;
    return this.#inOrder(question, progress, async (target) => {
      const { ref, earlier } = target;
      const reading = await Reading.open(engine, ref, { after: earlier?.after ?? 'now' });
      try {
        return { ...(await this.#accept(question, progress, target)), reading };
      } catch (thrown) {
        reading.stop();
        throw thrown;
      }
    });
  }

  /** Applies the request. The answer can be read from the first event that it caused. */
  accept(question: Question, progress: Progress): Promise<Accepted> {
    return this.#inOrder(question, progress, (target) => this.#accept(question, progress, target));
  }

  /**
   * Stores the digest of the conversation with this answer, so that the next request with that history
   * continues the session.
   */
  async remember(
    { ref, history }: Accepted,
    question: Question,
    answer: readonly HistoryItem[],
  ): Promise<void> {
    if (history === null) return;
    const { items, newFrom, principal, dialect } = question;
    const labels = { [HISTORY]: conversationDigest([...items.slice(newFrom), ...answer], history) };
    await this.ctx.engine.send(ref, { type: 'session.label', labels }, { principal, dialect });
  }

  /** Runs requests about the same conversation one after another. */
  #inOrder<Result>(
    question: Question,
    progress: Progress,
    work: (target: Target) => Promise<Result>,
  ): Promise<Result> {
    const { principal, session, key, items, newFrom, approvals = [] } = question;
    if (newFrom >= items.length && approvals.length === 0)
      throw invalidConversation(question, 'There is no new message of the user or a tool.');
    const history = conversationDigest(items.slice(0, newFrom));
    const about = session ?? key ?? (newFrom > 0 ? history : this.ctx.newId());
    return this.#queue.run(`${principal.id} ${about}`, async () => {
      const target = await this.#target(question, history);
      progress.session = target.ref.id;
      return work(target);
    });
  }

  async #target(question: Question, history: string): Promise<Target> {
    const { principal, session } = question;
    const { engine, newId } = this.ctx;
    const record = await this.#find(question, history);
    const earlier = record && (await earlierRequest(engine, record, question));
    const ref = record?.ref ?? (await engine.resolve(principal, session ?? newId()));
    // A request that names its session may have only a part of the history.
    const known = session === null || !record ? history : (record.labels[HISTORY] ?? null);
    return { ref, record, earlier, history: known };
  }

  async #find(question: Question, history: string): Promise<SessionRecord | null> {
    const { principal, session, key, newFrom, branches } = question;
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
  async #checkLinks(question: Question, ref: SessionRef): Promise<void> {
    const input = { parts: partsOf(question), agent: question.agent };
    await this.ctx.engine.checkLinks(ref, input).catch((thrown: unknown) => {
      throw thrown instanceof Fault && thrown.code === 'invalid'
        ? invalidConversation(question, thrown.message)
        : thrown;
    });
  }

  async #accept(question: Question, progress: Progress, target: Target): Promise<Accepted> {
    const { ref, record, earlier, history } = target;
    if (earlier) {
      progress.accepted = true;
      return { ref, start: earlier.start, target: earlier.target, again: true, history };
    }
    await this.#checkLinks(question, ref);
    const context = { ...this.ctx, progress };
    const requestEvents = record
      ? await continueSession(context, record, question)
      : await startSession(context, ref, question);
    const [start] = requestEvents;
    if (!start) throw new RequestFault('invalid', 'The idempotency key was used before in this session.');
    return { ref, start, target: followTarget(requestEvents), again: false, history };
  }
}

// The effect of a request on its session: a new session, an input, or answers that a turn waits for.

type RequestContext = Pick<DialectContext, 'engine' | 'log'> & { readonly progress: Progress };

/** Creates the session with the imported history, without calling a model. */
async function startSession(
  { engine, progress }: RequestContext,
  ref: SessionRef,
  question: Question,
): Promise<DurableEvent[]> {
  const { items, newFrom, agent, key, approvals = [] } = question;
  if (approvals.length > 0) throw invalidConversation(question, 'No approval request waits for this answer.');
  const parts = partsOf(question);
  const history = importable(items.filter((item, at) => at < newFrom || item.type === 'result'));
  const continues = parts.length === 0;
  if (continues && history.length === 0) throw invalidConversation(question, 'There is no user message.');
  if (history.length > 0 || key !== null || question.labels) {
    const labels = { ...question.labels, ...keyLabels({}, question, 0) };
    const { untrusted } = question;
    await engine.send(ref, { type: 'session.create', agent, history, untrusted, labels }, callerOf(question));
  }
  const events = await submit(engine, ref, { question, parts, continues });
  progress.accepted = true;
  return events;
}

/** In an existing session: results and approvals answer what its turn waits for, messages are an input. */
async function continueSession(
  { engine, log, progress }: RequestContext,
  { ref, labels }: SessionRecord,
  question: Question,
): Promise<DurableEvent[]> {
  const now = await engine.snapshot(ref);
  const parts = partsOf(question);
  const results = resultsOf(question).filter(({ call }) => now.deferred.some((open) => open.call === call));
  const unanswered = now.deferred.filter(({ call }) => !results.some((result) => result.call === call));
  checkApprovals(question, now);
  const continues = parts.length === 0 && isInstruction(question) && now.deferred.length === 0;
  const isAnswer = parts.length === 0 && !continues;
  if (isAnswer) checkResults(question, results, unanswered);
  const fresh = {
    ...newLabels(labels, question.labels),
    ...keyLabels(labels, question, now.seq),
  };
  if (Object.keys(fresh).length > 0)
    await engine.send(ref, { type: 'session.label', labels: fresh }, callerOf(question));
  const requestEvents: DurableEvent[] = [];
  for (const command of answersOf(question, isAnswer ? results : [], now)) {
    const { events } = await engine.send(ref, command, callerOf(question));
    requestEvents.push(...events);
    progress.accepted = true;
  }
  if (isAnswer) return requestEvents;
  // A message closes the calls that wait for an answer; results in the same request are stored first.
  const mode = waitsForCaller(now, question) ? 'supersede' : 'queue';
  const events = await submit(engine, ref, { question, parts, mode, continues, results });
  progress.accepted = true;
  const accepted = events.find((event) => event.type === 'input.accepted');
  if (accepted && mode === 'queue') await closeCallsBefore({ engine, log }, { ref, question, accepted });
  return mode === 'supersede' ? events : [...requestEvents, ...events];
}

/** The request has only instructions for the model. */
const isInstruction = ({ items, newFrom }: Question): boolean =>
  items.slice(newFrom).every(({ type }) => type === 'system') && newFrom < items.length;

const newLabels = (present: SessionRecord['labels'], given: Question['labels'] = {}) =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => present[name] !== value));

type Answer = Extract<Parameters<Engine['send']>[1], { type: 'call.answer' | 'approval.answer' }>;

/** The last answer carries the terms of the request, because the turn continues with it. */
function answersOf(question: Question, results: readonly Result[], now: SessionSnapshot): Answer[] {
  const attributes = question.data;
  const terms = isSame(question.terms, now.terms) ? undefined : question.terms;
  const answers: Answer[] = [
    ...results.map(({ call, parts, failed }) => ({
      type: 'call.answer' as const,
      call,
      parts,
      ...(failed && { failed }),
      attributes,
    })),
    ...(question.approvals ?? []).map(({ approval, approve, reason }) => ({
      type: 'approval.answer' as const,
      approval,
      answer: approve ? ('once' as const) : ('deny' as const),
      reason,
      attributes,
    })),
  ];
  const { before, after } = systemOf(question) ?? {};
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
    question,
    results = [],
    ...input
  }: {
    readonly question: Question;
    readonly parts: ReturnType<typeof partsOf>;
    readonly mode?: 'queue' | 'supersede';
    readonly continues?: boolean;
    readonly results?: readonly Result[];
  },
): Promise<DurableEvent[]> {
  const { agent, terms, data } = question;
  const answered = results.map(({ call, parts, failed }) => ({ call, parts, failed }));
  const command = {
    type: 'input.submit',
    ...input,
    ...(answered.length > 0 && { results: answered }),
    system: systemOf(question),
    agent,
    answeredBy: agent,
    data,
    ...terms,
  } as const;
  const { events } = await engine.send(ref, command, callerOf(question)).catch((thrown: unknown) => {
    throw thrown instanceof Fault && thrown.code === 'empty'
      ? invalidConversation(question, thrown.message)
      : thrown;
  });
  const isAnswered = (id: CallId) => results.some(({ call }) => call === id);
  return events.filter(
    (event) => event.type === 'input.accepted' || (event.type === 'tool.ended' && isAnswered(event.call)),
  );
}

function checkResults(
  question: Question,
  results: readonly Result[],
  unanswered: SessionSnapshot['deferred'],
): void {
  const missing = unanswered.map(({ call }) => call).join(', ');
  if (missing !== '') throw invalidConversation(question, `Each call needs a result. Missing: ${missing}`);
  if (results.length === 0 && !question.approvals?.length)
    throw invalidConversation(question, 'No call waits for these results.');
}

/** Validates before anything is answered. The core also refuses answers that come too late. */
function checkApprovals(question: Question, { approvals }: SessionSnapshot): void {
  const late = question.approvals?.find(
    ({ approval }) => !approvals.some((waiting) => waiting.approval === approval),
  );
  if (late)
    throw invalidConversation(
      question,
      `The approval request ${late.approval} is unknown or has already been answered.`,
    );
}

// Messages that are queued behind a running turn.

type Queued = {
  readonly ref: SessionRef;
  readonly question: Question;
  readonly accepted: DurableEvent<'input.accepted'>;
};

/**
 * Cancels a turn before the queued message as soon as it waits for its caller: the message closes the open calls,
 * as a message does that arrives later. Watches the session until the message is processed or withdrawn.
 */
async function closeCallsBefore(
  { engine, log }: Pick<DialectContext, 'engine' | 'log'>,
  { ref, question, accepted }: Queued,
): Promise<void> {
  const { principal, dialect } = question;
  let watch: Watch | null = null;
  let isOver = false;
  const cancelWaiting = ({ turn, ...now }: SessionSnapshot) => {
    if (turn === null || !waitsForCaller(now, question)) return;
    engine.send(ref, { type: 'turn.cancel', turn }, { principal, dialect }).catch((thrown: unknown) => {
      // A fault: the turn has ended in the meantime.
      if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
    });
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
  question: Question,
): boolean =>
  deferred.length > 0 ||
  (question.approvals !== undefined &&
    approvals.some(({ approval }) => !question.approvals?.some((answer) => answer.approval === approval)));

const asksCaller = ({ type }: SessionEvent): boolean =>
  type === 'call.deferred' || type === 'approval.requested';

/** Whether the message is processed from now on, or never. */
const isLastOf = ({ input }: { readonly input: string }, event: SessionEvent): boolean =>
  event.type === 'session.erased' ||
  ((event.type === 'turn.started' || event.type === 'input.cancelled') && event.input === input);
