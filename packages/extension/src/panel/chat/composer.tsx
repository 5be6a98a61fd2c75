/** The message field. A message is a task on the current tab, a chat without it, or the answer to a question of the task. */
import type { Part } from '@parlance/protocol';
import type { SessionHandle } from '@parlance/sdk';
import { type Chosen, useCommands } from '@parlance/ui/chat/commands.tsx';
import { Composer, type Mode } from '@parlance/ui/chat/composer.tsx';
import { textOf } from '@parlance/ui/chat/rows.ts';
import { attempt, toast } from '@parlance/ui/components/controls.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useState } from 'react';
import { isRunning, type TaskRecord } from '../../shared/records.ts';
import { type ShownTab, sendToWorker, show } from '../state.ts';

type ComposerProps = {
  readonly session: string | null;
  readonly tab: ShownTab | null;
  readonly task: TaskRecord | null;
  readonly running: boolean;
  readonly earlier: readonly string[];
};

export function PanelComposer({ session, tab, task, running, earlier }: ComposerProps) {
  const [withTab, setWithTab] = useState(true);
  const choices = describeChoices(useNextSession());
  const isTasking = task !== null && isRunning(task);

  async function send(parts: Part[], mode: Mode): Promise<boolean> {
    const text = textOf(parts);
    if (session !== null && task?.state.phase === 'question' && text !== '')
      return sendToWorker({ kind: 'reply', session, text });
    const id = session ?? crypto.randomUUID();
    const isTask = withTab && tab !== null;
    if (isTask && !isPlainText(parts)) {
      toast('A task on the tab takes text only. Turn off “Use this tab” to send files.');
      return false;
    }
    const handle = parlance.session(id);
    const created = await attempt(async () => {
      if (session === null) await createNext(handle);
      else if (isTask) await handle.create();
    });
    if (!created) return false;
    const done = isTask
      ? await sendToWorker({ kind: 'task', session: id, tab: tab.id, query: text })
      : await attempt(() => handle.submit(parts, { mode }));
    if (done && session === null) show({ page: 'chat', session: id });
    return done;
  }

  /** Applies to the session, or to the one that the next message begins. */
  async function choose(change: Partial<Chosen>): Promise<void> {
    if (session === null) return chooseForNext(change);
    const { model, approval, agent } = change;
    await parlance.session(session).configure({ model, approval, agent: agent ?? undefined });
  }

  async function withSession(work: (handle: SessionHandle) => Promise<unknown>): Promise<void> {
    if (session === null) toast('The session has no messages yet.');
    else await work(parlance.session(session));
  }

  const commands = useCommands({
    choose,
    compact: () => withSession((handle) => handle.compact()),
    clear: () => withSession((handle) => handle.clear()),
    openDomain({ id: domain }) {
      chooseForNext({ domain, agent: null });
      show({ page: 'chat', session: null });
    },
  });

  function stop(): void {
    if (session !== null && isTasking) void sendToWorker({ kind: 'stop', session });
    else if (session !== null) void attempt(() => parlance.session(session).cancel());
  }

  return (
    <>
      <Composer
        draft={`panel ${session ?? ''}`}
        running={running || isTasking}
        earlier={earlier}
        onSend={send}
        onStop={stop}
        onSlash={commands.onSlash}
      >
        <label className="panel-choice">
          <input type="checkbox" checked={withTab} onChange={(event) => setWithTab(event.target.checked)} />
          Use this tab
        </label>
        {session === null && choices !== '' && <span>New session: {choices}</span>}
      </Composer>
      {commands.dialog}
    </>
  );
}

const isPlainText = (parts: readonly Part[]): boolean =>
  textOf(parts) !== '' && parts.every(({ type }) => type === 'text');

// What slash commands choose before there is a session. The next message begins one with it.

type Choices = Partial<Chosen>;

const next = store<Choices>({});
const useNextSession = (): Choices => useStore(next);
const chooseForNext = (change: Choices): void => next.set({ ...next.get(), ...change });

/** Leaves no session behind if a choice is refused; it can be made again. */
async function createNext(session: SessionHandle): Promise<void> {
  const { domain, agent, model, approval } = next.get();
  await session.create({ domain, agent: agent ?? undefined });
  try {
    if (model || approval)
      await session.configure({ model: model ?? undefined, approval: approval ?? undefined });
  } catch (thrown) {
    await session.erase();
    throw thrown;
  }
  next.set({});
}

/** Empty if nothing was chosen. */
const describeChoices = ({ domain, agent, model, approval }: Choices): string =>
  [
    domain && `domain ${domain}`,
    agent && `agent ${agent}`,
    model && `model ${model}`,
    approval && `approval ${approval}`,
  ]
    .filter(Boolean)
    .join(', ');
