/**
 * One call is one step of a task: the client reports the last action and receives the next one. A task is a
 * turn. Clients change their session and lose the id of their task, so both are looked up.
 */
import {
  type Action,
  type ActionReport,
  lastPage,
  type Page,
  parseAction,
  parsePage,
  renderPage,
  renderReturned,
  sendWritten,
  suggestCorrection,
  verifyAction,
} from '@parlance/copilot';
import {
  type ApprovalId,
  asFault,
  type CallId,
  Fault,
  type FaultCode,
  isObject,
  type JsonObject,
  type PagePart,
  type Part,
  type Principal,
  type QuestionId,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import { answerInText, type SessionRef, type SessionSnapshot, sessionKey } from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import type { ExampleIds, RequestExample } from '../kit/description.ts';
import type { ProjectedSession } from '../kit/subscription-hub.ts';
import { waitingText } from '../kit/texts.ts';
import { sessionChannel } from './channel-watch.ts';
import { InteractHeaders, InteractRequest } from './contract.ts';
import { activeTask, type State } from './outbound.ts';
import { type CopilotContext, endpoint, type Interaction } from './rest.ts';
import { rootDomain, siteLabels, urlLabel } from './root-domain.ts';
import { startTask, type Task, taskView } from './task.ts';

export const interactEndpoint = endpoint({
  method: 'post',
  path: '/api/agent/interact',
  summary: 'One step of a task: takes the result of the last action, returns the next action',
  security: 'token',
  examples: (ids) => interactExamples(ids),
  ids: [{ id: 'task', at: 'data.taskId' }],
  foreign: 'forbidden',
  headers: InteractHeaders,
  body: InteractRequest,
  answers: {
    200: { description: 'The next action, or a question to the user', schema: 'InteractResponse' },
  },
  errors: [400, 401, 403, 409],
  parsed: ({ interactBody }) => interactBody,
  async handle({ c, principal, headers, body }, ctx) {
    const began = ctx.now();
    const interaction = await ctx.interact(body, principal, headers['idempotency-key']);
    await publish(ctx, interaction);
    return c.json(interactBody(interaction, ctx.now() - began));
  },
});

// Examples of `/api/agent/interact`.

/** Elements are numbered so that actions can refer to them. */
const SHOP = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

const interactExamples = ({
  session,
  task,
  site,
}: ExampleIds): readonly [RequestExample, ...RequestExample[]] => [
  {
    title: 'Start a task on a page',
    body: { query: QUERY, url: `https://${site}/`, dom: SHOP, sessionId: session },
  },
  {
    title: 'Start a task in a new session',
    first: true,
    creates: true,
    body: { query: QUERY, url: `https://${site}/`, dom: SHOP },
  },
  { title: 'Answer a question: yes or no', body: { query: 'yes', sessionId: session } },
  {
    title: 'Report that the last action succeeded',
    body: { query: QUERY, sessionId: session, taskId: task, lastActionStatus: 'success' },
  },
  {
    title: 'Report everything that a client may report',
    probe: true,
    body: {
      query: 'click the Submit button',
      url: `https://${site}/`,
      dom: '<form><input id="1" name="q"><button id="4">Submit</button></form>',
      sessionId: session,
      interactiveTree: [{ id: 1, role: 'button', name: 'Submit', children: [] }],
      semanticNodes: [{ id: '4', tag: 'button', text: 'Submit' }],
      lastActionStatus: 'success',
      lastActionError: { message: 'no', code: 'E', action: 'click(4)', elementId: 4 },
      clientVerification: { elementFound: true, selector: '#4', urlChanged: false },
    },
  },
];

/** Channels are named by session id only: a session that shares its id with an older one has no channel. */
async function publish({ engine, channels }: CopilotContext, interaction: Interaction): Promise<void> {
  const { ref } = interaction;
  if ((await engine.firstHolder(ref.id))?.owner !== ref.owner) return;
  const push = interactPush(interaction);
  channels.broadcast(sessionChannel(ref.id), push.type, push);
}

// The response to a call of `/api/agent/interact`, and the event for other devices.

/** Deployed clients read some fields from `data` and some from the top level: all are in both. */
function interactBody({ ref: { id: sessionId }, task }: Interaction, requestDuration: number): object {
  if (task.question) return { success: true, data: question(sessionId, task), ...question(sessionId, task) };
  if (task.needsFullDom !== null) {
    const data = wholePage(sessionId, task, task.needsFullDom);
    return { success: true, data, ...data };
  }
  const { plan, verification, correction, expectedOutcome, webSearches, usage, actionCount } = task;
  const data = {
    thought: task.thought,
    action: task.action,
    taskId: task.taskId,
    sessionId,
    status: task.status,
    ...planned(plan),
    usage,
    metrics: { requestDuration, stepIndex: plan?.currentStepIndex ?? 0, actionCount },
    ...(verification ? { verification } : {}),
    ...(correction ? { correction } : {}),
    ...(expectedOutcome ? { expectedOutcome } : {}),
    ...toolAction(task),
    ...(webSearches.length > 0
      ? { webSearchPerformed: true, webSearchSummary: webSearches.join('\n').slice(0, 2_000) }
      : {}),
  };
  return { success: true, data, ...data };
}

const question = (sessionId: string, { taskId, thought, question: asked, plan, webSearches }: Task) => ({
  status: 'needs_user_input',
  thought,
  userQuestion: asked?.userQuestion ?? '',
  missingInformation: asked?.missingInformation ?? [],
  context: { searchPerformed: webSearches.length > 0, reasoning: asked?.reasoning ?? '' },
  taskId,
  sessionId,
  ...planned(plan),
});

/** These clients call again at once, with the whole page as `dom`. */
const wholePage = (sessionId: string, { taskId, thought, plan }: Task, needsFullDomReason: string) => ({
  status: 'needs_full_dom',
  requestedDomMode: 'full',
  needsFullDomReason,
  thought,
  taskId,
  sessionId,
  ...planned(plan),
});

const planned = (plan: Task['plan']) =>
  plan ? { plan, currentStep: plan.currentStepIndex, totalSteps: plan.steps.length } : {};

function toolAction({ action, status }: Task): object {
  const parsed = parseAction(action);
  if (!parsed || status === 'completed' || status === 'failed') return {};
  const { name, ...parameters } = parsed;
  return {
    toolAction: { toolName: name, toolType: 'DOM', parameters },
    // Some clients send a picture only if they are asked in this way.
    ...(name === 'screenshot' && { needsScreenshot: true }),
  };
}

/** Published before the call is answered. */
const interactPush = ({ ref, task }: Interaction) => ({
  type: 'interact_response',
  sessionId: ref.id,
  data: {
    taskId: task.taskId,
    action: task.question || task.needsFullDom !== null ? null : task.action,
    thought: task.thought,
    status: task.status,
    currentStepIndex: task.plan?.currentStepIndex ?? 0,
    verification: task.verification as JsonObject | null,
    correction: task.correction as JsonObject | null,
  },
});

// One call

const PAGE = 1_000;
const MAX_WAITING = 20;

/** Empty if the client does not name the tab. */
const tabOf = ({ tabId }: InteractRequest): string =>
  typeof tabId === 'string' || typeof tabId === 'number' ? String(tabId).slice(0, 100) : '';

/** The context of one call. */
type Call = {
  readonly ref: SessionRef;
  readonly request: InteractRequest;
  readonly page: Page | null;
  readonly caller: { readonly principal: Principal; readonly dialect: 'copilot'; readonly key?: string };
  /** the session during the call */
  readonly projected: ProjectedSession<State>;
};

export function interactions(ctx: CopilotContext) {
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
      return { ref, task: overTask(known, over) };
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
    const labels = request.url ? { ...siteLabels(request.url), ...(tab !== '' && { tab }) } : undefined;
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
    if (question.kind === 'question') {
      await engine.send(ref, { type: 'input.submit', parts: [textPart(query)], answers: true }, caller);
      return;
    }
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
      { status: ['waiting'], label: { name: 'url', value: urlLabel(url) }, limit: MAX_WAITING },
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
  async function answered({ ref, projected }: Call, taskId: TurnId): Promise<Interaction> {
    await engine.whenIdle(ref);
    const snapshot = projected.snapshot();
    const state = projected.state().tasks.tasks.get(taskId);
    const task = state
      ? withApproval(taskView(state), snapshot)
      : overTask(taskId, finishedIn(snapshot, taskId));
    return { ref, task };
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

// The client's report about an action, verified: the outcome of the call that requested the action.

type ReportedResult = { readonly failed: boolean; readonly parts: Part[]; readonly data?: JsonObject };

/** `input` is that of the call, `before` the page it was made for, and `page` the one in the report. */
function reportedAction(
  input: JsonObject,
  request: InteractRequest,
  { before, page }: { before: Page | null; page: Page | null },
): ReportedResult {
  const action = sendWritten(typeof input.action === 'string' ? input.action : '')?.action;
  const after = page ?? before ?? EMPTY_PAGE;
  const expectedOutcome = isObject(input.expectedOutcome) ? input.expectedOutcome : undefined;
  const pages = { before, after };
  const verification = action
    ? verifyAction({ action, expectedOutcome }, reportIn(request, after), pages)
    : { success: false, confidence: 1, reason: 'The action could not be read.' };
  const correction = action && !verification.success ? suggestCorrection(action, verification, pages) : null;
  const words = [
    `The action ${input.action} ${verification.success ? 'worked' : 'did not work'}: ${verification.reason}`,
    ...(request.lastActionError ? [`The browser reports: ${errorText(request.lastActionError)}`] : []),
    ...returned(request.lastActionResult?.actualState),
    ...(correction ? [`Suggested: ${correction.strategy} – ${correction.reason}`] : []),
  ];
  return {
    failed: !verification.success,
    parts: [textPart(words.join('\n')), ...pictureIn(action, request.screenshot), ...pageParts(page)],
    data: { ...pageData(page), verification, ...(correction ? { correction } : {}) } as JsonObject,
  };
}

/** With the code, which tells a model what to try next. */
const errorText = ({ message, code }: NonNullable<InteractRequest['lastActionError']>): string =>
  code ? `${message} (${code})` : message;

const MAX_RESULT_LENGTH = 10_000;

/** The value returned by a reading action such as `getText`. */
const returned = (state: unknown): string[] =>
  state === undefined || state === null ? [] : [renderReturned(state, MAX_RESULT_LENGTH)];

/** The picture of a `screenshot` action, by its signature: PNG or JPEG. */
function pictureIn(action: Action | undefined, data: string | null | undefined): Part[] {
  if ((action?.name !== 'screenshot' && action?.name !== 'numberedScreenshot') || !data) return [];
  const mime = data.startsWith('iVBORw0KGgo') ? 'image/png' : data.startsWith('/9j/') ? 'image/jpeg' : null;
  return mime && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? [{ type: 'image', mime, data }] : [];
}

const EMPTY_PAGE: Page = { title: '', url: '', elements: [], shown: 0, text: '', truncated: false };

/** The report of the client, without the nulls that some clients send for unknown values. */
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

const NO_TEXT =
  'The client cannot send the text of the page. Read elements with getText(number); if you can see images, look at the page with screenshot(). Otherwise tell the user that the text is missing.';

/**
 * The page that the client was asked for. A client that sends no text is not asked again: the page is then the
 * one `before`.
 */
function pageResult(page: Page | null, before: Page | null): ReportedResult {
  if (page && !page.textMissing)
    return { failed: false, parts: [textPart('The whole page:'), ...pageParts(page)], data: pageData(page) };
  const known = page && page.elements.length > 0 ? page : (before ?? page);
  const still: Page | null = known && { ...known, textMissing: 'unavailable' };
  const parts = [textPart(NO_TEXT), ...pageParts(still)];
  return { failed: true, parts, data: pageData(still) };
}

// The pending question of a task: an approval, or a question of the agent to the user.

type Question =
  | { readonly kind: 'approval'; readonly approval: ApprovalId }
  | { readonly kind: 'question'; readonly question: QuestionId }
  | { readonly kind: 'ask'; readonly call: CallId };

/** A reply whose call has no response yet. */
type PendingReply = { readonly session: string; readonly question: Question };

function questionOf({
  approval,
  questions: [asked],
  deferred: [deferred],
}: SessionSnapshot): Question | null {
  if (approval) return { kind: 'approval', approval: approval.approval };
  if (asked) return { kind: 'question', question: asked.question };
  return deferred?.tool === 'browser_ask' ? { kind: 'ask', call: deferred.call } : null;
}

const isSame = (one: Question, other: Question | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A question that follows an earlier reply is first shown in the response to that reply. */
const isShown = (question: Question, ref: SessionRef, earlier: readonly PendingReply[]): boolean =>
  earlier.every((reply) => reply.session !== sessionKey(ref) || isSame(reply.question, question));

// What a call returns besides the task itself: a pending approval, or the end of the task.

/** A pending approval is shown as a question to the user. */
function withApproval(task: Task, { approval, turn }: SessionSnapshot): Task {
  if (!approval || turn !== task.taskId) return task;
  const userQuestion = waitingText(approval.ask);
  const question = { userQuestion, missingInformation: ['approval'], reasoning: approval.ask.description };
  return { ...task, status: 'needs_user_input', thought: userQuestion, question };
}

const finishedIn = ({ finished }: SessionSnapshot, taskId: TurnId) =>
  finished.find(({ turn }) => turn === taskId) ?? null;

/** A task that has ended or is unknown. Clients stop at it, whereas they would retry a 404. */
function overTask(taskId: TurnId, over: { readonly ok: boolean } | null): Task {
  const thought = over
    ? `This task is finished already${over.ok ? '' : ': it failed'}.`
    : 'There is no such task.';
  return {
    ...taskView(startTask(taskId)),
    status: over?.ok ? 'completed' : 'failed',
    thought,
    action: 'finish()',
  };
}

// The page of a call, as it is stored and as the model receives it.

/** The token budget of one page in the model's context. */
const PAGE_TOKENS = 6_000;
const MORE_BUTTONS = 100;

/** Null if the request has no page. */
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
  const wholeOnRequest = request.domMode === 'semantic';
  const page = parsePage(
    { dom, interactiveTree, semanticNodes, skeletonDom, url, title, wholeOnRequest },
    PAGE_TOKENS,
  );
  const hasTree = interactiveTree !== undefined || semanticNodes !== undefined;
  return kept({
    ...page,
    ...(isShell(page, hasTree) && { textMissing: 'unavailable' as const }),
    ...(request.actionGrammar === 'extended' && { extended: true }),
  });
}

/** An empty document, which clients send that cannot read the page, alone or with its tree. */
const isShell = ({ elements, text, textMissing }: Page, hasTree: boolean): boolean =>
  textMissing === undefined && text.trim() === '' && (hasTree || elements.length === 0);

/** Of a page with thousands of elements, stores those that the model receives and some more buttons. */
function kept(page: Page): Page {
  const more = page.elements.slice(page.shown).filter((element) => element.role === 'button');
  return { ...page, elements: [...page.elements.slice(0, page.shown), ...more.slice(0, MORE_BUTTONS)] };
}

const pageParts = (page: Page | null): PagePart[] =>
  page ? [{ type: 'page', title: page.title, url: page.url, text: renderPage(page) }] : [];

const pageData = (page: Page | null): JsonObject | undefined =>
  page ? { page: page as unknown as JsonObject } : undefined;
