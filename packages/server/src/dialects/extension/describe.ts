import { z } from 'zod';
import { type Description, named } from '../shared/description.ts';
import { inbound } from './describe-inbound.ts';
import { outbound } from './describe-outbound.ts';
import { SummaryRequest } from './schemas.ts';

const Health = named('Health', z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() }));
const Summary = named(
  'Summary',
  z.object({ summary: z.string(), title: z.string(), timestamp: z.iso.datetime() }),
);
const ExtensionError = named(
  'ExtensionError',
  z.object({ error: z.string(), details: z.string().optional() }),
);

export const description: Description = {
  title: 'Browser extension',
  summary: 'Browser extensions and C clients with browser tools, over a WebSocket.',
  note: 'Allow the extension’s origin: start the server with ALLOWED_ORIGINS=chrome-extension://ID.',
  socket: {
    nameField: 'type',
    greeting: { send: 'client_registration', receive: 'registration_confirmed' },
  },
  messages: { in: inbound, out: outbound },
  endpoints: [
    {
      method: 'get',
      path: '/health',
      summary: 'Liveness',
      security: 'nobody',
      answers: { 200: { description: 'Alive', schema: Health } },
    },
    {
      method: 'post',
      path: '/api/summarize',
      summary: 'Summarises a document without storing it',
      security: 'caller',
      examples: ({ session }) => [{ body: { content: `Sum up ${session}. It is mine.`, title: session } }],
      body: named('SummaryRequest', SummaryRequest),
      answers: {
        200: { description: 'The summary', schema: Summary },
        400: { description: 'Not JSON, no content, or an invalid title', schema: ExtensionError },
        401: { description: 'Missing or invalid token', schema: ExtensionError },
        500: { description: 'The model could not summarise it', schema: ExtensionError },
      },
    },
  ],
};
