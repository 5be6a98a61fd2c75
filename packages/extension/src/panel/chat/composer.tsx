/** The message field. A message is a task on the current tab, a chat without it, or the answer to a question of the task. */
import type { Part } from '@parlance/protocol';
import { useState } from 'react';
import { attempt, toast } from '../../../../web/src/components/toast.tsx';
import { applySlash } from '../../../../web/src/pages/chat/apply-slash.ts';
import { Composer, type Mode } from '../../../../web/src/pages/chat/composer.tsx';
import { FullAutoDialog } from '../../../../web/src/pages/chat/full-auto-dialog.tsx';
import { HelpDialog } from '../../../../web/src/pages/chat/help.tsx';
import { attempted } from '../../../../web/src/pages/chat/page.tsx';
import { textOf } from '../../../../web/src/pages/chat/rows.ts';
import { parlance, useServer } from '../../../../web/src/state/server.ts';
import { isRunning, type TaskRecord } from '../../shared/task-record.ts';
import type { ShownTab } from '../use-tab.ts';
import { show } from '../view.ts';
import { sendToWorker } from '../worker.ts';

type ComposerProps = {
  readonly session: string | null;
  readonly tab: ShownTab | null;
  readonly task: TaskRecord | null;
  readonly running: boolean;
  readonly earlier: readonly string[];
};

export function PanelComposer({ session, tab, task, running, earlier }: ComposerProps) {
  const about = useServer();
  const [withTab, setWithTab] = useState(true);
  const [dialog, setDialog] = useState<'help' | 'full-auto' | null>(null);
  const isTasking = task !== null && isRunning(task);

  async function send(parts: Part[], mode: Mode): Promise<boolean> {
    const text = textOf(parts);
    if (session !== null && task?.state.phase === 'question' && text !== '')
      return sendToWorker({ kind: 'reply', session, text });
    const id = session ?? crypto.randomUUID();
    const done = withTab && tab !== null ? await begin(id, tab, parts) : await chat(id, parts, mode);
    if (done && session === null) show({ page: 'chat', session: id });
    return done;
  }

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
        onSlash={(slash) =>
          attempted(() => {
            const handle = parlance.session(session ?? crypto.randomUUID());
            return applySlash(slash, about, {
              choose: ({ model, approval, agent }) =>
                handle.configure({ model, approval, agent: agent ?? undefined }),
              compact: () => handle.compact(),
              clear: () => handle.clear(),
              help: () => setDialog('help'),
              confirmFullAuto: () =>
                session === null ? toast('The session has no messages yet.') : setDialog('full-auto'),
            });
          })
        }
      >
        <label className="panel-choice">
          <input type="checkbox" checked={withTab} onChange={(event) => setWithTab(event.target.checked)} />
          Use this tab
        </label>
      </Composer>
      {dialog === 'help' && <HelpDialog onClose={() => setDialog(null)} />}
      {dialog === 'full-auto' && session !== null && (
        <FullAutoDialog
          onClose={() => setDialog(null)}
          onConfirm={() => void attempt(() => parlance.session(session).configure({ approval: 'full-auto' }))}
        />
      )}
    </>
  );
}

async function begin(session: string, tab: ShownTab, parts: readonly Part[]): Promise<boolean> {
  const query = textOf(parts);
  if (query === '' || parts.some(({ type }) => type !== 'text')) {
    toast('A task on the tab takes text only. Turn off “Use this tab” to send files.');
    return false;
  }
  const created = await attempt(() => parlance.session(session).create());
  return created && sendToWorker({ kind: 'task', session, tab: tab.id, query });
}

const chat = (session: string, parts: Part[], mode: Mode): Promise<boolean> =>
  attempt(() => parlance.session(session).submit(parts, { mode }));
