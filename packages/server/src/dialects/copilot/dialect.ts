/**
 * `copilot`: the Browser Copilot and its side panel, over REST and Pusher channels. One call of
 * `/api/agent/interact` is one step of a task, and a task is a turn: the browser executes the action of the
 * response and reports its outcome with the next call. The contract has no streaming: messages are sent whole,
 * on the channel `private-session-<id>`.
 */

import { parseAction } from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';
import { fixedWindowLimiter } from '../../http/rate-limiter.ts';
import type { ExampleIds, RequestExample } from '../kit/description.ts';
import { defineDialect } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { accountEndpoints } from './account.ts';
import { agent, domain } from './agent.ts';
import { sessionChannel, watchChannels } from './channel-watch.ts';
import { type Context, Settings } from './context.ts';
import { refusal } from './faults.ts';
import { type Interaction, interactions } from './interact.ts';
import { projection, type State } from './projection.ts';
import { InteractHeaders, InteractRequest, interactRequest } from './request.ts';
import { endpoint, REST } from './rest.ts';
import { sessionEndpoints } from './sessions.ts';
import type { Task } from './task.ts';

const interactEndpoint = endpoint({
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
const PAGE = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

const interactExamples = ({
  session,
  task,
  site,
}: ExampleIds): readonly [RequestExample, ...RequestExample[]] => [
  {
    title: 'Start a task on a page',
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE, sessionId: session },
  },
  {
    title: 'Start a task in a new session',
    first: true,
    creates: true,
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE },
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

export const copilot = defineDialect({
  name: 'copilot',
  // The contract includes the paths that authorize channels.
  listen: ['/api/agent/*', '/api/session/*', '/api/v1/*', '/api/knowledge/*', '/api/pusher/*'].map(
    (path) => ({ http: path }),
  ),
  settings: Settings,
  catalog: { domains: [domain], agents: [agent] },
  inbound(ctx, hub: SubscriptionHub<State>) {
    const watch = watchChannels(ctx, hub);
    const own = { ...ctx, follow: watch.follow, hub };
    const { maxDom, requestsPerMinute } = ctx.settings;
    return {
      rest: {
        ...own,
        interact: interactions(own),
        interactBody: interactRequest(maxDom),
        limiter: fixedWindowLimiter({ limit: requestsPerMinute, windowMs: 60_000 }),
      },
      close: watch.stop,
    };
  },
  rest: { ...REST, endpoints: [interactEndpoint, ...sessionEndpoints, ...accountEndpoints] },
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});

/** Channels are named by session id only: a session that shares its id with an older one has no channel. */
async function publish({ engine, channels }: Context, interaction: Interaction): Promise<void> {
  const { sessionId, ref } = interaction;
  if ((await engine.firstHolder(sessionId))?.owner !== ref.owner) return;
  const push = interactPush(interaction);
  channels.broadcast(sessionChannel(sessionId), push.type, push);
}

// The response to a call of `/api/agent/interact`, and the event for other devices.

/** Deployed clients read some fields from `data` and some from the top level: all are in both. */
function interactBody({ sessionId, task }: Interaction, requestDuration: number): object {
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
const interactPush = ({ sessionId, task }: Interaction) => ({
  type: 'interact_response',
  sessionId,
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
