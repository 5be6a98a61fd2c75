/**
 * `copilot`: the Browser Copilot and its side panel, over REST and Pusher channels. One call of
 * `/api/agent/interact` is one step of a task, and a task is a turn: the browser executes the action of the
 * response and reports its outcome with the next call. The contract has no streaming: messages are sent whole,
 * on the channel `private-session-<id>`.
 */
import { defineDialect } from '../shared/dialect.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';
import { agent, domain } from './agent.ts';
import { watchChannels } from './channel-watch.ts';
import { Settings } from './context.ts';
import { LIMITED, refusal } from './faults.ts';
import { projection, type State } from './projection.ts';
import { routes } from './routes.ts';

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
