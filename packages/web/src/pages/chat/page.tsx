/** A session as a chat. */

import type { Part } from '@parlance/protocol';
import type { PlanView, SessionView } from '@parlance/sdk';
import { Announcer } from '@parlance/ui/chat/announcer.tsx';
import { type Chosen, Pickers, useCommands } from '@parlance/ui/chat/commands.tsx';
import { Composer } from '@parlance/ui/chat/composer.tsx';
import { ConnectionChip } from '@parlance/ui/chat/connection-chip.tsx';
import { ConsoleSession } from '@parlance/ui/chat/console-session.ts';
import { costOfSession, dollars, modelOf, shortUsage, usageText } from '@parlance/ui/chat/cost.ts';
import { closeFiles, openFiles, shownFiles } from '@parlance/ui/chat/preview.ts';
import { Branches, IsLatest } from '@parlance/ui/chat/row.tsx';
import {
  type Chosen as ChosenVersions,
  messagesOf,
  rowsOf,
  type Sending,
  sendingRow,
  shownOf,
} from '@parlance/ui/chat/rows.ts';
import { Transcript } from '@parlance/ui/chat/transcript.tsx';
import {
  attempt,
  Button,
  Collapsible,
  Empty,
  Icon,
  IconButton,
  Notice,
  toast,
} from '@parlance/ui/components/controls.tsx';
import { Menu } from '@parlance/ui/components/menu.tsx';
import { PriceDialog } from '@parlance/ui/components/price-dialog.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { usePrices, useSharedPrices } from '@parlance/ui/state/models.ts';
import { go, hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FollowedSession, useSession } from '@parlance/ui/state/session.ts';
import { useEffect, useMemo, useState } from 'react';
import { DriverChip } from '../../components/driver.tsx';
import { Page } from '../../components/page.tsx';
import { type OpenDialog, SessionDialog, sessionMenu } from '../../layout/session-menu.tsx';
import { folderName } from './folder-picker.tsx';
import { SessionLimit } from './session-limit.tsx';

export function ChatPage({ id }: { id: string }) {
  const followed = useSession(id);
  const { view, connection } = followed;
  const gone = whyGone(followed);
  return (
    <Page
      title={view.title || (view.seq === 0 ? 'Session' : 'Untitled')}
      filled
      actions={
        gone === null && (
          <>
            {view.created?.cwd !== undefined && (
              <span className="chip bar-folder" title={`Works in ${view.created.cwd}`}>
                {folderName(view.created.cwd)}
              </span>
            )}
            <DriverChip session={id} running={view.status === 'running'} />
            <ConnectionChip connection={connection} retryNow={followed.retryNow} />
            {view.seq > 0 && (
              <IconButton
                className="bar-files"
                icon="folder"
                label="Files"
                onClick={() => (shownFiles.get() ? closeFiles() : openFiles(id))}
              />
            )}
            <a
              className="icon-button bar-timeline"
              href={hrefOf({ page: 'timeline', id })}
              aria-label="Timeline"
              title="Timeline: what happened, step by step"
            >
              <Icon name="timeline" />
            </a>
            {view.seq > 0 && <SessionActions id={id} view={view} />}
          </>
        )
      }
    >
      {gone !== null ? (
        <Empty
          title={gone.title}
          action={
            <a className="button" href={hrefOf({ page: 'new' })}>
              Start a session
            </a>
          }
        >
          {gone.why}
        </Empty>
      ) : (
        <Chat id={id} view={view} />
      )}
    </Page>
  );
}

function whyGone({ view, connection }: FollowedSession): { title: string; why: string } | null {
  if (view.erasedBy !== null)
    return { title: 'This session was deleted', why: `It was permanently deleted by ${view.erasedBy}.` };
  if (connection.status !== 'closed' || connection.fault === null) return null;
  if (connection.fault.code === 'not_found')
    return {
      title: 'Session not found',
      why: 'It was deleted, belongs to another user, or the address is wrong.',
    };
  return { title: 'Cannot open this session', why: connection.fault.message };
}

/** Somebody is here to decide whether the agent may follow the files of its folder. */
const ASKING = { project: 'ask' } as const;

function Chat({ id, view }: { id: string; view: SessionView }) {
  const about = useServer();
  const handle = useMemo(() => parlance.session(id), [id]);
  const [versions, setVersions] = useState<ChosenVersions>({});
  const shown = useMemo(() => shownOf(view, versions), [view, versions]);
  const { sending, send } = useSending(view);
  const rows = useMemo(() => [...rowsOf(view, shown), ...sending.map(sendingRow)], [view, shown, sending]);
  const branches = useMemo(
    () => ({
      branches: shown.branches,
      choose: (latest: string, index: number) => setVersions((before) => ({ ...before, [latest]: index })),
    }),
    [shown],
  );
  const earlier = useMemo(() => messagesOf(rows), [rows]);
  const target = Number(useLocation().query.event ?? 0);
  const agent = view.agent?.id ?? null;
  const chosen: Chosen = {
    model: view.model,
    approval: view.approvalMode,
    agent,
    domain: view.created?.domain ?? about.defaultDomain,
  };
  const choose = ({ model, approval, agent }: Partial<Chosen>) =>
    handle.configure({ model, approval, agent: agent ?? undefined });
  const stop = async () => {
    const next = view.queued.length > 0;
    if ((await attempt(() => handle.cancel())) && next)
      toast('Stopped. The next queued message has started.');
  };
  const commands = useCommands({
    choose,
    compact: () => handle.compact(),
    clear: () => handle.clear(),
    limit: (limit) => handle.configure({ limit }),
    openDomain: ({ id: domain }) => go({ page: 'new' }, { domain }),
  });
  const running = view.status === 'running' || view.status === 'waiting';
  const model = modelOf({ model: view.model, agent: view.agent ?? { id: '', name: '' } }, about);

  return (
    <>
      <Announcer view={view} />
      {view.created?.parent && <SubAgentOf parent={view.created.parent} />}
      {view.archived && (
        <Notice action={<Button onClick={() => void attempt(() => handle.unarchive())}>Restore</Button>}>
          This session is archived. A new message restores it, too.
        </Notice>
      )}
      <IsLatest value={shown.isLatest}>
        <Branches value={branches}>
          <ConsoleSession value={id}>
            <Transcript session={id} rows={rows} target={target} needsApproval={view.pending !== null} />
          </ConsoleSession>
        </Branches>
      </IsLatest>
      <div className="chat-foot">
        {!shown.isLatest && (
          <Notice action={<Button onClick={() => setVersions({})}>Show latest</Button>}>
            This is an earlier version. New messages continue the latest one.
          </Notice>
        )}
        {view.plan && <Plan session={id} plan={view.plan} running={running} />}
        <Composer
          draft={id}
          session={id}
          running={running}
          earlier={earlier}
          onSend={(parts, mode) => {
            setVersions({});
            return send(parts, (key) =>
              attempt(() => handle.submit(parts, { mode, key, ...(mode !== 'steer' && ASKING) })),
            );
          }}
          queued={view.queued.length}
          onStop={() => void stop()}
          onSlash={commands.onSlash}
        >
          <Pickers chosen={chosen} onChoose={(change) => void attempt(() => choose(change))} />
          <ContextMeter context={view.context} />
          <Totals view={view} model={model} />
          <SessionLimit
            limit={view.limit}
            spent={view.spent}
            onSet={(limit) => handle.configure({ limit })}
          />
        </Composer>
      </div>
      {commands.dialog}
    </>
  );
}

type Parent = NonNullable<NonNullable<SessionView['created']>['parent']>;

/** The way back to the session that a sub-agent works for. */
function SubAgentOf({ parent: { session, path } }: { parent: Parent }) {
  return (
    <nav className="sub-agent-of" aria-label="Sub-agent">
      <a href={hrefOf({ page: 'session', id: session })}>{path.slice(0, -1).join(' › ')}</a> › {path.at(-1)}
    </nav>
  );
}

// Context use and token usage of the session.

function ContextMeter({ context }: Pick<SessionView, 'context'>) {
  if (!context) return null;
  const percent = Math.min(100, Math.round((context.tokens / context.limit) * 100));
  const summary = `${context.tokens.toLocaleString()} of ${context.limit.toLocaleString()} tokens, ${context.items} items`;
  return (
    <span className="context" title={`Context: ${summary}`} data-full={percent >= 80 || undefined}>
      <meter min={0} max={context.limit} value={context.tokens} aria-label={`Context: ${summary}`} />
      {percent < 1 && context.tokens > 0 ? '<1' : percent}% context
    </span>
  );
}

function Totals({ view, model }: { view: SessionView; model: string }) {
  const about = useServer();
  const [dialog, setDialog] = useState(false);
  const cost = costOfSession(view, about, usePrices());
  const shared = useSharedPrices()[model];
  const isShared = shared !== undefined && shared.catalogue === undefined;
  const tokens = view.usage.inputTokens + view.usage.outputTokens;
  if (tokens === 0) return null;
  const text = `${shortUsage(view.usage)}${cost === null ? '' : ` · ${dollars(cost)}`}`;
  const usage = usageText(view.usage);
  // The price that an admin has set is for everyone.
  if (isShared && about.principal.role !== 'admin')
    return (
      <span className="totals" title={usage}>
        {text}
      </span>
    );
  return (
    <>
      <button
        type="button"
        className="totals"
        title={`${usage}. ${cost === null ? 'Set a price to see the cost.' : 'Change the price.'}`}
        onClick={() => setDialog(true)}
      >
        {text}
      </button>
      {dialog && <PriceDialog model={model} onClose={() => setDialog(false)} />}
    </>
  );
}

// The agent's plan as a row of steps.

const LABELS = { pending: 'to do', in_progress: 'in progress', completed: 'done' } as const;

type PlanProps = { readonly session: string; readonly plan: PlanView; readonly running: boolean };

function Plan({ session, plan, running }: PlanProps) {
  const done = plan.steps.filter(({ status }) => status === 'completed').length;
  const current = plan.steps.find(({ status }) => status === 'in_progress');
  if (plan.steps.length === 0) return null;
  return (
    <Collapsible
      name={`plan ${session}`}
      icon="plan"
      className="plan"
      usually={running && done < plan.steps.length && plan.steps.length <= 6 && innerHeight > 700}
      summary={
        <>
          Plan: {done} of {plan.steps.length} done
          {current && <span className="plan-current"> · {current.step}</span>}
        </>
      }
    >
      {plan.explanation && <p className="hint">{plan.explanation}</p>}
      <ol className="steps">
        {plan.steps.map(({ step, status }) => (
          <li
            key={step}
            className={`step step-${status}`}
            aria-current={status === 'in_progress' ? 'step' : undefined}
          >
            <span className="step-mark">{status === 'completed' && <Icon name="check" />}</span>
            {step}
            <span className="unseen"> ({LABELS[status]})</span>
          </li>
        ))}
      </ol>
    </Collapsible>
  );
}

// The menu of the session that is open.

function SessionActions({ id, view }: { id: string; view: SessionView }) {
  const about = useServer();
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const { title, tags, pinned, archived } = view;
  const menu = {
    session: { id, title, tags, pinned, archived },
    // The view does not have the owner: admins, who see the sessions of others, share their own from the list.
    foreign: may(about, 'admin'),
    mayChange: may(about, 'chat:send'),
    onOpen: setOpen,
  };
  return (
    <>
      <Menu
        label="Session actions"
        items={() => [
          { label: 'Files', icon: 'folder', onSelect: () => openFiles(id) },
          ...sessionMenu(menu),
        ]}
      />
      {open && <SessionDialog open={open} onClose={() => setOpen(null)} />}
    </>
  );
}

// Messages that the server has not accepted yet, or whose event has not arrived: they are shown at once.

/** Sends a message with a key. Resolves with false if it was refused. */
type Send = (key: string) => Promise<boolean>;

type SendingMessages = {
  /** those that the view does not have yet */
  readonly sending: readonly Sending[];
  /** Shows the message until the view has it, or until it is refused. */
  send(parts: readonly Part[], work: Send): Promise<boolean>;
};

function useSending(view: SessionView): SendingMessages {
  const [all, setAll] = useState<readonly Sending[]>([]);
  const sending = useMemo(() => all.filter(({ key }) => !hasInput(view, key)), [all, view]);
  useEffect(() => {
    if (sending.length < all.length) setAll(sending);
  }, [sending, all]);

  async function send(parts: readonly Part[], work: Send): Promise<boolean> {
    const key = newKey();
    setAll((before) => [...before, { key, parts }]);
    const accepted = await work(key);
    if (!accepted) setAll((before) => before.filter((one) => one.key !== key));
    return accepted;
  }

  return { sending, send };
}

export const hasInput = (
  { queued, entries }: Pick<SessionView, 'queued' | 'entries'>,
  key: string,
): boolean =>
  queued.some((input) => input.key === key) ||
  entries.some(
    (entry) =>
      entry.kind === 'turn' &&
      (entry.input?.key === key || entry.items.some((item) => item.kind === 'input' && item.key === key)),
  );

/** `crypto.randomUUID` is missing on pages served over plain HTTP. */
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
