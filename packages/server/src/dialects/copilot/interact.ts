/** One call is one step of a task: what the client reports goes in, and the next action comes out. */
import {
  type Fact,
  Fault,
  isObject,
  type JsonObject,
  type Part,
  type Principal,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import { sendWritten } from '../../copilot/action/print.ts';
import { suggestCorrection } from '../../copilot/correction.ts';
import type { ActionReport } from '../../copilot/evidence.ts';
import { lastPage } from '../../copilot/last-page.ts';
import type { Page } from '../../copilot/page/page.ts';
import { renderPage } from '../../copilot/page/render.ts';
import { understandPage } from '../../copilot/page/understand.ts';
import { verifyAction } from '../../copilot/verify.ts';
import { type Now, type SessionRef, spokenAnswer } from '../../core/engine.ts';
import { waitingWords } from '../approval-words.ts';
import type { Surroundings } from '../dialect.ts';
import type { InteractRequest } from './request.ts';
import { rootDomain } from './root-domain.ts';
import { type Task, taskOf } from './task.ts';

/** How much of the model's context one page may take. */
const PAGE_TOKENS = 6_000;
const MORE_BUTTONS = 100;
const PAGE = 1_000;

export type Interaction = {
  readonly sessionId: string;
  readonly ref: SessionRef;
  readonly task: Task;
  readonly page: Page | null;
};

export async function interact(
  request: InteractRequest,
  principal: Principal,
  around: Surroundings,
): Promise<Interaction> {
  const { engine, newId } = around;
  const sessionId = request.sessionId ?? newId();
  if (await engine.foreign(principal, sessionId))
    throw new Fault('forbidden', 'The session belongs to someone else.');
  const ref = await engine.resolve(principal, sessionId);
  await around.follow(ref);
  const now = await engine.now(ref);
  const known = request.taskId as TurnId | null | undefined;
  if (known && now.turn !== known)
    return {
      sessionId,
      ref,
      page: null,
      task: overTask(
        known,
        now.finished.find(({ turn }) => turn === known),
      ),
    };

  const page = pageOf(request);
  const caller = { principal, dialect: 'copilot' };
  let taskId = known ?? null;
  let began = now.began;
  if (!taskId) {
    if (!now.created) await prepare(ref, request, around, caller);
    const parts = [textPart(request.query), ...(page ? [textPart(renderPage(page))] : [])];
    const data = page ? { page: page as unknown as JsonObject } : undefined;
    const command = { type: 'input.submit', parts, data, mode: 'supersede', answeredBy: 'copilot' } as const;
    const { facts } = await engine.send(ref, command, caller);
    const started = facts.findLast((fact) => fact.type === 'turn.started');
    taskId = started?.turn ?? null;
    began = started?.seq ?? null;
  } else await goOn(ref, now, request, page, around, caller);
  if (!taskId || began === null) throw new Fault('busy', 'The session is busy with something else.');

  await engine.rested(ref);
  const task = taskOf(await factsFrom(ref, began, around), taskId);
  return { sessionId, ref, page, task: withApproval(task, await engine.now(ref)) };
}

type Caller = { readonly principal: Principal; readonly dialect: string };

/** A new session is called after the site and the query. */
async function prepare(
  ref: SessionRef,
  request: InteractRequest,
  { engine }: Surroundings,
  caller: Caller,
): Promise<void> {
  const domain = request.url ? rootDomain(request.url) : '';
  const title = `${domain ? `${domain}: ` : ''}${request.query}`.slice(0, 500);
  const labels = request.url ? { url: request.url.slice(0, 2_000), domain } : undefined;
  await engine.send(ref, { type: 'session.create', title, labels }, caller);
}

/** What the client says of the call it was asked for; an answer to a question is in `query`. */
async function goOn(
  ref: SessionRef,
  now: Now,
  request: InteractRequest,
  page: Page | null,
  { engine }: Surroundings,
  caller: Caller,
): Promise<void> {
  const { deferred, approval } = now;
  const spoken = spokenAnswer(request.query);
  if (approval && spoken) await engine.send(ref, { type: 'approval.answer', answer: spoken }, caller);
  if (!deferred) return;
  const { call } = deferred;
  if (deferred.tool !== 'browser_act') {
    const parts = [textPart(request.query), ...shown(page)];
    const said = request.query;
    await engine.send(
      ref,
      { type: 'call.answer', call, parts, data: pageData(page), untrusted: page !== null, said },
      caller,
    );
    return;
  }
  const report = await reportOf(ref, now, deferred.input, request, page, engine);
  await engine.send(ref, { type: 'call.answer', call, ...report, untrusted: true }, caller);
}

async function reportOf(
  ref: SessionRef,
  now: Now,
  input: JsonObject,
  request: InteractRequest,
  page: Page | null,
  engine: Surroundings['engine'],
): Promise<{ failed: boolean; parts: Part[]; data: JsonObject }> {
  const before = lastPage(await engine.facts(ref, Math.max(0, (now.began ?? 1) - 2), PAGE));
  const action = sendWritten(typeof input.action === 'string' ? input.action : '')?.action;
  const after = page ?? before ?? EMPTY_PAGE;
  const expectedOutcome = isObject(input.expectedOutcome) ? input.expectedOutcome : undefined;
  const verification = action
    ? verifyAction({ action, expectedOutcome }, reportIn(request, after), before, after)
    : { success: false, confidence: 1, reason: 'The action could not be read.' };
  const correction =
    action && !verification.success ? suggestCorrection(action, verification, after, before) : null;
  const words = [
    `The action ${input.action} ${verification.success ? 'worked' : 'did not work'}: ${verification.reason}`,
    ...(request.lastActionError ? [`The browser says: ${request.lastActionError.message}`] : []),
    ...(correction ? [`Suggested: ${correction.strategy} – ${correction.reason}`] : []),
  ];
  return {
    failed: !verification.success,
    parts: [textPart(words.join('\n')), ...shown(page)],
    data: { ...pageData(page), verification, ...(correction ? { correction } : {}) } as JsonObject,
  };
}

/** What the client says, without the nulls with which some fill what they do not know. */
function reportIn(request: InteractRequest, after: Page): ActionReport {
  const { lastActionStatus, lastActionError, lastActionResult, clientVerification, clientObservations } =
    request;
  return {
    lastActionStatus: lastActionStatus ?? undefined,
    lastActionError: lastActionError ?? undefined,
    lastActionResult: lastActionResult ?? undefined,
    clientVerification: clientVerification ?? undefined,
    clientObservations: clientObservations ?? undefined,
    urlChanged: clientVerification?.urlChanged ?? clientObservations?.didUrlChange,
    previousUrl: request.previousUrl ?? undefined,
    url: request.url ?? after.url,
  };
}

const EMPTY_PAGE: Page = { title: '', url: '', elements: [], shown: 0, text: '', truncated: false };
const shown = (page: Page | null): Part[] => (page ? [textPart(renderPage(page))] : []);
const pageData = (page: Page | null): JsonObject | undefined =>
  page ? { page: page as unknown as JsonObject } : undefined;

/** Of a page with thousands of elements, those a model is shown are stored, and some buttons that did not fit. */
function kept(page: Page): Page {
  const more = page.elements.slice(page.shown).filter((element) => element.role === 'button');
  return { ...page, elements: [...page.elements.slice(0, page.shown), ...more.slice(0, MORE_BUTTONS)] };
}

function pageOf(request: InteractRequest): Page | null {
  const { dom, interactiveTree, semanticNodes, skeletonDom, url } = request;
  if (
    dom === undefined &&
    interactiveTree === undefined &&
    semanticNodes === undefined &&
    skeletonDom === undefined
  ) {
    return null;
  }
  const title = request.pageTitle ?? request.title;
  return kept(understandPage({ dom, interactiveTree, semanticNodes, skeletonDom, url, title }, PAGE_TOKENS));
}

async function factsFrom(ref: SessionRef, began: number, { engine }: Surroundings): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (let after = began - 1; ; ) {
    const page = await engine.facts(ref, after, PAGE);
    facts.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return facts;
    after = last.seq;
  }
}

/** A call that waits for a person is a question to the user. */
function withApproval(task: Task, { approval, turn }: Now): Task {
  if (!approval || turn !== task.taskId) return task;
  const userQuestion = waitingWords(approval.ask);
  const question = { userQuestion, missingInformation: ['approval'], reasoning: approval.ask.description };
  return { ...task, status: 'needs_user_input', thought: userQuestion, question };
}

/** A task that is over, or that we never knew: clients stop on it, and do not back off as they would on a 404. */
function overTask(taskId: TurnId, over: Now['finished'][number] | undefined): Task {
  const thought = over
    ? `This task is finished already${over.ok ? '' : ': it failed'}.`
    : 'There is no such task.';
  return { ...taskOf([], taskId), status: over?.ok ? 'completed' : 'failed', thought, action: 'finish()' };
}
