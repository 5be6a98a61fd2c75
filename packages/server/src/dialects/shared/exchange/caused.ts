/** What a request causes: a new session, an input, or answers to what a turn waits for. */
import { type DurableEvent, type TurnTerms, turnTermsOf } from '@parlance/protocol';
import type { Engine, SessionRecord, SessionRef, SessionSnapshot } from '../../../core/api/index.ts';
import { importable } from './history.ts';
import {
  callerOf,
  misfit,
  type Progress,
  partsOf,
  type Question,
  type Result,
  resultsOf,
} from './question.ts';
import { keyLabels } from './request-keys.ts';

type Asking = { readonly engine: Pick<Engine, 'send' | 'snapshot'>; readonly progress: Progress };

/** A new session: it begins with the history, without asking a model. */
export async function startSession(
  { engine, progress }: Asking,
  ref: SessionRef,
  question: Question,
): Promise<DurableEvent[]> {
  const { items, newFrom, agent, key } = question;
  const parts = partsOf(question);
  const history = importable(items.filter((item, at) => at < newFrom || item.type === 'result'));
  const continues = parts.length === 0;
  if (continues && history.length === 0) throw misfit(question, 'There is no message of the user.');
  if (history.length > 0 || key !== null) {
    const labels = key === null ? undefined : keyLabels({}, key, 0);
    await engine.send(ref, { type: 'session.create', agent, history, labels }, callerOf(question));
  }
  const events = await submit(engine, ref, { question, parts, continues });
  progress.accepted = true;
  return events;
}

/** A session that exists: results and approvals answer what its turn waits for, messages are an input. */
export async function continueSession(
  { engine, progress }: Asking,
  { ref, labels }: SessionRecord,
  question: Question,
): Promise<DurableEvent[]> {
  const { key, approvals } = question;
  const now = await engine.snapshot(ref);
  const parts = partsOf(question);
  const results = resultsOf(question).filter(({ call }) => now.deferred.some((open) => open.call === call));
  const unanswered = now.deferred.filter(({ call }) => !results.some((result) => result.call === call));
  checkApprovals(question, now);
  if (parts.length === 0) checkResults(question, results, unanswered);
  if (key !== null) {
    const command = { type: 'session.label', labels: keyLabels(labels, key, now.seq) } as const;
    await engine.send(ref, command, callerOf(question));
  }
  const caused: DurableEvent[] = [];
  for (const command of answersOf(question, results, now)) {
    const { events } = await engine.send(ref, command, callerOf(question));
    caused.push(...events);
    progress.accepted = true;
  }
  if (parts.length === 0) return caused;
  // A message instead of an answer closes the calls that wait for one.
  const asks = approvals !== undefined && now.approvals.length > approvals.length;
  const mode = unanswered.length > 0 || asks ? 'supersede' : 'queue';
  const events = await submit(engine, ref, { question, parts, mode });
  progress.accepted = true;
  return mode === 'supersede' ? events : [...caused, ...events];
}

type Answer = Extract<Parameters<Engine['send']>[1], { type: 'call.answer' | 'approval.answer' }>;

/** The last one brings the terms of the request: the turn continues with it. */
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
  return answers.map((answer, at) => (at === answers.length - 1 ? { ...answer, terms } : answer));
}

const isSame = (terms: TurnTerms, present: TurnTerms | null): boolean =>
  JSON.stringify(turnTermsOf(terms)) === JSON.stringify(present && turnTermsOf(present));

async function submit(
  engine: Pick<Engine, 'send'>,
  ref: SessionRef,
  {
    question,
    ...input
  }: {
    readonly question: Question;
    readonly parts: ReturnType<typeof partsOf>;
    readonly mode?: 'queue' | 'supersede';
    readonly continues?: boolean;
  },
): Promise<DurableEvent[]> {
  const { agent, terms, data } = question;
  const command = { type: 'input.submit', ...input, agent, answeredBy: agent, data, ...terms } as const;
  const { events } = await engine.send(ref, command, callerOf(question));
  return events.filter(({ type }) => type === 'input.accepted');
}

function checkResults(
  question: Question,
  results: readonly Result[],
  unanswered: SessionSnapshot['deferred'],
): void {
  const missing = unanswered.map(({ call }) => call).join(', ');
  if (missing !== '') throw misfit(question, `Each call needs a result. Missing: ${missing}`);
  if (results.length === 0 && !question.approvals?.length)
    throw misfit(question, 'No call waits for these results.');
}

/** Checked before anything is answered. The core refuses an answer that comes too late all the same. */
function checkApprovals(question: Question, { approvals }: SessionSnapshot): void {
  const late = question.approvals?.find(
    ({ approval }) => !approvals.some((waiting) => waiting.approval === approval),
  );
  if (late)
    throw misfit(question, `The approval request ${late.approval} is unknown or was answered already.`);
}
