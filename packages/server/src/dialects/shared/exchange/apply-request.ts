/** The effect of a request on its session: a new session, an input, or answers that a turn waits for. */
import { type CallId, type DurableEvent, Fault, type TurnTerms, turnTermsOf } from '@parlance/protocol';
import type { Engine, SessionRecord, SessionRef, SessionSnapshot } from '../../../core/api/index.ts';
import type { DialectContext } from '../dialect.ts';
import { importable } from './history.ts';
import {
  callerOf,
  invalidConversation,
  type Progress,
  partsOf,
  type Question,
  type Result,
  resultsOf,
  systemOf,
} from './question.ts';
import { closeCallsBefore, waitsForCaller } from './queued-message.ts';
import { keyLabels } from './request-keys.ts';

type RequestContext = Pick<DialectContext, 'engine' | 'log'> & { readonly progress: Progress };

/** Creates the session with the imported history, without calling a model. */
export async function startSession(
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
export async function continueSession(
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

const isSame = (terms: TurnTerms, present: TurnTerms | null): boolean =>
  JSON.stringify(turnTermsOf(terms)) === JSON.stringify(present && turnTermsOf(present));

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
