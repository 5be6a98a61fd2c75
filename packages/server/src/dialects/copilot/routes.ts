/** In: the REST endpoints. */
import { Hono } from 'hono';
import { accountRoutes } from './account.ts';
import { sessionChannel } from './channel-watch.ts';
import type { Context } from './context.ts';
import { checked, checkedBody, principalOf } from './envelope.ts';
import { errorAnswer, LIMITED } from './faults.ts';
import { type Interaction, interactions } from './interact.ts';
import { rateLimit } from './rate-limit.ts';
import { InteractHeaders, interactRequest } from './request.ts';
import { interactBody, interactPush } from './response.ts';
import { sessionRoutes } from './sessions.ts';

export function routes(app: Hono, ctx: Context): void {
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
