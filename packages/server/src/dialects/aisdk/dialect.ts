/**
 * `aisdk`: pages with `useChat` of the Vercel AI SDK, or any client of its UI message stream. A chat is a
 * session, the message of an answer has the id of its turn, and messages of the user keep the ids of their
 * page. A disconnect does not end the turn: the page resumes the stream, or stops the turn. Not sent: message
 * metadata, sources and custom data parts.
 */
import { defineDialect } from '../shared/dialect.ts';
import { refusal } from './faults.ts';
import { projection } from './projection.ts';
import { routes } from './routes.ts';

export const aisdk = defineDialect({
  name: 'aisdk',
  listen: [{ http: '/api/chat/*' }],
  inbound: (ctx) => ({ routes: (app) => routes(app, ctx) }),
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
