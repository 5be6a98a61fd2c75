/**
 * `copilot`: the Browser Copilot and its side panel, over REST and Pusher channels. One call of `/api/agent/interact` is one
 * step of a task, and a task is a turn; the browser carries out the action that a call is answered with, and says what came of it
 * with the next. The contract has no streaming: messages go out whole, to the channel `private-session-<id>`.
 */
import { type DurableEvent, isDurable, type SessionEvent } from '@parlance/protocol';
import { Hono } from 'hono';
import type { SessionSnapshot } from '../../core/api/index.ts';
import { type DialectContext, defineDialect } from '../shared/dialect.ts';
import { type Frame, NONE, type Stepped } from '../shared/projection.ts';
import { accountRoutes } from './account.ts';
import { sessionChannel } from './channel-watch.ts';
import { checkedBody, type ErrorCode, errorAnswer, errorBody, principalOf } from './envelope.ts';
import { type Interaction, interactions } from './interact.ts';
import { type CopilotMessage, type MessageState, startMessages, stepMessages } from './messages.ts';
import { rateLimit } from './rate-limit.ts';
import { interactRequest } from './request.ts';
import { interactBody, interactPush } from './response.ts';
import { sessionRoutes } from './sessions.ts';

export const copilot = defineDialect<State>({
  name: 'copilot',
  projection: { start, step, attach },
  routes,
  refusal,
});

// In

/** A path with a star is also the path without it. */
const LIMITED = ['/api/agent/*', '/api/session/*', '/api/v1/*', '/api/knowledge/*'];
/** The paths of the contract: it names those that permit channels, too. */
const OWNED = [...LIMITED, '/api/pusher/*'].map((pattern) => pattern.slice(0, -'/*'.length));

function routes(app: Hono, ctx: DialectContext): void {
  const limited = rateLimit(ctx);
  const schema = interactRequest(ctx.maxDom);
  for (const path of LIMITED) app.use(path, limited);
  const api = new Hono();
  const interact = interactions(ctx);
  api.post('/api/agent/interact', async (c) => {
    const began = ctx.now();
    const principal = await principalOf(ctx.authenticator, c.req.raw);
    const request = await checkedBody(schema, ctx.readBody(c.req.raw, 'identified'));
    const interaction = await interact(request, principal);
    await publish(interaction);
    return c.json(interactBody(interaction, ctx.now() - began));
  });
  /** The channel is named by the id alone: a session that has the id in common with an older one has no channel. */
  async function publish(interaction: Interaction): Promise<void> {
    const { sessionId, ref } = interaction;
    if ((await ctx.engine.firstHolder(sessionId))?.owner !== ref.owner) return;
    const push = interactPush(interaction);
    ctx.push.publish(sessionChannel(sessionId), push.type, push);
  }
  api.onError(errorAnswer(ctx));
  app.route('/', api);
  sessionRoutes(app, ctx);
  accountRoutes(app, ctx);
}

function refusal(path: string, status: number, reason: string): object | undefined {
  if (!OWNED.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return undefined;
  return errorBody(REFUSALS[status] ?? 'INTERNAL_ERROR', reason);
}

const REFUSALS: Readonly<Record<number, ErrorCode>> = { 403: 'FORBIDDEN', 404: 'NOT_FOUND' };

// Out

type Body =
  | { readonly type: 'new_message'; readonly sessionId: string; readonly message: CopilotMessage }
  | {
      readonly type: 'plan_update';
      readonly sessionId: string;
      readonly taskId: string;
      readonly steps: unknown;
    }
  | {
      readonly type: 'task_status';
      readonly sessionId: string;
      readonly taskId: string;
      readonly status: string;
    };

type State = {
  readonly messages: MessageState;
  /** the agent itself said that the task cannot be done */
  readonly failed: boolean;
};

function start(now: SessionSnapshot): State {
  return { messages: startMessages(now.messageCountAtIdle), failed: false };
}

function step(before: State, event: SessionEvent): Stepped<State, Body> {
  if (!isDurable(event)) return [before, NONE];
  const [messages, told] = stepMessages(before.messages, event);
  const failed = failedAfter(before.failed, event);
  const state = messages === before.messages && failed === before.failed ? before : { messages, failed };
  const bodies = told.map((message): Body => ({ type: 'new_message', sessionId: event.session, message }));
  return [state, [...bodies, ...progress(event, failed)].map((body): Frame<Body> => ({ body }))];
}

function failedAfter(failed: boolean, event: DurableEvent): boolean {
  if (event.type === 'turn.started') return false;
  return event.type === 'tool.ended' && event.final ? event.outcome !== 'ok' : failed;
}

/** For other devices of the same user: the plan and how the task stands. */
function progress(event: DurableEvent, failed: boolean): Body[] {
  const sessionId = event.session;
  switch (event.type) {
    case 'call.requested':
      if (event.tool !== 'browser_plan') return [];
      return [{ type: 'plan_update', sessionId, taskId: event.turn, steps: event.input.steps }];
    case 'turn.started':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'running' }];
    case 'turn.ended':
      return [
        { type: 'task_status', sessionId, taskId: event.turn, status: failed ? 'failed' : 'completed' },
      ];
    case 'turn.failed':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'failed' }];
    case 'turn.cancelled':
      return [{ type: 'task_status', sessionId, taskId: event.turn, status: 'interrupted' }];
    case 'session.created':
    case 'session.cleared':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
    case 'input.accepted':
    case 'turn.resumed':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'text.ended':
    case 'step.restarted':
    case 'step.ended':
    case 'approval.requested':
    case 'approval.explained':
    case 'approval.answered':
    case 'tool.started':
    case 'call.deferred':
    case 'tool.ended':
    case 'grant.revoked':
    case 'context.compacted':
      return [];
  }
}

/** A client reads what it has missed over HTTP. */
function attach(): Body[] {
  return [];
}
