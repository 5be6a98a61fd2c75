/**
 * `copilot`: the Browser Copilot and its side panel, over REST and Pusher channels. One call of
 * `/api/agent/interact` is one step of a task, and a task is a turn: the browser executes the action of the
 * response and reports its outcome with the next call. The contract has no streaming: messages are sent whole,
 * on the channel `private-session-<id>`.
 */

import { parseAction } from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';
import { Hono, type MiddlewareHandler } from 'hono';
import { fixedWindowLimiter } from '../../http/rate-limiter.ts';
import { tokenOf } from '../../http/request-identity.ts';
import { defineDialect } from '../kit/dialect.ts';
import type { SubscriptionHub } from '../kit/subscription-hub.ts';
import { accountRoutes } from './account.ts';
import { agent, domain } from './agent.ts';
import { sessionChannel, watchChannels } from './channel-watch.ts';
import { type Context, Settings } from './context.ts';
import { checked, checkedBody, principalOf } from './envelope.ts';
import { errorAnswer, errorBody, LIMITED, refusal } from './faults.ts';
import { type Interaction, interactions } from './interact.ts';
import { projection, type State } from './projection.ts';
import { InteractHeaders, interactRequest } from './request.ts';
import { sessionRoutes } from './sessions.ts';
import type { Task } from './task.ts';

export const copilot = defineDialect({
  name: 'copilot',
  // The contract includes the paths that authorize channels.
  listen: [...LIMITED, '/api/pusher/*'].map((path) => ({ http: path })),
  settings: Settings,
  catalog: { domains: [domain], agents: [agent] },
  inbound(ctx, hub: SubscriptionHub<State>) {
    const watch = watchChannels(ctx, hub);
    return {
      routes: (app) => routes(app, { ...ctx, follow: watch.follow, hub }),
      close: watch.stop,
    };
  },
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});

// In: the REST endpoints.

function routes(app: Hono, ctx: Context): void {
  const limited = rateLimit(ctx);
  const schema = interactRequest(ctx.settings.maxDom);
  for (const path of LIMITED) app.use(path, limited);
  const api = new Hono();
  const interact = interactions(ctx);
  api.post('/api/agent/interact', async (c) => {
    const began = ctx.now();
    const principal = await principalOf(ctx.authenticator, c.req.raw);
    const request = await checkedBody(schema, ctx.readBody(c.req.raw, 'identified'));
    const { 'idempotency-key': key } = checked(InteractHeaders, c.req.header());
    const interaction = await interact(request, principal, key);
    await publish(interaction);
    return c.json(interactBody(interaction, ctx.now() - began));
  });
  /** Channels are named by session id only: a session that shares its id with an older one has no channel. */
  async function publish(interaction: Interaction): Promise<void> {
    const { sessionId, ref } = interaction;
    if ((await ctx.engine.firstHolder(sessionId))?.owner !== ref.owner) return;
    const push = interactPush(interaction);
    ctx.channels.broadcast(sessionChannel(sessionId), push.type, push);
  }
  api.onError(errorAnswer(ctx));
  app.route('/', api);
  sessionRoutes(app, ctx);
  accountRoutes(app, ctx);
}

// Rate limit per caller, reported in the headers of every response.

const WINDOW_MS = 60_000;

type RateLimitContext = Pick<Context, 'now' | 'refused' | 'settings'>;

/** Callers are distinguished by token; callers without one share a limit. */
function rateLimit({ settings, now, refused }: RateLimitContext): MiddlewareHandler {
  const { requestsPerMinute } = settings;
  const limiter = fixedWindowLimiter({ limit: requestsPerMinute, windowMs: WINDOW_MS });

  return async (c, next) => {
    const caller = Bun.hash(tokenOf(c.req.raw) ?? '').toString(36);
    const { allowed, remaining, resetMs } = limiter.take(caller);
    c.header('X-RateLimit-Limit', String(requestsPerMinute));
    c.header('X-RateLimit-Remaining', String(remaining));
    c.header('X-RateLimit-Reset', String(Math.ceil((now() + resetMs) / 1000)));
    if (allowed) return next();
    refused('requestsPerMinute');
    const retryAfter = Math.max(1, Math.ceil(resetMs / 1000));
    c.header('Retry-After', String(retryAfter));
    const message = `Too many requests. Try again in ${retryAfter} seconds.`;
    return c.json(errorBody('RATE_LIMIT', message, { details: { retryAfter }, retryAfter }), 429);
  };
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
