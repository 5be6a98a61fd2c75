/** A new session: choose who answers and write the first message. */
import type { Part } from '@parlance/protocol';
import type { About } from '@parlance/sdk';
import { type Chosen, Pickers, useCommands } from '@parlance/ui/chat/commands.tsx';
import { Composer, moveDraft } from '@parlance/ui/chat/composer.tsx';
import { attempt, Button, toast } from '@parlance/ui/components/controls.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { go, hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { lazy, Suspense, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { FolderPicker, rememberFolder } from './folder-picker.tsx';

export function NewChatPage() {
  const about = useServer();
  const { query } = useLocation();
  const [chosen, setChosen] = useState<Chosen>(() => ({
    model: null,
    approval: null,
    agent: null,
    domain: '',
  }));
  const [folder, setFolder] = useState<string | null>(null);
  const domain = about.domains.find(({ id }) => id === query.domain)?.id ?? about.defaultDomain;
  const now = { ...chosen, domain, agent: chosen.domain === domain ? chosen.agent : null };
  const choose = async (change: Partial<Chosen>) => {
    setChosen({ ...now, ...change });
    if (change.domain !== undefined && change.domain !== domain)
      go({ page: 'new' }, { domain: change.domain }, 'replace');
  };

  const send = (parts: Part[]) =>
    attempt(async () => {
      const id = await begun(parts, now, folder);
      if (folder !== null) rememberFolder(about.principal.id, folder);
      moveDraft('new', id);
      go({ page: 'session', id });
    });
  const nothingYet = async () => toast('The session has no messages yet.');
  const commands = useCommands({
    choose,
    compact: nothingYet,
    clear: nothingYet,
    openDomain: ({ id }) => go({ page: 'new' }, { domain: id }),
  });

  return (
    <Page title="New session" filled>
      <div className="begin">
        <h2>What can I do for you?</h2>
        <ModelLine chosen={now} />
        <div className="examples">
          {startersFor(about, now).map((text) => (
            <button
              type="button"
              className="button"
              key={text}
              onClick={() => void send([{ type: 'text', text }])}
            >
              {text}
            </button>
          ))}
        </div>
        <TourOffer />
      </div>
      <div className="chat-foot">
        <Composer
          draft="new"
          begin={{
            agent: now.agent ?? about.domains.find(({ id }) => id === domain)?.defaultAgent,
            cwd: folder ?? undefined,
          }}
          sendsOnce
          running={false}
          onSend={send}
          onSlash={commands.onSlash}
        >
          <Pickers isNew chosen={now} onChoose={(change) => void choose(change)}>
            {may(about, 'chat:send') && <FolderPicker value={folder} onChoose={setFolder} />}
          </Pickers>
        </Composer>
      </div>
      {commands.dialog}
    </Page>
  );
}

const Tour = lazy(() => import('./tour.tsx').then((m) => ({ default: m.Tour })));

const TOUR = 'parlance.tour';

/** Until the tour was taken or skipped in this browser. */
function TourOffer() {
  const [state, setState] = useState(() => readStorage('local', TOUR) ?? 'offered');
  const end = () => {
    setState('done');
    writeStorage('local', TOUR, 'done');
    document.querySelector<HTMLElement>('.chat-composer textarea')?.focus();
  };
  if (state === 'done') return null;
  if (state === 'open')
    return (
      <Suspense>
        <Tour onEnd={end} />
      </Suspense>
    );
  return (
    <p className="tour-offer hint">
      New here?
      <Button variant="quiet" onClick={() => setState('open')}>
        Take a short tour
      </Button>
      <Button variant="quiet" onClick={end}>
        Skip it
      </Button>
    </p>
  );
}

/** Creates the session and returns its id. Leaves no session behind if the settings are refused. */
async function begun(
  parts: Part[],
  { domain, agent, model, approval }: Chosen,
  folder: string | null,
): Promise<string> {
  const session = parlance.session();
  const where = { domain, agent: agent ?? undefined };
  if (model === null && approval === null && folder === null)
    await session.submit(parts, { ...where, project: 'ask' });
  else {
    await session.create({ ...where, ...(folder !== null && { cwd: folder }) });
    try {
      if (model !== null || approval !== null)
        await session.configure({ model: model ?? undefined, approval: approval ?? undefined });
      await session.submit(parts, { project: 'ask' });
    } catch (thrown) {
      await session.erase();
      throw thrown;
    }
  }
  return session.id;
}

// Which model answers, with a way to the setup for those who may change it.

function ModelLine({ chosen }: { chosen: Chosen }) {
  const about = useServer();
  const { model, provider } = modelFor(about, chosen);
  const setup = (text: string) =>
    may(about, 'setup') && <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>{text}</a>;
  if (provider === 'offline')
    return (
      <p className="hint">
        You are using the offline demo model. It needs no key, and it is not a language model.{' '}
        {setup('Connect a model')}
      </p>
    );
  return (
    <p className="hint">
      Model: {model}. {setup('Change')}
    </p>
  );
}

// First messages to choose from. They work with the chosen agent and model. Pure.

const MOST = 4;

/** The offline model understands these; it is a program and not a language model. */
const OFFLINE: readonly { readonly text: string; readonly needs?: string }[] = [
  { text: 'What can you do?' },
  { text: 'List the files here', needs: 'list_files' },
  { text: 'Create file notes.txt with hello', needs: 'apply_patch' },
  { text: 'Explain git rebase' },
  { text: 'Tell me a story about a lighthouse' },
];

/** For agents without their own. */
const USUAL: readonly string[] = ['What can you do?', 'What can you help me with here?'];

type Known = Pick<About, 'agents' | 'domains' | 'models' | 'model' | 'provider'>;
type Wanted = Pick<Chosen, 'model' | 'agent' | 'domain'>;

export function startersFor(about: Known, chosen: Wanted): readonly string[] {
  const agent = agentFor(about, chosen);
  if (modelFor(about, chosen).provider === 'offline') {
    const has = (tool: string | undefined) => !tool || !agent?.tools || agent.tools.includes(tool);
    return OFFLINE.filter(({ needs }) => has(needs))
      .map(({ text }) => text)
      .slice(0, MOST);
  }
  const own = agent?.starters ?? [];
  return (own.length > 0 ? own : USUAL).slice(0, MOST);
}

function agentFor({ agents, domains }: Known, { agent, domain }: Wanted) {
  const id = agent ?? domains.find((one) => one.id === domain)?.defaultAgent;
  return agents.find((one) => one.id === id);
}

/** The model that will answer; `provider` is null if the server does not list the model. */
function modelFor(
  about: Known,
  chosen: Wanted,
): { readonly model: string; readonly provider: string | null } {
  const model = chosen.model ?? agentFor(about, chosen)?.model ?? null;
  if (model === null) return { model: about.model, provider: about.provider };
  return { model, provider: about.models.find(({ id }) => id === model)?.provider ?? null };
}
