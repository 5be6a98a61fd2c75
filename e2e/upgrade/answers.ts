/** Responses about the sessions of the fixture, in several dialects; the same in every version. */
import { type Caller, connect, events, get, local, logIn } from './clients.ts';
import { OPEN_TASK, TASK } from './sessions.ts';

export type Answers = { readonly session: string; readonly of: string; readonly answer: unknown };

const OF_LOCAL = [
  'archived',
  'cancelled',
  'cleared',
  'compacted',
  'failed',
  'plain',
  'resumed',
  'retried',
  'rewound',
];
const OF_DEV = ['approvals', 'by-word', 'handed-off', 'plain', 'temp-waiting', OPEN_TASK, TASK];

/** Continues at every start, so its responses depend on the time. */
export const INTERRUPTED = 'interrupted';

export async function answersOf(http: string): Promise<Answers[]> {
  const me = local(http);
  const dev = await logIn(http, 'dev');
  const found: Answers[] = [];
  for (const [caller, name, sessions] of [
    [me, 'local', OF_LOCAL],
    [dev, 'dev', OF_DEV],
  ] as const) {
    const add = async (session: string, of: string, answer: Promise<unknown>) =>
      void found.push({ session: `${name}/${session}`, of, answer: await answer });
    await add('*', 'GET /v1/sessions', listed(caller));
    await add('*', 'GET /v1/approvals', get(caller, '/v1/approvals'));
    for (const session of sessions) {
      await add(session, 'GET /v1/sessions/:id', get(caller, `/v1/sessions/${session}`));
      await add(session, 'GET /v1/sessions/:id/events', events(caller, session));
      await add(session, 'agentloop', attached(caller, '/agentloop', session));
      await add(session, 'GET /v1/conversations/:id', get(caller, `/v1/conversations/${session}`));
      await add(session, 'GET …/workflow-logs', get(caller, `/v1/conversations/${session}/workflow-logs`));
      if (name === 'dev') await add(session, 'conversations', attached(caller, '/ws', session));
    }
  }
  for (const session of [TASK, OPEN_TASK]) {
    const path = `/api/session/${session}`;
    found.push({ session, of: 'GET /api/session/:id', answer: await get(dev, path) });
    found.push({ session, of: 'GET …/messages', answer: await get(dev, `${path}/messages`) });
    found.push({ session, of: 'GET …/task/active', answer: await get(dev, `${path}/task/active`) });
  }
  const preferences = await get(dev, '/api/v1/user/preferences');
  found.push({ session: '-', of: 'GET /api/v1/user/preferences', answer: preferences });
  return found;
}

async function listed(caller: Caller): Promise<unknown> {
  const page = (await get(caller, '/v1/sessions?limit=100')) as { sessions: { id: string }[] };
  return page.sessions.filter(({ id }) => id !== INTERRUPTED);
}

/** The frames that a socket receives when it attaches to the session. */
async function attached(caller: Caller, path: '/agentloop' | '/ws', session: string): Promise<unknown> {
  const client = await connect(caller, path, session);
  try {
    client.send(path === '/ws' ? { type: 'PING' } : { id: 'i', type: 'get_context_info' });
    const frames = await client.until(path === '/ws' ? 'PONG' : 'context_info');
    // Response ids are generated.
    return frames.map((frame) => (frame.type === 'context_info' ? { ...frame, id: '' } : frame));
  } finally {
    client.close();
    await client.closed;
  }
}
