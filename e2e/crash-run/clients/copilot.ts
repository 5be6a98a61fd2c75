/**
 * `copilot`, over REST. Acknowledged: the 200 with the task; or, after a kill, the running task of the session with the same
 * text. Each message is a task of one action, executed on a local page.
 */
import { type PageState, perform } from '../../fake-browser.ts';
import { form } from '../../sites.ts';
import type { ClientKind } from '../client.ts';
import type { Sent } from '../evidence.ts';

type Data = { taskId: string; action?: string; thought: string; status: string };

export const copilot: ClientKind = {
  dialect: 'copilot',
  newId: (random) => {
    const digits = Array.from({ length: 32 }, () => random.between(0, 15).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  },
  messageText: (number) => `type message ${number} into the name field`,
  async open({ server, token, conversation, ledger }) {
    const { id: session } = conversation;
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const state: PageState = { url: form.url, values: {}, checked: {}, notes: {} };
    let task: Data | null = null;

    const page = () => ({ url: state.url, dom: form.html(state) });
    async function interact(query: string, more: object): Promise<Data> {
      const response = await fetch(`${server.http}/api/agent/interact`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query, sessionId: session, ...page(), ...more }),
      });
      if (!response.ok) throw new Error(`interact answered ${response.status}: ${await response.text()}`);
      return ((await response.json()) as { data: Data }).data;
    }
    const get = async (path: string) =>
      (await fetch(`${server.http}/api/session/${session}/${path}`, { headers })).json();

    /** Executes actions until the task has ended. */
    async function finish(query: string, first: Data): Promise<void> {
      let data = first;
      for (let actions = 1; data.status !== 'completed' && data.status !== 'failed'; actions++) {
        ledger.saw('browser');
        const report = data.action ? perform(form, data.action, { count: actions, state }) : {};
        data = await interact(query, { taskId: data.taskId, ...report });
      }
      // A task that ended by itself after a kill: the text is in the history.
      if (data.thought.startsWith('This task is finished already')) return;
      ledger.shown.push({
        session,
        dialect: 'copilot',
        part: 'outcome',
        of: data.taskId,
        text: data.thought,
      });
    }

    /** The action that was requested before the kill and not executed. */
    async function pendingAction(): Promise<string | undefined> {
      const { messages } = (await get('messages?limit=200')) as {
        messages: { status?: string; actionString?: string }[];
      };
      const last = messages.at(-1);
      return last?.status === 'pending' ? last.actionString : undefined;
    }

    const last = conversation.sent.at(-1);
    const active = (last ? await get('task/active') : null) as {
      data?: { taskId: string; query: string } | null;
    } | null;
    if (last && active?.data) {
      if (active.data.query === last.text) ledger.acknowledge(last);
      const { taskId } = active.data;
      const action = await pendingAction();
      await finish(last.text, { taskId, action, thought: '', status: 'executing' });
    }

    return {
      async send(message: Sent) {
        task = await interact(message.text, {});
        ledger.acknowledge(message);
      },
      async answered(message: Sent) {
        if (task) await finish(message.text, task);
      },
      close: () => undefined,
    };
  },
};
