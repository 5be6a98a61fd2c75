/**
 * One call is one step of a task: the client reports the last action and receives the next one. A task is a
 * turn. Clients change their session and lose the id of their task, so both are looked up.
 */
import { lastPage, type Page } from '@parlance/copilot';
import { asFault, Fault, type FaultCode, type Principal, type TurnId, textPart } from '@parlance/protocol';
import { answerInText, type SessionRef, type SessionSnapshot, sessionKey } from '../../core/api/index.ts';
import { KeyedQueue } from '../shared/keyed-queue.ts';
import type { ProjectedSession } from '../shared/subscription-hub.ts';
import { pageResult, reportedAction } from './action-report.ts';
import { activeTask } from './active-task.ts';
import type { Context } from './context.ts';
import type { State } from './projection.ts';
import { isSame, isShown, type PendingReply, type Question, questionOf } from './question.ts';
import type { InteractRequest } from './request.ts';
import { pageData, pageOf, pageParts } from './request-page.ts';
import { rootDomain } from './root-domain.ts';
import { type Task, taskView } from './task.ts';
import { finishedIn, overTask, withApproval } from './task-outcome.ts';

const PAGE = 1_000;
const MAX_WAITING = 20;

const labelOf = (url: string): string => url.slice(0, 2_000);

/** Empty if the client does not name the tab. */
const tabOf = ({ tabId }: InteractRequest): string =>
  typeof tabId === 'string' || typeof tabId === 'number' ? String(tabId).slice(0, 100) : '';

export type Interaction = {
  readonly sessionId: string;
  readonly ref: SessionRef;
  readonly task: Task;
  readonly page: Page | null;
};

/** The context of one call. */
type Call = {
  readonly ref: SessionRef;
  readonly request: InteractRequest;
  readonly page: Page | null;
  readonly caller: { readonly principal: Principal; readonly dialect: 'copilot'; readonly key?: string };
  /** the session during the call */
  readonly projected: ProjectedSession<State>;
};

export function interactions(ctx: Context) {
  const { engine } = ctx;
  const replies = new KeyedQueue();
  const unanswered = new Set<PendingReply>();

  /**
   * `key` is the idempotency key of a call that starts a task: repeating the call does not start another task.
   */
  return async function interact(
    request: InteractRequest,
    principal: Principal,
    key?: string,
  ): Promise<Interaction> {
    const earlier = [...unanswered];
    const named = (request.taskId ?? null) as TurnId | null;
    const { ref, began } = await routeOf(request, principal, named);
    // The user can only have seen a question that is pending now: this call does not answer a question that is
    // asked while it waits.
    const arrival = await engine.snapshot(ref);
    const begun = named === null && key !== undefined ? await taskBegunWith(key, arrival) : null;
    const known = named ?? begun;
    await ctx.follow(ref);
    // A reply that arrived earlier is processed before its task can be superseded.
    if (!known) await replies.settled(sessionKey(ref));
    const now = known ? arrival : await engine.snapshot(ref);
    if (known && now.turn !== known) {
      const over = finishedIn(now, known) ?? (began || begun ? { ok: true } : null);
      return { sessionId: ref.id, ref, page: null, task: overTask(known, over) };
    }

    const projected = await ctx.hub.observe(ref);
    try {
      const caller = { principal, dialect: 'copilot', key } as const;
      const call: Call = { ref, request, page: pageOf(request), caller, projected };
      if (begun) return await answered(call, begun);
      const question = questionOf(arrival);
      const replied = question && isShown(question, ref, earlier) ? await reply(call, question) : null;
      if (replied) return replied;
      const same = known !== null || (await hasNewPage(call, now));
      const task = same && !question ? await continueTask(call, now) : await begin(call, now);
      return await answered(call, task);
    } finally {
      projected.end();
    }
  };

  /**
   * A task is found by its id alone, but only by its owner; `began` is true if it was found. Throws `forbidden`
   * for a session of another user.
   */
  async function routeOf(
    request: InteractRequest,
    principal: Principal,
    known: TurnId | null,
  ): Promise<{ ref: SessionRef; began: boolean }> {
    const repeated = await repeatedIn(request, principal);
    if (repeated) return { ref: repeated, began: false };
    const sessionId = request.sessionId ?? ctx.newId();
    if (await engine.foreign(principal, sessionId))
      throw new Fault('forbidden', 'The session belongs to another user.');
    const place = known && (await engine.lookup(principal, { kind: 'turn', id: known }));
    if (place?.owner === principal.id) return { ref: place, began: true };
    return { ref: await engine.resolve(principal, sessionId), began: false };
  }

  /** The task that a recent call with this key started. */
  async function taskBegunWith(key: string, { ref, seq }: SessionSnapshot): Promise<TurnId | null> {
    const recent = await engine.events(ref, Math.max(0, seq - PAGE), PAGE);
    const accepted = recent.find((event) => event.type === 'input.accepted' && event.key === key);
    const input = accepted?.type === 'input.accepted' ? accepted.input : null;
    const started = recent.find((event) => event.type === 'turn.started' && event.input === input);
    return started?.type === 'turn.started' ? started.turn : null;
  }

  /** Starts a task, which replaces the current one. */
  async function begin(call: Call, now: SessionSnapshot): Promise<TurnId> {
    const { ref, request, page, caller } = call;
    await name(call, now);
    const { events } = await engine.send(
      ref,
      {
        type: 'input.submit',
        parts: [textPart(request.query), ...pageParts(page)],
        data: pageData(page),
        mode: 'supersede',
        answeredBy: 'copilot',
      },
      caller,
    );
    const started = events.findLast((event) => event.type === 'turn.started');
    if (!started) throw new Fault('busy', 'The session is busy.');
    return started.turn;
  }

  /** Names the session after the site and its first query, unless a user has chosen a name. */
  async function name({ ref, request, caller }: Call, now: SessionSnapshot): Promise<void> {
    const domain = request.url ? rootDomain(request.url) : (now.labels.domain ?? '');
    const title = `${domain ? `${domain}: ` : ''}${request.query}`.trim().slice(0, 500);
    const tab = tabOf(request);
    const labels = request.url
      ? { url: labelOf(request.url), domain, ...(tab !== '' && { tab }) }
      : undefined;
    if (!now.created) {
      await engine.send(ref, { type: 'session.create', title, automatic: true, labels }, caller);
      return;
    }
    if (now.firstInput !== '' || now.renamed) return;
    await engine.send(ref, { type: 'session.rename', title, automatic: true }, caller);
    if (labels && !now.labels.url) await engine.send(ref, { type: 'session.label', labels }, caller);
  }

  /**
   * Uses the query as the answer to the task's question. Concurrent replies are processed in order, so that the
   * first is answered before the next is considered. Null if the question was already answered.
   */
  async function reply(call: Call, question: Question): Promise<Interaction | null> {
    const session = sessionKey(call.ref);
    const pending = { session, question };
    unanswered.add(pending);
    try {
      return await replies.run(session, async () => {
        const now = await engine.snapshot(call.ref);
        if (!isSame(question, questionOf(now)) || !now.turn) return null;
        const taken = await unless(['not_found', 'no_approval'], () => sendReply(call, question));
        return taken ? await answered(call, now.turn) : null;
      });
    } finally {
      unanswered.delete(pending);
    }
  }

  async function sendReply({ ref, request, page, caller }: Call, question: Question): Promise<void> {
    const { query } = request;
    if (question.kind === 'approval') {
      const answer = answerInText(query);
      // Anything but yes or no is not an answer: the question is repeated.
      if (!answer) return;
      const { approval } = question;
      await engine.send(ref, { type: 'approval.answer', approval, answer, said: query.trim() }, caller);
      return;
    }
    const parts = [textPart(query), ...pageParts(page)];
    const untrusted = page !== null;
    await engine.send(
      ref,
      { type: 'call.answer', call: question.call, parts, data: pageData(page), untrusted, said: query },
      caller,
    );
  }

  /**
   * A client that was asked for the whole page may repeat its first call, without the task id that it was
   * given.
   */
  async function hasNewPage({ ref, request }: Call, now: SessionSnapshot): Promise<boolean> {
    return request.dom !== undefined && (await waitsForPage(request, now, ref));
  }

  /** The task of the session was asked for the whole page, and has the query of this call. */
  async function waitsForPage(
    { query }: InteractRequest,
    { deferred: [deferred] }: SessionSnapshot,
    ref: SessionRef,
  ): Promise<boolean> {
    return deferred?.tool === 'browser_read' && (await activeTask(ctx.hub, ref))?.query === query;
  }

  /** The session of a first call that the client repeats with the whole page, and without any id. */
  async function repeatedIn(request: InteractRequest, principal: Principal): Promise<SessionRef | null> {
    const { dom, url, sessionId, taskId } = request;
    if (dom === undefined || url === undefined || sessionId || taskId) return null;
    // Listed with the role of a user: an admin's list would include all users.
    const { sessions } = await engine.list(
      { ...principal, role: 'user' },
      { status: ['waiting'], label: { name: 'url', value: labelOf(url) }, limit: MAX_WAITING },
    );
    for (const { ref, labels } of sessions) {
      if ((labels.tab ?? '') !== tabOf(request)) continue;
      if (await waitsForPage(request, await engine.snapshot(ref), ref)) return ref;
    }
    return null;
  }

  /** The report is about an earlier action: it was processed before, and its response was lost. */
  function isTaken({ request: { actionCount }, projected }: Call, turn: TurnId): boolean {
    if (actionCount === undefined || actionCount === null) return false;
    return projected.state().tasks.tasks.get(turn)?.actionCount !== actionCount;
  }

  /** Processes the client's report about its action, or the page that it was asked for. */
  async function continueTask(call: Call, now: SessionSnapshot): Promise<TurnId> {
    const { ref, request, page, caller } = call;
    const { turn, began } = now;
    const [deferred] = now.deferred;
    if (!turn || began === null) throw new Fault('no_turn', 'The task is over.');
    if (deferred && !isTaken(call, turn)) {
      const before = lastPage(await engine.events(ref, Math.max(0, began - 2), PAGE));
      const report =
        deferred.tool === 'browser_read'
          ? pageResult(page, before)
          : reportedAction(deferred.input, request, { before, page });
      // Another device may have reported already: this call then only returns the state of the task.
      await unless(['not_found'], () =>
        engine.send(ref, { type: 'call.answer', call: deferred.call, ...report, untrusted: true }, caller),
      );
    }
    return turn;
  }

  /** The task once the session is idle. The projection keeps superseded tasks for a while. */
  async function answered({ ref, page, projected }: Call, taskId: TurnId): Promise<Interaction> {
    await engine.whenIdle(ref);
    const snapshot = projected.snapshot();
    const state = projected.state().tasks.tasks.get(taskId);
    const task = state
      ? withApproval(taskView(state), snapshot)
      : overTask(taskId, finishedIn(snapshot, taskId));
    return { sessionId: ref.id, ref, page, task };
  }
}

/** Runs the work; false if it failed with one of these codes. */
async function unless(codes: readonly FaultCode[], work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (codes.includes(asFault(thrown).code)) return false;
    throw thrown;
  }
}
