/** A new session: choose who answers and write the first message. */
import type { Part } from '@parlance/protocol';
import { applySlash } from '@parlance/ui/chat/apply-slash.ts';
import { attempted, Composer } from '@parlance/ui/chat/composer.tsx';
import { moveDraft } from '@parlance/ui/chat/drafts.ts';
import { FullAutoDialog } from '@parlance/ui/chat/full-auto-dialog.tsx';
import { HelpDialog } from '@parlance/ui/chat/help.tsx';
import { type Chosen, Pickers } from '@parlance/ui/chat/pickers.tsx';
import { attempt, toast } from '@parlance/ui/components/toast.tsx';
import { go, useLocation } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { Page } from '../../components/page.tsx';
import { ModelLine } from './model-line.tsx';
import { startersFor } from './starters.ts';

export function NewChatPage() {
  const about = useServer();
  const { query } = useLocation();
  const [dialog, setDialog] = useState<'help' | 'full-auto' | null>(null);
  const [chosen, setChosen] = useState<Chosen>(() => ({
    model: null,
    approval: null,
    agent: null,
    domain: '',
  }));
  const domain = about.domains.find(({ id }) => id === query.domain)?.id ?? about.defaultDomain;
  const now = { ...chosen, domain, agent: chosen.domain === domain ? chosen.agent : null };
  const choose = async (change: Partial<Chosen>) => setChosen({ ...now, ...change });

  const send = (parts: Part[]) =>
    attempt(async () => {
      const id = await begun(parts, now);
      moveDraft('new', id);
      go({ page: 'session', id });
    });
  const nothingYet = async () => toast('The session has no messages yet.');

  return (
    <Page title="New session" filled>
      <div className="begin">
        <h2>What can I do for you?</h2>
        <ModelLine chosen={now} />
        <label className="field begin-domain">
          <span>Domain</span>
          <select
            value={domain}
            onChange={({ target }) => go({ page: 'new' }, { domain: target.value }, 'replace')}
          >
            {about.domains.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <small className="hint">{about.domains.find(({ id }) => id === domain)?.description}</small>
        </label>
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
      </div>
      <div className="chat-foot">
        <Composer
          draft="new"
          sendsOnce
          running={false}
          onSend={send}
          onSlash={(slash) =>
            attempted(() =>
              applySlash(slash, about, {
                choose,
                compact: nothingYet,
                clear: nothingYet,
                openDomain: (domain) => go({ page: 'new' }, { domain }),
                help: () => setDialog('help'),
                confirmFullAuto: () => setDialog('full-auto'),
              }),
            )
          }
        >
          <Pickers chosen={now} onChoose={(change) => void choose(change)} />
        </Composer>
      </div>
      {dialog === 'help' && <HelpDialog onClose={() => setDialog(null)} />}
      {dialog === 'full-auto' && (
        <FullAutoDialog
          onClose={() => setDialog(null)}
          onConfirm={() => void choose({ approval: 'full-auto' })}
        />
      )}
    </Page>
  );
}

/** Creates the session and returns its id. Leaves no session behind if the settings are refused. */
async function begun(parts: Part[], { domain, agent, model, approval }: Chosen): Promise<string> {
  const session = parlance.session();
  const where = { domain, agent: agent ?? undefined };
  if (model === null && approval === null) await session.submit(parts, where);
  else {
    await session.create(where);
    try {
      await session.configure({ model: model ?? undefined, approval: approval ?? undefined });
      await session.submit(parts);
    } catch (thrown) {
      await session.erase();
      throw thrown;
    }
  }
  return session.id;
}
