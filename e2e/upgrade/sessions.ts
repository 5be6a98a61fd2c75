/** The sessions of the fixture: every type of event, most dialects, and every final state of a session. */
import {
  ask,
  type Caller,
  connect,
  input,
  interact,
  local,
  logIn,
  say,
  send,
  turn,
  until,
  untilCount,
} from './clients.ts';

export const TASK = '5f2b1c9e-7c1d-4e0a-9f59-6d1f3c1b0a01';
export const OPEN_TASK = '5f2b1c9e-7c1d-4e0a-9f59-6d1f3c1b0a02';

/** In the first process, which is killed while `resumed` streams. */
export async function beforeTheFirstKill(http: string): Promise<void> {
  const me = local(http);
  const dev = await logIn(http, 'dev');
  await plain(me);
  await turn(dev, 'plain', 'Think of a river');
  await approvals(dev);
  await byWord(dev);
  await cutContext(me);
  await unfinished(me);
  await tasks(dev);
  await say(me, 'resumed', 'Never end');
  await until(me, 'resumed', 'turn.started');
}

async function plain(me: Caller): Promise<void> {
  await send(me, 'plain', { type: 'session.create', title: 'Rivers', labels: { colour: 'blue' } });
  await turn(me, 'plain', 'Think of a river');
  await send(me, 'plain', { type: 'session.label', labels: { colour: 'green', 'a b': 'ä' } });
  await send(me, 'plain', { type: 'session.rename', title: 'Große Flüsse' });
  await send(me, 'plain', { type: 'session.configure', approval: 'auto-edit' });
  await turn(me, 'plain', 'Echo the word');
  await send(me, 'plain', {
    type: 'input.submit',
    parts: [],
    call: { tool: 'echo', input: { value: 'direct' } },
    data: { from: 'a program' },
  });
  await untilCount(me, 'plain', { type: 'turn.ended', count: 3 });
  await turn(me, 'archived', 'Think of a river');
  await send(me, 'archived', { type: 'session.archive' });
}

/** Answered once, always, with a denial and with the end of the turn; explained, and the grant revoked. */
async function approvals(dev: Caller): Promise<void> {
  const client = await connect(dev, '/agentloop', 'approvals');
  const input = (text: string) => [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  ];
  const answers = [
    ['Make a file', 'yes'],
    ['Make another file', 'always'],
    ['Make no file', 'no-continue'],
    ['Make it or leave it', 'no-exit'],
  ];
  for (const [text = '', review = ''] of answers) {
    client.send({ id: text, type: 'user_input', payload: { input: input(text) } });
    await client.next('approval_request');
    if (review === 'yes') {
      client.send({ id: 'e', type: 'approval_response', payload: { review: 'explain' } });
      await until(dev, 'approvals', 'approval.explained');
    }
    const payload = { review, customDenyMessage: review === 'no-continue' ? 'Not now.' : undefined };
    client.send({ id: review, type: 'approval_response', payload });
    await client.next('context_info');
    if (review !== 'always') continue;
    const events = await untilCount(dev, 'approvals', { type: 'turn.ended', count: 2 });
    const grant = events.flatMap((event) => (event.type === 'approval.answered' ? [event.grant] : [])).at(-1);
    await send(dev, 'approvals', { type: 'grant.revoke', grant });
  }
  client.close();
}

async function byWord(dev: Caller): Promise<void> {
  const client = await connect(dev, '/broadcast', 'by-word');
  const chat = (message: string) => client.send({ type: 'chat', message, session_id: 'by-word' });
  chat('Make a file');
  await until(dev, 'by-word', 'approval.requested');
  chat('yes');
  await until(dev, 'by-word', 'turn.ended');
  client.close();
  await turn(dev, 'handed-off', 'Hand it over');
}

async function cutContext(me: Caller): Promise<void> {
  await turn(me, 'compacted', 'Think of a river');
  await turn(me, 'compacted', 'Think of a river once more');
  await send(me, 'compacted', { type: 'context.compact' });
  await until(me, 'compacted', 'context.compacted');
  await turn(me, 'compacted', 'And now?');
  await turn(me, 'cleared', 'Think of a river');
  await send(me, 'cleared', { type: 'session.clear' });
  await turn(me, 'cleared', 'Who are you?');
  await turn(me, 'rewound', 'Think of a river');
  const events = await until(me, 'rewound', 'input.accepted');
  const first = events.find((event) => event.type === 'input.accepted');
  if (!first) throw new Error('there was no input');
  await send(me, 'rewound', { ...input('Think of a lake'), replaces: first.input });
  await untilCount(me, 'rewound', { type: 'turn.ended', count: 2 });
}

async function unfinished(me: Caller): Promise<void> {
  await say(me, 'failed', 'Fail at once');
  await until(me, 'failed', 'turn.failed');
  await turn(me, 'retried', 'Break off once');
  const watcher = await connect(me, '/agentloop', 'cancelled');
  const streams = () => watcher.next('response_item');
  await say(me, 'cancelled', 'Never end');
  await streams();
  await send(me, 'cancelled', { ...input('Never end either'), mode: 'supersede' });
  await watcher.next('loading_state');
  await streams();
  watcher.close();
  await send(me, 'cancelled', { type: 'turn.cancel' });
  await untilCount(me, 'cancelled', { type: 'turn.cancelled', count: 2 });
}

/** One task that ended, with a question to the user, and one with a pending action in the browser. */
async function tasks(dev: Caller): Promise<void> {
  const site = { url: 'https://shop.example/contact', title: 'Contact' };
  await ask(dev, '/api/session/init', { sessionId: TASK, ...site });
  const query = 'Submit the form';
  const asked = await interact(dev, { sessionId: TASK, query });
  const { taskId } = asked;
  await interact(dev, { sessionId: TASK, taskId, query: 'In the name of Ada' });
  await interact(dev, { sessionId: TASK, taskId, query, lastActionStatus: 'success' });
  await until(dev, TASK, 'turn.ended');
  await interact(dev, { sessionId: OPEN_TASK, query: 'Click and wait' });
  await until(dev, OPEN_TASK, 'call.deferred');
}

/** In the second process, which is killed while the command of `interrupted` runs. */
export async function beforeTheSecondKill(http: string): Promise<void> {
  const me = local(http);
  const dev = await logIn(http, 'dev');
  await until(me, 'resumed', 'turn.ended');
  await ask(dev, '/api/v1/user/preferences', { theme: 'dark' });
  const gone = await logIn(http, 'ada');
  await fetch(`${http}/v1/auth/logout`, { method: 'POST', headers: gone.headers });
  const client = await connect(dev, '/ws', 'none');
  const chat = (content: string) =>
    client.send({ type: 'send_message', conversationId: 'temp-waiting', payload: { content } });
  chat('Think of a river');
  await client.next('message_complete');
  chat('Make a file later');
  await client.next('tool_approval_required');
  client.close();
  await turn(me, 'interrupted', 'Think of a river');
  await say(me, 'interrupted', 'Sleep for a while');
  await until(me, 'interrupted', 'approval.requested');
  await send(me, 'interrupted', { type: 'approval.answer', answer: 'once' });
  await until(me, 'interrupted', 'tool.started');
}
