/**
 * `mcp`: Parlance as a server of the Model Context Protocol, revisions 2025-03-26, 2025-06-18, 2025-11-25 and
 * 2026-07-28. Sessions are used through tools, and read as resources. Nothing that a client needs to reconnect
 * is only in memory: the agreed version is in its session id, and the turn that a call follows in the ids and
 * states that the client sends back. Prompts, completions, logging, sampling and tasks are not supported.
 */
import { defineDialect } from '../shared/dialect.ts';
import { ClientSessions } from './client-sessions.ts';
import { Settings } from './context.ts';
import { refusal } from './faults.ts';
import { OpenCalls } from './open-calls.ts';
import { OpenForms } from './open-forms.ts';
import { OtherNodes } from './other-nodes.ts';
import { projection } from './projection.ts';
import { PATH, routes } from './routes.ts';

export const mcp = defineDialect({
  name: 'mcp',
  listen: [{ http: PATH }],
  settings: Settings,
  inbound(given) {
    const known = { sessions: new ClientSessions(), calls: new OpenCalls(), forms: new OpenForms() };
    const ctx = { ...given, ...known, otherNodes: new OtherNodes(given.engine?.transport ?? null, known) };
    return { routes: (app) => routes(app, ctx) };
  },
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
