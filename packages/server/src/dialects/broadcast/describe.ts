import { z } from 'zod';
import { type Description, named } from '../shared/description.ts';
import { inbound, outbound } from './describe-messages.ts';

const Health = named('BroadcastHealth', z.object({ status: z.literal('ok') }));
const Refusal = named('BroadcastRefusal', z.object({ error: z.string(), detail: z.string() }));
const Settings = named('BroadcastConfig', z.object({ max_iterations: z.number(), working_dir: z.string() }));

export const description: Description = {
  title: 'Chat page',
  summary: 'Simple chat pages and REPLs: send a message, receive everything that happens, over a WebSocket.',
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound, out: outbound },
  endpoints: [
    {
      method: 'get',
      path: '/api/health',
      summary: 'Liveness',
      security: 'nobody',
      answers: { 200: { description: 'Alive', schema: Health } },
    },
    {
      method: 'get',
      path: '/api/config',
      summary: 'Settings for chat pages',
      security: 'caller',
      answers: {
        200: { description: 'The settings', schema: Settings },
        401: { description: 'A token is required', schema: Refusal },
      },
    },
  ],
};
